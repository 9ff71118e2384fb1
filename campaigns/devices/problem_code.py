"""Ask a problem's own code what it computes and moves: in a box, by a program that ends with that.

What comes back was written by whoever wrote the code. It is read strictly, and goes no further than
names, numbers and sentences.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from campaigns.devices.launch import InterpreterFailed, ask_interpreter, sandbox_policy
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import one_line
from campaigns.evaluator.contract.layout import ITEM_BYTES
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.evaluator.contract.problem_reader import ProblemOrder, problem_files
from campaigns.evaluator.contract.reading import ContractError, build
from campaigns.problems.shipped import is_shipped

LIMIT_S = 120.0
# What an interpreter takes to start, and the box to be closed and cleared away.
AROUND_S = 60.0
ROLES = ("input", "output", "output, updated in place")
MOST_WORDS = 500

T = TypeVar("T")


class HostLacks(ProblemError):
    """This host cannot run a problem's code; the problem may be right."""


@dataclass(frozen=True, slots=True)
class _Argument:
    """typical: of an output, the root of the mean square of its elements; 0 where not finite."""

    name: str
    role: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    value: int | float | None = None
    typical: float = 0.0


@dataclass(frozen=True, slots=True)
class _LeastWork:
    operations: float
    bytes: float
    counted: bool


@dataclass(frozen=True, slots=True)
class _Described:
    case: str
    arguments: tuple[_Argument, ...]
    work: _LeastWork


def work_model(folder: Path, cases: Sequence[Case]) -> Mapping[str, tuple[float, float]]:
    """(operations, bytes) at the least per case name.

    Also checks the contract of the code (`setup`, `reference`, outputs). Raises ProblemError.
    """

    def read(said: Any) -> dict[str, tuple[float, float]]:
        return {case.name: (float(said[case.name][0]), float(said[case.name][1])) for case in cases}

    return _asked("works", folder, cases, read)


def described_problem(folder: Path, case: Case) -> dict[str, Any]:
    """Arguments and least work of one case. Raises ProblemError with one line."""

    def read(said: Any) -> dict[str, Any]:
        """As pages, commands and drafts of problems read it. Raises ValueError."""
        found, told = build(_Described, said, "described"), []
        for one in found.arguments:
            argument: dict[str, Any] = {"name": one.name, "role": one.role}
            if one.role == "number":
                right = isinstance(one.value, int | float)
                argument["value"] = one.value
            else:
                sizes = all(isinstance(n, int) and n > 0 for n in one.shape)
                right = one.role in ROLES and one.dtype in ITEM_BYTES and sizes
                argument |= {"dtype": one.dtype, "shape": list(one.shape), "typical": one.typical}
            if not (right and one.name.isidentifier()):
                raise ValueError(one.name)
            told.append(argument)
        return {"case": case.name, "arguments": told, "work": asdict(found.work)}

    return _asked("described", folder, [case], read)


def problem_notes(folder: Path, case: Case) -> list[str]:
    """What its author should know of a problem, as one case shows it. Raises ProblemError."""
    return _asked(
        "checked", folder, [case], lambda said: [one_line(str(one))[:MOST_WORDS] for one in said]
    )


def unbuilt(
    folder: Path, kernels: Mapping[str, str], arguments: Sequence[Mapping[str, Any]]
) -> str:
    """What a compiler of this host says of the first kernel that it refuses, in one line; else "".

    kernels: backend → file name. arguments: as `described_problem` gives them. Nothing is run.
    """
    more = {"kernels": dict(kernels), "arguments": tuple(arguments)}
    try:
        return _asked("built", folder, (), lambda said: one_line(str(said))[:MOST_WORDS], **more)
    except HostLacks:
        return ""


def _asked(
    what: str, folder: Path, cases: Sequence[Case], read: Callable[[Any], T], **more: Any
) -> T:
    """more: fields of a `ProblemOrder`. Raises ProblemError."""
    try:
        order = ProblemOrder(
            what=what,
            folder=folder.name,
            files=problem_files(folder.resolve()),
            cases=tuple({"name": c.name, "params": dict(c.params)} for c in cases),
            policy=sandbox_policy().line(),
            shipped=is_shipped(folder),
            limit_s=LIMIT_S,
            **more,
        )
        arguments = ["-m", "campaigns.evaluator.problem_code.ask"]
        given = json.dumps(asdict(order))
        answer = json.loads(ask_interpreter(arguments, LIMIT_S + AROUND_S, given))
    except subprocess.TimeoutExpired:
        raise ProblemError(f"{folder.name}/ref.py: no answer in {LIMIT_S:.0f} s") from None
    except InterpreterFailed as error:
        raise ProblemError(str(error)) from None
    except OSError as error:
        raise ProblemError(f"{folder.name}: {error.strerror}") from None
    if "lacked" in answer:
        raise HostLacks(answer["lacked"])
    try:
        said = answer if "refused" in answer else json.loads(answer["said"])
        refused = one_line(str(said["refused"])) if "refused" in said else ""
        if not refused:
            return read(said["answer"])
    except (ContractError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        refused = f"{folder.name}/ref.py: its process gave no answer of ours"
    raise ProblemError(refused)
