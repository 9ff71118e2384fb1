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

import math
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import torch

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.layout import Layout, ScalarArg, TensorArg
from campaigns.evaluator.judge.correctness.arena import SecretNoise, Slots, same_bits
from campaigns.evaluator.judge.correctness.one_pass import InputMix, Passes, RowWindows
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

# Inputs of so many elements are copied slot by slot; of fewer, many slots at once.
ALONE = 1 << 16
# How many draws of setup give the range of an input of one element.
SOME = 3

_Item = TypeVar("_Item")


# Writes one input of some slots, from slot `first` on, into [slots, elements].
Writer = Callable[[int, torch.Tensor], None]


class BurstInputs:
    """The inputs of one burst, held by the judge alone. writers: by name of an input."""

    def __init__(self, writers: Mapping[str, Writer]) -> None:
        self.writers = writers

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        """Write one input of some slots, from slot `first` on, into [slots, elements]."""
        self.writers[arg.name](first, into)

    def with_those(self, names: Iterable[str], source: BurstInputs) -> BurstInputs:
        """Inputs of these names from another source, and all others from here."""
        return BurstInputs({**self.writers, **{name: source.writers[name] for name in names}})


class SeparateInputs(BurstInputs):
    """One set of inputs per slot, each made on its own. names: of the tensors to keep, or all."""

    def __init__(
        self, examples: Iterable[Mapping[str, Any]], names: Collection[str] | None = None
    ) -> None:
        kept: dict[str, list[torch.Tensor]] = {}
        for example in examples:
            for name, value in example.items():
                if isinstance(value, torch.Tensor) and (names is None or name in names):
                    kept.setdefault(name, []).append(value.reshape(-1))
        # Large ones stay where they are: in one piece they would be there twice for a while.
        super().__init__(
            {
                name: _copier(torch.stack(rows) if rows[0].numel() < ALONE else rows)
                for name, rows in kept.items()
            }
        )


def _copier(rows: torch.Tensor | Sequence[torch.Tensor]) -> Writer:
    """rows: [slots, elements] of one input."""

    def write(first: int, into: torch.Tensor) -> None:
        few = rows[first : first + len(into)]
        if isinstance(few, torch.Tensor):
            into.copy_(few)
            return
        for place, row in zip(into, few, strict=True):
            place.copy_(row)

    return write


