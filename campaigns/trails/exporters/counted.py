"""What counters said of a round's kernel, what its machine code should be, and where it searched.

Every format says the same. What nobody counted is "not profiled": a roofline knows no bottleneck.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from campaigns.profiles.findings import ProfileFinding
from campaigns.profiles.metrics import metric_of, metric_words
from campaigns.profiles.reading import Profiled
from campaigns.records.explained.profiles import Explained
from campaigns.rules.search_log import SearchSource
from campaigns.rules.wording import share
from campaigns.trails.exporters.judged_rounds import ExportedRound
from campaigns.trails.exporters.markdown import Part, facts, said, table

NOT_PROFILED = "not profiled"
FINDINGS = ("finding", "how sure", "what was counted", "of its time, at most", "what to try")
METRICS = ("metric", "value", "meaning")
TARGETS = ("metric", "target", "current", "met", "meaning")
SEARCHED = ("source", "query", "finding")
# What atrex calls a source; others keep their word.
SOURCES: Mapping[str, str] = {
    SearchSource.WIKI: "gpu-wiki",
    SearchSource.REFERENCE: "ref-project",
    SearchSource.WEB: "public-web",
}


def limit_words(found: Profiled | None, note: str = "") -> str:
    """The class by counters (R25) with its numbers and whose it is. note: why there is none."""
    if found is None:
        return f"{NOT_PROFILED}: {note}" if note else NOT_PROFILED
    whose = f"{found.main.kernel:.200} on {found.case}, by {found.tool}"
    return f"{found.limit.words}: {found.limit.why} ({whose})"


def bottleneck_facts(found: Profiled | None) -> dict[str, Any]:
    """The same as data, under the names of atrex and beyond them."""
    if found is None:
        return {"tool_used": "", "bottleneck_type": NOT_PROFILED}
    kind = found.limit.kind
    known = ("memory", "compute")
    return {
        "tool_used": found.tool,
        "bottleneck_type": f"{kind.group}_bound" if kind.group in known else kind.value,
        "bottleneck_class": found.limit.words,
        "bottleneck_evidence": limit_words(found),
        "findings": [asdict(one) for one in found.findings],
        "metrics": dict(found.main.values),
    }


def profile_parts(one: Explained) -> Iterator[Part]:
    """Class and findings of a version's own kernel, as blocks of a page."""
    found = one.profiled
    yield facts([("Limited by", limit_words(found, one.note))])
    if found is None:
        return
    times = f"{found.calls} call{'s' * (found.calls != 1)}"
    rows = [
        (kernel.kernel, launches)
        for kernel, launches in zip(found.kernels, found.launches, strict=True)
    ]
    yield table(("kernel, the longest first", f"launches in {times}"), rows)
    yield "## Findings"
    yield table(FINDINGS, map(_finding, found.findings), "None.")


def _finding(one: ProfileFinding) -> tuple[object, ...]:
    most = share(one.share) if one.share is not None else "not told"
    return (one.name, one.confidence, one.words, most, ", ".join(one.strategies))


def metric_parts(found: Profiled) -> Iterator[Part]:
    """Every counter of every kernel, as blocks of a page: medians over its launches."""
    for kernel, launches in zip(found.kernels, found.launches, strict=True):
        yield f"## {said(kernel.kernel)}"
        yield f"Medians over {launches} launch{'es' * (launches != 1)}."
        rows = (
            (metric_of(name, kernel.vendor).counter, f"{value:,.6g}",
             metric_words(name, value, kernel.vendor))
            for name, value in kernel.values.items()
        )  # fmt: skip
        yield table(METRICS, rows)


def isa_facts(one: ExportedRound) -> list[dict[str, Any]]:
    """isa_metric_progress of atrex (R31). A target is the most or the least that is wanted."""
    return [
        {
            "metric": target.name,
            "target": target.bound,
            "current": target.value,
            "met": target.is_met,
            "wanted": target.side,
            "meaning": target.words,
        }
        for target in one.isa_targets
    ]


def isa_table(one: ExportedRound | None) -> list[str]:
    """The same for people."""
    rows = [
        (
            *(told["metric"], f"{told['wanted']} {told['target']:g}", f"{told['current']:.3g}"),
            *("yes" if told["met"] else "no", told["meaning"]),
        )
        for told in (isa_facts(one) if one else ())
    ]
    return table(TARGETS, rows, "N/A — no machine code was read.")


def search_facts(one: ExportedRound) -> list[dict[str, str]]:
    """search_log of atrex (R35)."""
    return [
        {
            "source": SOURCES.get(step.source, step.source.value),
            "query": step.query,
            "finding": step.found,
            "actionability": "",
        }
        for step in (one.hypothesis.searched if one.hypothesis else ())
    ]


def search_table(one: ExportedRound) -> list[str]:
    """The same for people."""
    rows = [(step["source"], step["query"], step["finding"]) for step in search_facts(one)]
    return table(SEARCHED, rows, "N/A — no search was recorded.")
