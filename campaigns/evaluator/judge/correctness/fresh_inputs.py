"""Fresh inputs for every burst, and the judge's private copy of them.

The reference runs on the copy, so nothing that a runner writes can reach the expected answer.
"shift" problems have independent and identically distributed inputs: one new set is drawn for each
burst, and every element of slot k comes from a window into it or into the same set reversed, by a
secret pattern. Windows start `k * step` elements further along, with offsets and steps drawn for
each burst. The last bits of every value are drawn for each slot, so that a value does not identify
an answer. This costs a few copies instead of n calls of `setup`, and no slot's answer can be
assembled from another's. Integers, whose order may mean something, are drawn for each slot.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import torch

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.layout import Layout, ScalarArg, TensorArg
from campaigns.evaluator.judge.correctness.arena import SecretNoise, Slots, same_bits
from campaigns.evaluator.judge.correctness.passes import InputMix, Passes, RowWindows
from campaigns.evaluator.reference.memory import as_integers
from campaigns.evaluator.reference.reference import Reference

SEED_BITS = 62
# Of `setup`: numpy takes no larger seed. A guessed seed shows only what the runner is given anyway.
EXAMPLE_BITS = 32
# How many bytes are made or compared at once: enough that launching is cheap, and no more than free
# memory or a processor's caches hold.
AT_ONCE_BYTES = {"cpu": 8 << 20, "cuda": 1 << 30}
MOST_SEEDS = 512
# A prime, so that the pattern of a mixture never falls into step with rows or slots.
PATTERN = 98_317
# By the width of a float: how many last bits are drawn for each slot, which leaves seven of the
# fraction; and how many last bits are zero in a value that counts as exact (a small integer, a
# mask) and stays unchanged. 16 bits have too few values for new ones.
LAST_BITS = {torch.int32: (16, 8), torch.int64: (45, 16)}

# How many draws of setup give the range of an input of one element.
SOME = 3

_Item = TypeVar("_Item")


class BurstInputs(Protocol):
    """The inputs of one burst, held by the judge alone."""

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        """Write one input of some slots, from slot `first` on, into [slots, elements]."""


class InputWindows:
    """Where the windows into one tensor begin; another tensor can have the same windows."""

    def __init__(self, size: int, count: int, width: int, draw: random.Random) -> None:
        # An odd step never lines up with row lengths that are powers of two.
        self._step = draw.randint(1, max(1, size // count)) | 1
        self._offset = draw.randrange(size)
        self.width = width
        self._repeats = -(-(self._offset + (count - 1) * self._step + width) // size)

    def repeat(self, flat: torch.Tensor) -> torch.Tensor:
        """`flat` as often as the windows reach."""
        return flat.repeat(self._repeats)

    def place(self, repeated: torch.Tensor, first: int) -> RowWindows:
        """The windows from number `first` on."""
        return RowWindows(repeated, self._offset + first * self._step, self._step)

    def in_step_with(self, other: InputWindows) -> bool:
        return self._step == other._step


class LastBits:
    """New last bits for every value of some slots, by windows into a secret pattern."""

    def __init__(
        self, at: InputWindows, dtype: torch.dtype, count: int, supply: InputSupply
    ) -> None:
        drawn, zero = LAST_BITS[dtype]
        self.exact = (1 << zero) - 1
        bits = supply.integers(1 << drawn, dtype)
        # In step with the values, equal values would get equal bits in every slot.
        while (windows := InputWindows(PATTERN, count, at.width, supply.draw)).in_step_with(at):
            pass
        self._windows, self._bits = windows, windows.repeat(bits)

    def place(self, first: int) -> RowWindows:
        """Those for the slots from `first` on."""
        return self._windows.place(self._bits, first)


class MixedInputs:
    """Every element from one of two sets, by a window into a secret pattern.

    On the bits: one ^ ((one ^ other) & pattern), where the pattern holds all ones or zeros. Then
    the last bits are drawn.
    """

    def __init__(self, inputs: Mapping[str, torch.Tensor], count: int, supply: InputSupply) -> None:
        self._passes = supply.passes
        self._parts: dict[
            str, tuple[InputWindows, InputWindows, torch.Tensor, torch.Tensor, torch.Tensor]
        ]
        self._parts = {}
        self._last_bits: dict[str, LastBits] = {}
        for name, value in inputs.items():
            flat = value.reshape(-1)
            size = flat.numel()
            one = as_integers(flat)
            other = one.flip(0).roll(supply.draw.randrange(size))
            pattern = supply.pattern(one.dtype)
            at = InputWindows(size, count, size, supply.draw)
            choice = InputWindows(pattern.numel(), count, size, supply.draw)
            self._parts[name] = (
                *(at, choice),
                *(at.repeat(one), at.repeat(one ^ other), choice.repeat(pattern)),
            )
            if one.dtype in LAST_BITS:
                self._last_bits[name] = LastBits(at, one.dtype, count, supply)

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        at, choice, one, difference, pattern = self._parts[arg.name]
        last = self._last_bits.get(arg.name)
        mixture = InputMix(
            one=at.place(one, first),
            difference=difference,
            pattern=choice.place(pattern, first),
            last=last.place(first) if last else None,
            exact=last.exact if last else 0,
        )
        self._passes.mix(mixture, as_integers(into))


class SeparateInputs:
    """One set of inputs per slot, each made on its own. names: of the tensors to keep, or all."""

    def __init__(
        self, examples: Iterable[Mapping[str, Any]], names: Collection[str] | None = None
    ) -> None:
        kept: dict[str, list[torch.Tensor]] = {}
        for example in examples:
            for name, value in example.items():
                if isinstance(value, torch.Tensor) and (names is None or name in names):
                    kept.setdefault(name, []).append(value.reshape(-1))
        self._rows = {name: torch.stack(rows) for name, rows in kept.items()}

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        into.copy_(self._rows[arg.name][first : first + len(into)])


class ScalarInputs:
    """Inputs of one element: a value for each slot, within the range that setup draws."""

    def __init__(
        self,
        between: Mapping[str, tuple[float, float]],
        example: Mapping[str, torch.Tensor],
        count: int,
        supply: InputSupply,
    ) -> None:
        """between: the least and the most by name. example: gives dtype and device."""
        self._rows: dict[str, torch.Tensor] = {}
        for name, (low, high) in between.items():
            like = example[name]
            made = [supply.draw.uniform(low, high) for _ in range(count)]
            rows = torch.tensor(made, dtype=torch.float64, device=like.device)
            self._rows[name] = rows.to(like.dtype).unsqueeze(1)

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        into.copy_(self._rows[arg.name][first : first + len(into)])


class SplitInputs:
    """Inputs of these names from one source, and all others from another."""

    def __init__(self, mixed: BurstInputs, names: Collection[str], separate: BurstInputs) -> None:
        self._mixed, self._names, self._separate = mixed, names, separate

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        made: BurstInputs = self._mixed if arg.name in self._names else self._separate
        made.write(arg, first, into)


class InputSupply:
    """Draws secret seeds and makes inputs. `refresh` is "setup" or "shift"."""

    def __init__(
        self, reference: Reference, case: Case, layout: Layout, device: str, passes: Passes
    ) -> None:
        self._reference = reference
        self._case = case
        self._layout = layout
        self._device = device
        self.passes = passes
        self.draw = random.SystemRandom()
        # A generator of its own: judge and runner are forks of one process and share torch's
        # default one.
        self.generator = torch.Generator(device).manual_seed(self.draw.getrandbits(SEED_BITS))
        self.noise = SecretNoise(device, self.generator)
        # The range that setup gave so far to each input of one element, by name.
        self._between: dict[str, tuple[float, float]] = {}

    def example(self) -> Mapping[str, Any]:
        return next(self.examples(1))

    def examples(self, count: int) -> Iterator[Mapping[str, Any]]:
        """Many of them; asked for together, since to ask takes longer than to draw small inputs."""
        step = min(MOST_SEEDS, at_once(self._device, self._layout.stride))
        for first in range(0, count, step):
            few = range(min(step, count - first))
            seeds = tuple(self.draw.getrandbits(EXAMPLE_BITS) for _ in few)
            for one in self._reference.examples(self._case, seeds, self._device):
                yield one.inputs

    def shuffled(self, items: Iterable[_Item]) -> list[_Item]:
        made = list(items)
        self.draw.shuffle(made)
        return made

    def fresh(self, count: int, refresh: str) -> BurstInputs:
        names = [arg.name for arg in self._layout.given]
        if refresh != "shift" or count < 2:
            return self._separate(count, names)
        example = self.example()
        mixed = {name: example[name] for name in names if _can_be_mixed(example[name])}
        made = MixedInputs(mixed, count, self)
        rest = [name for name in names if name not in mixed]
        if any(example[name].numel() > 1 for name in rest):
            return SplitInputs(made, mixed, self._separate(count, rest))
        single = [name for name in rest if example[name].is_floating_point()]
        truth: BurstInputs = SplitInputs(made, mixed, SeparateInputs([example] * count, rest))
        if not single:
            return truth
        more = [] if self._between else list(self.examples(SOME))
        for one in (example, *more):
            self._widen({name: float(one[name]) for name in single})
        return SplitInputs(ScalarInputs(self._between, example, count, self), single, truth)

    def _widen(self, drawn: Mapping[str, float]) -> None:
        for name, value in drawn.items():
            low, high = self._between.get(name, (value, value))
            self._between[name] = min(low, value), max(high, value)

    def _separate(self, count: int, names: Collection[str]) -> SeparateInputs:
        return SeparateInputs(self.examples(count), names)

    def pattern(self, dtype: torch.dtype) -> torch.Tensor:
        """All bits set or none, by chance."""
        return self.integers(2, dtype).neg_()

    def integers(self, below: int, dtype: torch.dtype) -> torch.Tensor:
        """Random integers of 0 to `below` - 1, as many as a pattern has."""
        made = torch.randint(below, (PATTERN,), device=self._device, generator=self.generator)
        return made.to(dtype)


def _can_be_mixed(value: torch.Tensor) -> bool:
    return value.numel() > 1 and bool(value.is_floating_point())


def fill(slots: Slots, truth: BurstInputs) -> None:
    """Write what every slot's call starts from."""
    for arg in slots.layout.given:
        for first, into in _chunks(slots, arg):
            truth.write(arg, first, into)


