"""Findings of a candidate, whatever its language."""

from __future__ import annotations

from pathlib import PurePosixPath

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.signature import TooSlow
from campaigns.rules.verdict.finding_kinds import Finding, FindingKind
from campaigns.syntax.findings.c_source import find_in_c
from campaigns.syntax.findings.python_source import find_in_python

PYTHON_SUFFIXES = (".py",)
CUDA_SUFFIXES = (".cu", ".hip", ".cuh")
# Of one kind, so that no kind can be hidden behind many findings of another.
MOST_OF_A_KIND = 50


def findings_of(source: Source) -> tuple[Finding, ...]:
    """The findings in this source by line; at most 50 of each kind.

    Lines are those of the page that shows the source: any line end counts.
    """
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    suffix = PurePosixPath(source.name).suffix
    try:
        if suffix in PYTHON_SUFFIXES:
            found = find_in_python(text)
        else:
            found = find_in_c(text, cuda=suffix in CUDA_SUFFIXES)
    except (RecursionError, MemoryError):
        return (Finding(FindingKind.HIDDEN_CODE, 1, "nested too deeply to be read", ""),)
    except TooSlow as error:
        return (Finding(FindingKind.HIDDEN_CODE, 1, str(error), ""),)
    kept: dict[FindingKind, list[Finding]] = {}
    for finding in found:
        kept.setdefault(finding.kind, []).append(finding)
    few = {each for kind in kept.values() for each in kind[:MOST_OF_A_KIND]}
    return tuple(finding for finding in found if finding in few)
