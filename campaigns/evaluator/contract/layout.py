"""How one call's arguments lie in memory: a slot. Judge and runner compute the same addresses.

    | guard | tensor | pad | guard | tensor | pad | guard |      one slot, `stride` bytes

Every slot has its own inputs and outputs, so no call can be skipped or answered by another one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import prod

ALIGN = 256
GUARD = 256

ITEM_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
}
# Kernels with these are built, and judged on no device yet.
BUILT_ONLY = ("float8_e4m3fn", "float8_e5m2")


@dataclass(frozen=True, slots=True)
class TensorArg:
    """One dense row-major tensor; `offset` is in bytes from the start of its slot.

    update: an output that a call updates in place, so that it starts with the judge's contents.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    output: bool
    update: bool = False

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.count * ITEM_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """One number passed by value."""

    name: str
    value: int | float


@dataclass(frozen=True, slots=True)
class Layout:
    """The arguments of one case in call order, and the bytes from one slot to the next."""

    args: tuple[TensorArg | ScalarArg, ...]
    stride: int

    @property
    def tensors(self) -> tuple[TensorArg, ...]:
        return tuple(arg for arg in self.args if isinstance(arg, TensorArg))

    @property
    def inputs(self) -> tuple[TensorArg, ...]:
        return tuple(arg for arg in self.tensors if not arg.output)

    @property
    def outputs(self) -> tuple[TensorArg, ...]:
        return tuple(arg for arg in self.tensors if arg.output)

    @property
    def given(self) -> tuple[TensorArg, ...]:
        """Tensors with the judge's contents before a call: inputs, and outputs updated in place."""
        return tuple(arg for arg in self.tensors if arg.update or not arg.output)

    def gaps(self) -> list[tuple[int, int]]:
        """Byte ranges of a slot that belong to no tensor: guard bands and padding."""
        found, start = [], 0
        for arg in self.tensors:
            found.append((start, arg.offset))
            start = arg.offset + arg.nbytes
        return [*found, (start, self.stride)]


@dataclass(frozen=True, slots=True)
class Plain:
    """A tensor before it has a place: name, dtype, shape, and what it is for."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    output: bool
    update: bool = False


@dataclass(frozen=True, slots=True)
class Shift:
    """How far tensors lie behind their 256-byte boundaries, to test the least alignment allowed.

    align: what base addresses are multiples of, in bytes. odd: whether the first, third, … tensor
    lies an odd number of these behind, and the others an even number, or the reverse: so a loop
    that peels one tensor to alignment does not align the next.
    """

    align: int
    odd: bool = True


def lay_out(args: list[Plain | ScalarArg], shift: Shift | None = None) -> Layout:
    """Place every tensor at a 256-byte boundary, or behind one, with a guard band on both sides."""
    at, odd = GUARD, shift is not None and shift.odd
    placed: list[TensorArg | ScalarArg] = []
    for arg in args:
        if isinstance(arg, ScalarArg):
            placed.append(arg)
            continue
        unit = max(shift.align if shift else 0, ITEM_BYTES[arg.dtype])
        start = at + (_behind(unit, odd=odd) if shift else 0)
        odd = not odd
        tensor = TensorArg(arg.name, arg.dtype, arg.shape, start, arg.output, arg.update)
        placed.append(tensor)
        at = _up(start + tensor.nbytes, ALIGN) + GUARD
    return Layout(tuple(placed), _up(at, ALIGN))


def _behind(unit: int, *, odd: bool) -> int:
    """Bytes behind a boundary: a multiple of `unit`, an odd one where `odd`."""
    numbers = range(1 if odd else 2, max(3, ALIGN // unit), 2)
    return unit * random.SystemRandom().choice(numbers)


def _up(value: int, to: int) -> int:
    return -(-value // to) * to
