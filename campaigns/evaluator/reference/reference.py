"""What a problem says is right, held to its contract. Its code runs where `Functions` says.

Asked of a problem's own functions, wherever they run, are a `Draw` and a `ReferenceCall`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from campaigns.evaluator.contract import Case, Param
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.layout import Layout, Plain, ScalarArg, Shift, TensorArg, lay_out

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Draw:
    """Calls of `setup`, one a seed. marked: tensors without contents of their own hold a mark."""

    case: str
    params: Mapping[str, Param]
    seeds: tuple[int, ...]
    device: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """What `setup` gave, in call order, and the output names.

    inputs: dense tensors whose first axis is the seed, and the numbers of the first seed.
    notes: for people.
    """

    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Functions(Protocol):
    """What a problem's `ref.py` does, in this process or in another. Each raises BadReference.

    where: the file for messages. line: the same with the line on which `reference` begins.
    """

    @property
    def where(self) -> str: ...

    @property
    def line(self) -> str: ...

    def examples(self, draw: Draw) -> Made:
        """Call `setup`."""

    def answers(self, call: ReferenceCall) -> dict[str, torch.Tensor]:
        """Run `reference` on copies of rows of arguments: [rows, …] of every output."""

    def room(self, tensors: Iterable[TensorArg], rows: int) -> dict[str, torch.Tensor]:
        """[rows, elements] of each, anything in them: arguments that `answers` need not copy.

        What they hold is lost at the next call of any of these functions.
        """

    def allows(self, inputs: Mapping[str, Any]) -> bool:
        """Whether made inputs may be given to a kernel: `valid(**inputs)`, where there is one."""

    def release(self) -> None:
        """Give back what memory is held and not in use, here and where the functions run."""


@dataclass(frozen=True, slots=True)
class ReferenceCall:
    """Calls of `reference`, one a row. inputs: numbers, and tensors whose first axis is the row.

    blank: outputs whose contents do not matter before a call. precision: the dtype that floating
    tensors are raised to first; None keeps their own.
    """

    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]
    blank: frozenset[str] = frozenset()
    precision: torch.dtype | None = None

    @property
    def rows(self) -> int:
        return len(self.inputs[self.outputs[0]])

    def dtype(self, tensor: torch.Tensor) -> torch.dtype:
        """The one that this tensor has in the call."""
        return self.precision if self.precision and tensor.is_floating_point() else tensor.dtype


def is_tensor(value: Any) -> bool:
    """Whether it is one, without importing torch for that."""
    return hasattr(value, "detach")


@dataclass(frozen=True, slots=True)
class Example:
    """What `setup` gave for one case and seed: arguments in call order, and the output names."""

    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]


class Reference:
    """`setup` and `reference` of one problem: examples, layouts and answers.

    `valid(**inputs) -> bool`, where there is one, says whether inputs that the judge has made from
    drawn ones are what the problem promises its kernels (positive, in order, …).
    """

    def __init__(self, code: Functions, tell: Callable[[str], None] = lambda note: None) -> None:
        """tell: called once with each note for people."""
        self._code = code
        # Seconds that the problem's own functions have taken.
        self.spent_s = 0.0
        self._updates: frozenset[str] | None = None
        self._tell = tell
        self._told: set[str] = set()
        # Whether it can be run on inputs that are raised to another precision.
        self.can_be_raised = True

    def note(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            self._tell(words)

    def example(self, case: Case, seed: int, device: str, *, marked: bool = False) -> Example:
        """Call `setup(**params, seed=…, device=…)`. Raises BadReference naming what is wrong.

        marked: tensors to which it gives no contents hold a mark, see `is_blank`.
        """
        return self.examples(case, (seed,), device, marked=marked)[0]

    def examples(
        self, case: Case, seeds: tuple[int, ...], device: str, *, marked: bool = False
    ) -> list[Example]:
        """The same for many seeds at once, of which only the tensors differ."""
        with self._its_own():
            made = self._code.examples(Draw(case.name, case.params, seeds, device, marked))
        for note in made.notes:
            self.note(note)

        def of(row: int) -> dict[str, Any]:
            return {name: v[row] if is_tensor(v) else v for name, v in made.inputs.items()}

        return [Example(of(row), made.outputs) for row in range(len(seeds))]

    def layout(
        self, case: Case, device: str, shift: Shift | None = None, example: Example | None = None
    ) -> Layout:
        """The slot layout of `case`, from one example; shift: see `lay_out`."""
        example = example or self.example(case, seed=0, device=device)
        updates, args = self.updates(case, device), list[Plain | ScalarArg]()
        for name, value in example.inputs.items():
            if is_tensor(value):
                dtype, shape = str(value.dtype).removeprefix("torch."), tuple(value.shape)
                args.append(Plain(name, dtype, shape, name in example.outputs, name in updates))
            else:
                args.append(ScalarArg(name, value))
        return lay_out(args, shift)

    def first(self, case: Case, device: str) -> tuple[Example, dict[str, torch.Tensor]]:
        """A marked example, and what each of its tensors is after a call of the reference.

        Raises BadReference where the reference refuses what `setup` gives for `case`.
        """
        example = self.example(case, seed=0, device=device, marked=True)
        tensors = tuple(name for name, value in example.inputs.items() if is_tensor(value))
        return example, self.one(example.inputs, tensors)

    def updates(
        self,
        case: Case,
        device: str,
        first: tuple[Example, Mapping[str, torch.Tensor]] | None = None,
    ) -> frozenset[str]:
        """The outputs that it works on in place, as seen on the first case it is asked about."""
        # A command that only names problems loads without torch.
        from campaigns.evaluator.reference.in_place_outputs import is_blank, started_from

        if self._updates is None:
            example, after = first or self.first(case, device)
            outputs = {name: after[name] for name in example.outputs}
            found = started_from(example.inputs, outputs, self.one)
            where = f"{self._code.line}: reference"
            for name in sorted(found.unwritten):
                raise BadReference(
                    f"{where}: leaves the output {name!r} as it was; what it returns is not read; "
                    f"accepted: an answer that is written in place, such as {name}.copy_(…)"
                )
            for name in sorted(found.updated):
                if is_blank(example.inputs[name]):
                    raise BadReference(
                        f"{where}: does not write all of {name!r}, to which setup gives no contents"
                    )
                self.note(f"{name} is updated in place: each call starts from what setup gives it")
            self._require_inputs_kept(example, after)
            self._updates = found.updated
        return self._updates

    def _require_inputs_kept(self, example: Example, after: Mapping[str, torch.Tensor]) -> None:
        """Raise BadReference for an input that it changes: no kernel may, so none could be right.

        A kernel that leaves it as it was would pass, though the reference says that it changes.
        """
        from campaigns.evaluator.reference.memory import as_integers

        for name in after.keys() - {*example.outputs}:
            if bool((as_integers(after[name]) != as_integers(example.inputs[name])).any()):
                raise BadReference(
                    f"{self._code.line}: reference: changes {name!r}, which is no output; "
                    f"accepted: {name} among the outputs, where a call updates it, or a reference "
                    f"that works on {name}.clone()"
                )

    def one(self, inputs: Mapping[str, Any], outputs: tuple[str, ...]) -> dict[str, torch.Tensor]:
        """The outputs of `reference(**inputs)`, which runs on copies."""
        rows = {name: v.unsqueeze(0) if is_tensor(v) else v for name, v in inputs.items()}
        return {
            name: found[0] for name, found in self.answers(ReferenceCall(rows, outputs)).items()
        }

    def answers(self, call: ReferenceCall) -> dict[str, torch.Tensor]:
        """[rows, …] of every output; see `ReferenceCall`. Raises BadReference."""
        with self._its_own():
            return self._code.answers(call)

    def room(self, layout: Layout, rows: int) -> dict[str, torch.Tensor]:
        """[rows, elements] of every tensor; see `Functions`."""
        return self._code.room(layout.tensors, rows)

    def release(self) -> None:
        """Give back what memory is held and not in use."""
        self._code.release()

    def allows(self, inputs: Mapping[str, Any]) -> bool:
        """Whether made inputs may be given to a kernel."""
        with self._its_own():
            return self._code.allows(inputs)

    @contextmanager
    def _its_own(self) -> Iterator[None]:
        """Count the problem's own time."""
        since = time.monotonic()
        try:
            yield
        finally:
            self.spent_s += time.monotonic() - since