class InputWindows:
    """Where the windows into one tensor begin; another tensor can have the same windows."""

    def __init__(self, size: int, count: int, width: int, draw: random.Random) -> None:
        # An odd step never lines up with row lengths that are powers of two.
        self.step = draw.randint(1, max(1, size // count)) | 1
        self._offset = draw.randrange(size)
        self._repeats = -(-(self._offset + (count - 1) * self.step + width) // size)

    def repeat(self, flat: torch.Tensor) -> torch.Tensor:
        """`flat` as often as the windows reach."""
        return flat.repeat(self._repeats)

    def place(self, repeated: torch.Tensor, first: int) -> RowWindows:
        """The windows from number `first` on."""
        return RowWindows(repeated, self._offset + first * self.step, self.step)


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
                yield self._without_blanks(one.inputs)

    def _without_blanks(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The same, in which outputs that a call only writes take no memory."""
        blank = {arg.name for arg in self._layout.outputs if not arg.update}
        return {n: v.new_empty(()).expand(v.shape) if n in blank else v for n, v in inputs.items()}

    def shuffled(self, items: Iterable[_Item]) -> list[_Item]:
        made = list(items)
        self.draw.shuffle(made)
        return made

    def fresh(self, count: int, refresh: str) -> BurstInputs:
        """New inputs for so many slots."""
        names = [arg.name for arg in self._layout.given]
        if refresh != "shift" or count < 2:
            return SeparateInputs(self.examples(count), names)
        example = self.example()
        large = [name for name in names if example[name].numel() > 1]
        mixed = {n: example[n] for n in large if example[n].is_floating_point()}
        made = BurstInputs({name: self._mixed(value, count) for name, value in mixed.items()})
        rest = [name for name in names if name not in mixed]
        if any(name in large for name in rest):
            return SeparateInputs(self.examples(count), rest).with_those(mixed, made)
        truth = SeparateInputs([example] * count, rest).with_those(mixed, made)
        single = [name for name in rest if example[name].is_floating_point()]
        if not single:
            return truth
        # Inputs of one element: a value for each slot, within the range that setup draws.
        more = [] if self._between else list(self.examples(SOME))
        for one in (example, *more):
            for name in single:
                low, high = self._between.get(name, (math.inf, -math.inf))
                value = float(one[name])
                self._between[name] = min(low, value), max(high, value)
        drawn = {}
        for name, (low, high) in self._between.items():
            like = example[name]
            values = [self.draw.uniform(low, high) for _ in range(count)]
            rows = torch.tensor(values, dtype=torch.float64, device=like.device)
            drawn[name] = _copier(rows.to(like.dtype).unsqueeze(1))
        return truth.with_those(single, BurstInputs(drawn))

    def _mixed(self, value: torch.Tensor, count: int) -> Writer:
        """Every element from one of two sets, by a window into a secret pattern.

        On the bits: one ^ ((one ^ other) & pattern), where the pattern holds all ones or zeros.
        Then the last bits of every value are drawn for each slot, by windows into another pattern.
        """
        one = as_integers(value.reshape(-1))
        size, draw = one.numel(), self.draw
        other = one.flip(0).roll(draw.randrange(size))
        pattern = self._integers(2, one.dtype).neg_()
        at = InputWindows(size, count, size, draw)
        choice = InputWindows(PATTERN, count, size, draw)
        values, difference = at.repeat(one), at.repeat(one ^ other)
        chosen, bits, exact = choice.repeat(pattern), None, 0
        if one.dtype in LAST_BITS:
            many, zero = LAST_BITS[one.dtype]
            exact, bits = (1 << zero) - 1, self._integers(1 << many, one.dtype)
            # In step with the values, equal values would get equal bits in every slot.
            while (last := InputWindows(PATTERN, count, size, draw)).step == at.step:
                pass
            bits = last.repeat(bits)

        def write(first: int, into: torch.Tensor) -> None:
            mixture = InputMix(
                one=at.place(values, first),
                difference=difference,
                pattern=choice.place(chosen, first),
                last=None if bits is None else last.place(bits, first),
                exact=exact,
            )
            self.passes.mix(mixture, as_integers(into))

        return write

    def _integers(self, below: int, dtype: torch.dtype) -> torch.Tensor:
        """Random integers of 0 to `below` - 1, as many as a pattern has."""
        made = torch.randint(below, (PATTERN,), device=self._device, generator=self.generator)
        return made.to(dtype)


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


def changed_input(
    slots: Slots, truth: BurstInputs, since: int = 0, args: tuple[TensorArg, ...] | None = None
) -> str:
    """The name of the first input that is not as given, from slot `since` on; else "".

    args: to look at in place of the inputs.
    """
    for arg in slots.layout.inputs if args is None else args:
        wanted = None
        for first, found in _chunks(slots, arg, since):
            # One piece of memory for all of them: touching new pages costs more than the work.
            wanted = torch.empty_like(found) if wanted is None else wanted[: len(found)]
            truth.write(arg, first, wanted)
            if not same_bits(found, wanted):
                return arg.name
    return ""


def starts_intact(slots: Slots, truth: BurstInputs, first: int) -> bool:
    """Whether what is updated in place is as it was given, from slot `first` on."""
    updated = tuple(arg for arg in slots.layout.outputs if arg.update)
    return not changed_input(slots, truth, first, updated)


def scalars(layout: Layout) -> dict[str, int | float]:
    return {arg.name: arg.value for arg in layout.args if isinstance(arg, ScalarArg)}
