"""What is asked of a problem's own functions, and what they give, wherever they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from campaigns.evaluator.contract import Param
from campaigns.evaluator.contract.layout import TensorArg

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
