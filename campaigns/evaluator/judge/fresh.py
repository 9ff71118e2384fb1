"""Fresh inputs for every burst, and the judge's private copy of them.

The copy is what the reference runs on, so nothing a runner writes can reach the expected answer.
"shift" problems have inputs that are independent and identically distributed: one new set is drawn
for each burst, and slot k gets the window that starts `k * step` elements further along, with
offset and step drawn anew. That costs one copy instead of n calls of `setup`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Protocol

import torch

from campaigns.evaluator.contract import Case
from campaigns.evaluator.judge.arena import Slots, as_integers
from campaigns.evaluator.judge.reference import Reference
from campaigns.evaluator.layout import Layout, ScalarArg, TensorArg

SEED_BITS = 62


class Truth(Protocol):
    """The inputs of one burst, held by the judge alone."""

    def rows(self, arg: TensorArg) -> torch.Tensor:
        """[slots, elements] of one input over all slots."""


class Windows:
    """Shifted windows over one set of inputs."""

    def __init__(self, inputs: Mapping[str, Any], count: int, draw: random.Random) -> None:
        self._flat: dict[str, tuple[torch.Tensor, int, int]] = {}
        self._count = count
        for name, value in inputs.items():
            if isinstance(value, torch.Tensor):
                self._flat[name] = self._tile(value.reshape(-1), draw)

    def _tile(self, flat: torch.Tensor, draw: random.Random) -> tuple[torch.Tensor, int, int]:
        size = flat.numel()
        if not flat.is_floating_point() or size == 1:
            return flat, 0, 0
        # An odd step never lines up with the power-of-two row lengths that kernels are fond of.
        step = draw.randint(1, max(1, size // self._count)) | 1
        offset = draw.randrange(size)
        needed = offset + (self._count - 1) * step + size
        return flat.repeat(-(-needed // size)), offset, step

    def rows(self, arg: TensorArg) -> torch.Tensor:
        flat, offset, step = self._flat[arg.name]
        return flat.as_strided((self._count, arg.count), (step, 1), offset)


class Separate:
    """One call of `setup` per slot."""

    def __init__(self, examples: list[Mapping[str, Any]]) -> None:
        self._rows = {
            name: torch.stack([example[name].reshape(-1) for example in examples])
            for name, value in examples[0].items()
            if isinstance(value, torch.Tensor)
        }

    def rows(self, arg: TensorArg) -> torch.Tensor:
        return self._rows[arg.name]


class Supply:
    """Draws secret seeds and fills slots. `refresh` is "setup" or "shift"."""

    def __init__(self, reference: Reference, case: Case, layout: Layout, device: str) -> None:
        self._reference = reference
        self._case = case
        self._layout = layout
        self._device = device
        self._draw = random.SystemRandom()
        # Not torch's own generator: judge and runner are forks of one process and share its state.
        self.generator = torch.Generator(device).manual_seed(self._draw.getrandbits(SEED_BITS))

    def example(self) -> Mapping[str, Any]:
        seed = self._draw.getrandbits(SEED_BITS)
        return self._reference.example(self._case, seed, self._device).inputs

    def fresh(self, count: int, refresh: str) -> Truth:
        if refresh == "shift":
            return Windows(self.example(), count, self._draw)
        return Separate([self.example() for _ in range(count)])

    def poison(self, arg: TensorArg) -> float | int:
        """A finite value that no answer is likely to have; drawn anew for every burst."""
        dtype = getattr(torch, arg.dtype)
        if dtype is torch.bool:
            return 1
        if dtype.is_floating_point:
            top = torch.finfo(dtype).max
            return float(torch.tensor(self._draw.uniform(0.4, 0.9) * top, dtype=dtype))
        info = torch.iinfo(dtype)
        return self._draw.randint(info.max // 2, info.max)


def fill(slots: Slots, truth: Truth) -> None:
    """Refresh every input of every slot in place."""
    for arg in slots.layout.inputs:
        slots.all(arg).copy_(truth.rows(arg))


def poison_outputs(supply: Supply, slots: Slots) -> dict[str, float | int]:
    """Fill every output with a value of its own; which, by name."""
    poison = {arg.name: supply.poison(arg) for arg in slots.layout.outputs}
    for arg in slots.layout.outputs:
        slots.all(arg).fill_(poison[arg.name])
    return poison


def any_poison(slots: Slots, poison: Mapping[str, float | int]) -> bool:
    """Whether a floating output still holds poison; says why a result is wrong, never that it is.

    Small integers have too few values for one of them to be unlikely.
    """
    return any(
        bool((slots.all(arg) == poison[arg.name]).any())
        for arg in slots.layout.outputs
        if slots.all(arg).is_floating_point()
    )


def inputs_intact(slots: Slots, truth: Truth) -> str:
    """The name of the first input that was changed, or ""."""
    for arg in slots.layout.inputs:
        rows = truth.rows(arg)
        for first in range(0, slots.count, 64):
            found = as_integers(slots.all(arg)[first : first + 64])
            if not torch.equal(found, as_integers(rows[first : first + 64])):
                return arg.name
    return ""


def scalars(layout: Layout) -> dict[str, int | float]:
    return {arg.name: arg.value for arg in layout.args if isinstance(arg, ScalarArg)}
