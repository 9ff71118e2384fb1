"""Read a draft once as kopt would read the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.devices.launch import described_problem, problem_notes
from campaigns.evaluator.problem import ProblemError, load_problem
from campaigns.problems.import_.as_read import as_read
from campaigns.problems.import_.draft import DraftError, ProblemDraft
from campaigns.problems.import_.write import written
from campaigns.steps.problems.keep_problem import written_files
from campaigns.workers.tempdirs import tempdir


@dataclass(frozen=True, slots=True)
class ProposedProblem:
    """A draft and its files. read: arguments and least work of the smallest case.

    notes: what a kernel could get away with, from a look at the same case.
    """

    draft: ProblemDraft
    files: Mapping[str, str]
    read: Mapping[str, Any]
    notes: tuple[str, ...]


def propose_problem(draft: ProblemDraft) -> ProposedProblem:
    """Nothing is kept; the reference is run once on the smallest case. Raises DraftError."""
    try:
        with tempdir("problem") as place:
            spec = load_problem(written_files(written(draft), place))
            smallest = min(spec.cases, key=lambda case: case.size).case
            read = described_problem(spec.folder, smallest)
        draft = as_read(draft, read["arguments"])
        files = written(draft)
        with tempdir("problem") as place:
            folder = written_files(files, place)
            notes = tuple(problem_notes(folder, smallest))
    except ProblemError as error:
        raise DraftError("reference", f"as proposed it does not work: {error}") from None
    return ProposedProblem(draft, files, read, notes)