def _chunks(slots: Slots, arg: TensorArg, since: int = 0) -> Iterator[tuple[int, torch.Tensor]]:
    """One argument of some slots at a time: the first slot's number, and [slots, elements].

    since: the first slot of all.
    """
    step = at_once(slots.rows.device.type, arg.nbytes)
    for first in range(since, slots.count, step):
        yield first, slots.all(arg)[first : first + step]


def at_once(device: str, each_bytes: int) -> int:
    """How many slots of `each_bytes` bytes to process at once."""
    return max(1, AT_ONCE_BYTES[device.partition(":")[0]] // each_bytes)


class Poison:
    """Fills the outputs of some slots with secret values, and recognises them later.

    Outputs that are updated in place are left out: they start from the judge's contents.
    """

    def __init__(self, slots: Slots, noise: SecretNoise) -> None:
        self._parts = [
            (arg, slots.all(arg), noise.poison(arg, slots.count))
            for arg in slots.layout.outputs
            if not arg.update
        ]
        for _, view, poison in self._parts:
            view.copy_(poison)

    def left_in(self, first: int, count: int) -> bool:
        """Whether a floating output still holds poison, which explains a wrong answer.

        Small integers have too few values for that.
        """
        rows = slice(first, first + count)
        return any(
            bool((as_integers(view[rows]) == as_integers(poison[rows])).any())
            for arg, view, poison in self._parts
            if view.is_floating_point()
        )

    def untouched(self, first: int) -> bool:
        """Whether every output from slot `first` on still holds its poison, bit by bit."""
        return all(same_bits(view[first:], poison[first:]) for _, view, poison in self._parts)


def changed_input(slots: Slots, truth: BurstInputs, since: int = 0) -> str:
    """The name of the first input that is not as given, from slot `since` on; else ""."""
    return _changed(slots, truth, slots.layout.inputs, since)


def starts_intact(slots: Slots, truth: BurstInputs, first: int) -> bool:
    """Whether what is updated in place is as it was given, from slot `first` on."""
    args = tuple(arg for arg in slots.layout.outputs if arg.update)
    return not _changed(slots, truth, args, first)


def _changed(slots: Slots, truth: BurstInputs, args: tuple[TensorArg, ...], since: int) -> str:
    """The name of the first of `args` that is not as given, from slot `since` on; else ""."""
    for arg in args:
        wanted = None
        for first, found in _chunks(slots, arg, since):
            # One piece of memory for all of them: touching new pages costs more than the work.
            wanted = torch.empty_like(found) if wanted is None else wanted[: len(found)]
            truth.write(arg, first, wanted)
            if not same_bits(found, wanted):
                return arg.name
    return ""


def scalars(layout: Layout) -> dict[str, int | float]:
    return {arg.name: arg.value for arg in layout.args if isinstance(arg, ScalarArg)}
