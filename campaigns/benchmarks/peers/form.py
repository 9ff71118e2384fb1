"""A candidate as a plain function over tensors, the form in which other evaluators take one.

Used inside their processes: the sources that `kernelbench` and `sol` write import this. Inputs are
drawn from the torch seed that the evaluator has set, so that its own seeds decide.
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cached_property
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from campaigns.evaluator.contract import Case, Param
from campaigns.evaluator.contract.layout import Layout, ScalarArg
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.contract.signature import ENTRY, argument_types
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Reference

if TYPE_CHECKING:
    import torch

# Names the file that whoever takes a time holds, so that no two times are taken at once.
TURN = "KOPT_TRUST_TURN"


class Form:
    """One problem with the parameters of one case; tensors are in the problem's own order."""

    def __init__(self, problem: str, params: Mapping[str, Param]) -> None:
        self.spec = load_problem(Path(problem))
        self.case = Case("case", params)
        self._code = ProblemCode(self.spec.folder)
        self._reference = Reference(self._code)

    @cached_property
    def layout(self) -> Layout:
        """Names, shapes and dtypes; drawn apart from the evaluator's own random numbers."""
        import torch

        with torch.random.fork_rng(devices=[]):
            return self._reference.layout(self.case, "cpu")

    @property
    def tolerance(self) -> tuple[float, float]:
        """(atol, rtol) of the first output, 0 where it must be exact."""
        # Loads torch, which a host of the web side need not have.
        from campaigns.evaluator.judge.correctness.tolerance import tolerances

        found = tolerances(self.spec, self.layout)[self.layout.outputs[0].name]
        return (0.0, 0.0) if found.exact else (found.atol, found.rtol)

    def named(self, device: object) -> dict[str, torch.Tensor]:
        """New inputs by name, on `device`."""
        import torch

        seed = int(torch.randint(2**31 - 1, (1,)))
        example = self._reference.example(self.case, seed, str(device))
        return {arg.name: example.inputs[arg.name] for arg in self.layout.inputs}

    def draw(self, device: object) -> list[torch.Tensor]:
        """New inputs in the problem's order."""
        return list(self.named(device).values())

    def answer(self, *inputs: torch.Tensor) -> Any:
        """What the reference says: one tensor, or a tuple of them."""
        return self.call(lambda **given: self._code.expected(given), *inputs)

    def call(self, run: Callable[..., object], *inputs: torch.Tensor) -> Any:
        """Run a kernel on new outputs and return them: one tensor, or a tuple."""
        outputs = self.blank(inputs[0].device)
        self.into(run, inputs, outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def blank(self, device: object) -> list[torch.Tensor]:
        """New outputs as `torch.empty` gives them."""
        import torch

        place = torch.device(str(device))
        return [
            torch.empty(arg.shape, dtype=getattr(torch, arg.dtype), device=place)
            for arg in self.layout.outputs
        ]

    def into(
        self, run: Callable[..., object], inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> None:
        """`run` with keywords, on the tensors given and the problem's numbers."""
        numbers = {arg.name: arg.value for arg in self.layout.args if isinstance(arg, ScalarArg)}
        names = [arg.name for arg in (*self.layout.inputs, *self.layout.outputs)]
        run(**numbers, **dict(zip(names, (*inputs, *outputs), strict=True)))

    def compiled(self, library: Path, text: str) -> Callable[..., None]:
        """`solve` of a shared object made from the source `text`, to be called with keywords."""
        solve = getattr(ctypes.CDLL(str(library)), ENTRY)
        solve.argtypes = argument_types(text, library.name, self.layout)
        solve.restype = None
        order = [(arg.name, isinstance(arg, ScalarArg)) for arg in self.layout.args]

        def run(**given: Any) -> None:
            solve(*(given[name] if number else given[name].data_ptr() for name, number in order))

        return run


@contextmanager
def turn_to_time() -> Iterator[None]:
    """Wait until nobody else takes a time, and take one. Evaluators may check meanwhile.

    A decorator as well: what is decorated takes its turn at each call.
    """
    place = os.environ.get(TURN)
    if not place:
        yield
        return
    with Path(place).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def stand_in_for(*names: str) -> list[str]:
    """Put an empty module that has every name where one is not installed; those so replaced.

    For what an evaluator imports at its top and an evaluation never uses.
    """

    def attribute(name: str) -> Callable[..., None]:
        """Whatever is asked for, but nothing that tells what a module is: `inspect` reads those."""
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **more: None

    replaced = [n for n in names if n not in sys.modules and importlib.util.find_spec(n) is None]
    for name in replaced:
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        module.__getattr__ = attribute  # type: ignore[method-assign]
        sys.modules[name] = module
    return replaced


class Opinion(StrEnum):
    """How one evaluation ended. The last two say nothing about the evaluator."""

    CORRECT = "correct"
    REFUSED = "refused"
    FLAGGED = "flagged"
    DIED = "died"
    HUNG = "hung"
    NO_FORM = "no form"
    NOT_RUN = "not run"


class PeerAnswer(msgspec.Struct, frozen=True):
    """opinion: `FLAGGED` is correct by the numbers, and suspected. time_us, reference_us: as the
    evaluator measured them, of the candidate and of what it calls the reference; None where not.
    gain: whether its own rule grants a gain; None where it took no time."""

    opinion: Opinion
    reason: str = ""
    time_us: float | None = None
    reference_us: float | None = None
    gain: bool | None = None

    @property
    def accepted(self) -> bool:
        return self.opinion is Opinion.CORRECT

    @property
    def credited(self) -> bool:
        """Accepted and not slower than its incumbent."""
        return self.accepted and self.gain is not False


class PeerTask(msgspec.Struct, frozen=True):
    """source: the candidate's file. problem: its folder. device: "cpu" or "cuda:<index>".

    out: where the process writes a `PeerAnswer`. folder: a fresh one to work in.
    """

    source: str
    backend: str
    problem: str
    params: dict[str, Param]
    flags: tuple[str, ...]
    device: str
    folder: str
    out: str

    @property
    def text(self) -> str:
        return Path(self.source).read_text()

    @property
    def form(self) -> str:
        """The expression that makes this candidate's `Form`."""
        return f"Form({self.problem!r}, {self.params!r})"


def answer_with(
    evaluate: Callable[[PeerTask, Form], PeerAnswer], no_form: Callable[[Layout], str | None]
) -> None:
    """What an evaluator's process does: read its task from the command line, write the answer.

    no_form: why the evaluator cannot be asked about such a problem; None where it can.
    """
    task = msgspec.json.decode(sys.argv[1], type=PeerTask)
    form = Form(task.problem, task.params)
    if any(arg.update for arg in form.layout.outputs):
        # None of them hands a call the contents that its outputs start with.
        reason: str | None = "it has no outputs that are updated in place"
    else:
        reason = no_form(form.layout)
    answer = PeerAnswer(Opinion.NO_FORM, reason) if reason else evaluate(task, form)
    Path(task.out).write_bytes(msgspec.json.encode(answer))
