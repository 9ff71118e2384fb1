"""Ask a problem's own code what it computes and moves: in a box, by a program that waits for more.

What comes back was written by whoever wrote the code. It is read strictly, and goes no further than
names, numbers and sentences.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from campaigns.devices.launch import ROOT, clean_environment, sandbox_policy
from campaigns.devices.turns import turn_memory
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import one_line
from campaigns.evaluator.contract.layout import ITEM_BYTES
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import ProblemOrder, load_problem, problem_files
from campaigns.evaluator.contract.reading import ContractError, build
from campaigns.problems.shipped import is_shipped

LIMIT_S = 120.0
# What the program takes to start, and the box to be closed and cleared away.
AROUND_S = 60.0
# How long the program waits for the next order, with torch imported.
IDLE_S = 120.0
ROLES = ("input", "output", "output, updated in place")
MOST_WORDS = 500
# What Inductor writes for a kernel, in characters.
MOST_TEXT = 1 << 16
KINDS = (*ITEM_BYTES, "int", "float")

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
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class _Described:
    case: str
    arguments: tuple[_Argument, ...]
    work: _LeastWork
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """What Inductor writes. inputs: (name, dtype or "int" or "float") of each, in its order."""

    text: str
    inputs: tuple[tuple[str, str], ...]


def work_model(folder: Path, cases: Sequence[Case]) -> Mapping[str, tuple[float, float]]:
    """(operations, bytes) at the least per case name.

    Also checks the contract of the code (`setup`, `reference`, outputs) on the smallest case of the
    problem. Raises ProblemError.
    """

    def read(said: Any) -> dict[str, tuple[float, float]]:
        return {case.name: (float(said[case.name][0]), float(said[case.name][1])) for case in cases}

    return _asked("works", folder, [smallest_case(load_problem(folder)), *cases], read)


def smallest_case(spec: ProblemSpec) -> Case:
    """The case on which a problem's own code is soon through."""
    return min(spec.cases, key=lambda case: case.size).case


def described_problem(folder: Path, case: Case, given: Case | None = None) -> dict[str, Any]:
    """Arguments of one case, on which the reference is run, and the least work of `given`.

    given: default the same. With notes: what its author should know of the problem, as the case
    shows it. Raises ProblemError with one line.
    """
    counted = given or case

    def read(said: Any) -> dict[str, Any]:
        """Read it as pages, commands and drafts of problems do. Raises ValueError."""
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
        unknown, *notes = (
            one_line(f"{x}")[:MOST_WORDS] for x in (found.work.unknown, *found.notes)
        )
        work = asdict(found.work) | {"unknown": unknown}
        return {"case": counted.name, "arguments": told, "work": work, "notes": notes}

    return _asked("described", folder, [case, counted], read)


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


def inductor_text(folder: Path, case: Case, other: Case, target: str = "") -> Compiled:
    """What torch's Inductor writes for the reference. Raises ProblemError.

    other: of other sizes, which tell the sides of equal size apart. target: what it writes Triton
    for, such as "sm_90a"; "" is C++.
    """

    def read(said: Any) -> Compiled:
        found = build(Compiled, said, "compiled")
        right = all(name.isidentifier() and kind in KINDS for name, kind in found.inputs)
        if not right or len(found.text) > MOST_TEXT:
            raise ValueError
        return found

    return _asked("compiled", folder, [case, other], read, target=target)


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
            shipped=is_shipped(folder),
            limit_s=LIMIT_S,
            **more,
        )
        with turn_memory() as memory:
            answer = json.loads(_told(json.dumps(asdict(order)), memory))
    except TimeoutError:
        raise ProblemError(f"{folder.name}/ref.py: no answer in {LIMIT_S:.0f} s") from None
    except OSError as error:
        raise ProblemError(f"{folder.name}: {error.strerror}") from None
    if "lacked" in answer:
        raise HostLacks(answer["lacked"])
    if "failed" in answer:
        raise ProblemError(answer["failed"])
    try:
        said = answer if "refused" in answer else json.loads(answer["said"])
        refused = one_line(str(said["refused"])) if "refused" in said else ""
        if not refused:
            return read(said["answer"])
    except (ContractError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        refused = f"{folder.name}/ref.py: its process gave no answer of ours"
    raise ProblemError(refused)


class _Asker:
    """The program that asks a problem's code: it has imported torch, which takes seconds."""

    def __init__(self, policy: str) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "campaigns.evaluator.problem_code.ask", policy, str(IDLE_S)],
            cwd=ROOT,
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
        )
        self.policy, self._used = policy, time.monotonic()

    @property
    def is_fresh(self) -> bool:
        """Whether it surely waits still."""
        return self._process.poll() is None and time.monotonic() - self._used < IDLE_S / 2

    def ask(self, order: str, limit_s: float) -> str:
        """Its answer, a line. Raises TimeoutError, and OSError where it ended."""
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        into.write(f"{order}\n".encode())
        into.flush()
        if not select.select([out], [], [], limit_s)[0]:
            raise TimeoutError
        # It writes a line at once, or ends.
        answer = out.readline().decode()
        self._used = time.monotonic()
        if not answer:
            self._log.seek(0)
            words = self._log.read().decode(errors="replace").strip().splitlines()
            raise OSError(None, words[-1] if words else "no answer without a message")
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout, self._log):
            if file is not None:
                file.close()


# Those that wait; a fork has none of its parent's.
_waiting: list[_Asker] = []
os.register_at_fork(after_in_child=_waiting.clear)


def _told(order: str, memory_bytes: int) -> str:
    """What an asker says, one that waits or a new one; it is kept for the next order then."""
    asker, answer = _taken(sandbox_policy(memory_bytes).line()), ""
    try:
        answer = asker.ask(order, LIMIT_S + AROUND_S)
    finally:
        if answer and not _waiting:
            _waiting.append(asker)
        else:
            asker.close()
    return answer


def _taken(policy: str) -> _Asker:
    with suppress(IndexError):  # where none waits, or another thread has just taken it
        while True:
            asker = _waiting.pop()
            if asker.is_fresh and asker.policy == policy:
                return asker
            asker.close()
    return _Asker(policy)


@atexit.register
def _end_waiting() -> None:
    while _waiting:
        _waiting.pop().close()
