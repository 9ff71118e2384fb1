"""A problem from files of another collection, recognised by their endings and what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from campaigns.problems.import_.definitions import read_definition
from campaigns.problems.import_.draft import DraftError, ProblemDraft
from campaigns.problems.import_.gpu_mode import KERNEL, read_task
from campaigns.problems.import_.tuning_file import KERNEL as TUNED
from campaigns.problems.import_.tuning_file import kernel_file, read_tuning

REFERENCE, SUBMISSION = "reference.py", "submission.py"
# A kernel for a task that is asked for by name; a submission may also be an empty form.
SOLUTION = "solution.py"
ACCEPTED = (
    "one JSON of FlashInfer Trace or SOL-ExecBench (axes, inputs, outputs, reference), one T1 file "
    "of Kernel Tuner or KTT (ConfigurationSpace, KernelSpecification), or one task.yml of GPU MODE "
    "(benchmarks, tests)"
)
TASK = re.compile(r"\b(benchmarks|tests)\b[\"']?\s*:")
DEFINITION = {"axes", "inputs", "outputs", "reference"}


def read_collection(files: Mapping[str, str], name: str = "") -> ProblemDraft:
    """Read what was handed in together. files: name → text. name: of a task; default: "task".

    A definition may have its workloads (`.jsonl`) and a solution (`.json`) beside it; a task has a
    reference.py and may have a submission.py or solution.py; a tuning file has its kernel and a
    reference in Python. Raises DraftError, which names what is missing.
    """
    solutions = [
        one for one in files if _suffix(one) == ".json" and "sources" in _keys(one, files[one])
    ]
    heads = [one for one in files if _suffix(one) in (".json", ".yml", ".yaml")]
    heads = [one for one in heads if one not in solutions]
    if len(heads) != 1:
        told = ", ".join(heads) or "none of these"
        raise DraftError("files", f"{told}; accepted: {ACCEPTED}, with what belongs to it")
    head = heads[0]
    is_json = _suffix(head) == ".json"
    is_task = not is_json and TASK.search(files[head])
    if not is_task and not (is_json and (DEFINITION | {TUNED}) & _keys(head, files[head])):
        raise DraftError("files", f"{head}: not recognised; accepted: {ACCEPTED}")
    if is_task:
        if REFERENCE not in files:
            raise DraftError("files", f"{REFERENCE} is missing, which belongs to {head}")
        submission = files.get(SUBMISSION, "")
        submission = submission if f"def {KERNEL}(" in submission else ""
        kernel = files.get(SOLUTION, submission)
        return read_task(name or "task", files[head], files[REFERENCE], kernel)
    if TUNED in _keys(head, files[head]):
        wanted = PurePosixPath(kernel_file(files[head])).name
        if wanted not in files:
            raise DraftError("files", f"{wanted} is missing, which {head} names as its kernel")
        reference = _only(files, ".py")
        return read_tuning(files[head], files[wanted], (reference, files.get(reference, "")))
    if len(solutions) > 1:
        raise DraftError("files", f"{', '.join(solutions)}; accepted: one solution")
    workloads = _only(files, ".jsonl")
    solution = files[solutions[0]] if solutions else ""
    return read_definition(files[head], files.get(workloads, ""), solution)


def names_beside(head: str, text: str) -> tuple[str, ...]:
    """The files that belong to a collection's file and lie beside it. Raises DraftError."""
    if _suffix(head) != ".json":
        return REFERENCE, SUBMISSION
    return (kernel_file(text),) if TUNED in _keys(head, text) else ()


def _keys(name: str, text: str) -> set[str]:
    """The names in an object of JSON; none in a list. Raises DraftError for what is no JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DraftError("files", f"{name}: no JSON: {error}") from None
    return {*found} if isinstance(found, dict) else set()


def _only(files: Mapping[str, str], suffix: str) -> str:
    """The name of the one file with this ending; "" without one. Raises DraftError for several."""
    found = [name for name in files if _suffix(name) == suffix]
    if len(found) > 1:
        raise DraftError("files", f"{', '.join(found)}; accepted: one {suffix}")
    return found[0] if found else ""


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
