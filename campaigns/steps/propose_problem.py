"""Read a draft, or files that a person has corrected, once as kopt would read the problem."""

from __future__ import annotations

import contextlib
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.devices.discover import devices
from campaigns.devices.problem_code import (
    HostLacks,
    described_problem,
    smallest_case,
    unbuilt,
)
from campaigns.devices.processes import tempdir
from campaigns.evaluator.contract import Protocol
from campaigns.evaluator.contract.layout import Layout, Plain, lay_out
from campaigns.evaluator.contract.memory_plan import CaseNeed, DoesNotFit, plan_memory
from campaigns.evaluator.contract.origins import origins
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.models import Worker
from campaigns.problems.import_.draft import DraftError, Number, ProblemDraft, Role, as_read
from campaigns.problems.import_.propose import AS_CPP, LEFT_OUT
from campaigns.problems.import_.write import written
from campaigns.steps.problems import written_files

# Backends whose kernels are built once, before any call.
COMPILED = ("cpp", "cuda")


class ProposalFails(DraftError):
    """A draft whose files are no problem yet. why: what is wrong with them; files: to correct."""

    def __init__(self, why: ProblemError, files: Mapping[str, str]) -> None:
        host = isinstance(why, HostLacks)
        super().__init__("reference", f"{why}" if host else f"as proposed it does not work: {why}")
        self.why, self.files = why, files


@dataclass(frozen=True, slots=True)
class CheckedProblem:
    """Files that are a problem's. read: arguments and least work of the smallest case.

    notes: what a kernel could get away with, from a look at the same case.
    """

    files: Mapping[str, str]
    spec: ProblemSpec
    read: Mapping[str, Any]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedProblem(CheckedProblem):
    """The same, with the draft that the files were written from."""

    draft: ProblemDraft


def propose_problem(draft: ProblemDraft) -> ProposedProblem:
    """Nothing is kept; the reference is run on the smallest case. Raises ProposalFails."""
    files = written(draft)
    code = files["ref.py"]
    try:
        with tempdir("problem") as place:
            spec = load_problem(written_files(files, place))
            read = _described(spec)
        draft = as_read(draft, read["arguments"])
        _require_room(draft)
        files = written(draft)
        _require_built(draft, files, read)
        found = check_problem(files, read if files["ref.py"] == code else None)
    except ProblemError as error:
        raise ProposalFails(error, files) from None
    return ProposedProblem(found.files, found.spec, found.read, found.notes, draft)


def _require_room(draft: ProblemDraft) -> None:
    """Raise DraftError where a call fits on no device of this host, and no other host is known."""
    needs = [CaseNeed.of(_known_layout(draft, sizes)) for sizes in draft.cases.values()]
    why = ""
    for device in devices():
        on_gpu = device.kind == "gpu"
        try:
            plan_memory(needs, device.memory_bytes, Protocol(), arms=2, on_gpu=on_gpu, shift=False)
        except DoesNotFit as error:
            why = f"does not fit on {device.name}: {error}"
        else:
            return
    if why and not Worker.objects.exclude(host=platform.node()).exists():
        raise DraftError("call", why)


def _known_layout(draft: ProblemDraft, sizes: Mapping[str, Number]) -> Layout:
    """The tensors whose shapes are sizes and numbers; others only make a call larger."""
    found = []
    for arg in draft.args:
        shape = [
            sizes.get(side, side) if isinstance(side, str) else side for side in arg.shape or ()
        ]
        if shape and arg.role is not Role.NUMBER and all(isinstance(side, int) for side in shape):
            whole = tuple(int(side) for side in shape)
            found.append(Plain(arg.name, arg.dtype or draft.dtype, whole, output=arg.is_written))
    return lay_out(list(found))


def _require_built(draft: ProblemDraft, files: Mapping[str, str], read: Mapping[str, Any]) -> None:
    """Raise DraftError where a compiler of this host refuses a kernel."""
    # Without a kernel of its own there is the reference, in Python.
    compiled = {
        key: name
        for key, (name, _) in draft.kernels.items()
        if key in COMPILED and not name.endswith(".py")
    }
    if not compiled:
        return
    with tempdir("problem") as place:
        said = unbuilt(written_files(files, place), compiled, read["arguments"])
    if said:
        found, name = re.match(r"(\S+?)[:(](\d+)", said), next(iter(compiled.values()))
        known = origins(files[name], name)
        at = (found[1], int(found[2])) if found else ("", 0)
        # A mark has the place of the line below it.
        lines = dict(zip(known, files[name].split("\n"), strict=True))
        quoted = f": {lines[at].strip():.100}" if at in lines else ""
        ends = (AS_CPP, f"{LEFT_OUT}, with main.")
        left_out = [words for words in draft.assumed if words.endswith(ends)]
        raise DraftError("kernel", " ".join([f"does not compile: {said}{quoted}", *left_out]))


def check_problem(
    files: Mapping[str, str], read: Mapping[str, Any] | None = None
) -> CheckedProblem:
    """Nothing is kept; the reference is run on the smallest case. Raises ProblemError.

    read: what `described_problem` says of this reference, where it is known.
    """
    with tempdir("problem") as place:
        spec = load_problem(written_files(files, place))
        read = read or described_problem(spec.folder, smallest_case(spec), spec.cases[0].case)
    return CheckedProblem(files, spec, read, tuple(read["notes"]))


def _described(spec: ProblemSpec) -> Mapping[str, Any]:
    """Raises ProblemError; DraftError where the sizes of the call work and the smallest do not."""
    smallest, given = smallest_case(spec), spec.cases[0].case
    try:
        return described_problem(spec.folder, smallest, given)
    except ProblemError as error:
        if given == smallest:
            raise
        with contextlib.suppress(ProblemError):
            described_problem(spec.folder, given)
            works, fails = (
                ", ".join(f"{name} = {value}" for name, value in case.params.items())
                for case in (given, smallest)
            )
            raise DraftError(
                "call",
                f"the reference works with {works} and not with {fails}. kopt changes each size by "
                "itself: write those that depend on others with their names, as in "
                f"'D = 64; f(torch.randn(32, 2 * D), torch.randn(D))': {error}",
            ) from None
        raise
