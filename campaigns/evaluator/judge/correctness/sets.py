"""Input sets that `setup` would hardly draw, and cases near the declared ones.

A kernel that is right only for the declared shapes and distribution is wrong. Sets are derived from
the problem's own example; integers that may be indices, and numbers, stay as they are.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import lgamma, log
from typing import TYPE_CHECKING, Any

import torch

from campaigns.evaluator.contract import Case, Param
from campaigns.evaluator.judge.correctness.output_comparison import PIECE

if TYPE_CHECKING:
    from campaigns.evaluator.contract.problem import CheckSpec

# Powers of two: scaling is exact. Large overflows exponentials that forget to subtract the peak.
LARGE, TINY, SHIFT, SPIKE = 128.0, 2.0**-20, 256.0, 4096.0
# The set in whose rows everything cancels.
ALIKE = "constant"
# How far an honest kernel may be off on a set: in errors of the reference at the problem's own
# precision, and in changes of the exact answer when inputs are off by the rounding of a sum over a
# row. In constant rows, for example, everything cancels. Roundings in one direction add up over a
# long row; with random signs a long row would only hide what cancels.
OWN_ERRORS, CHANGES = 16.0, 4.0
LONGEST_ROW, LONGEST_SUM = 1 << 10, 1 << 18
# A smaller integer parameter is more likely a switch or a count of heads than a size.
LEAST_FREE = 16
MOST_MOVED = 7
SMALLER, FAR_SMALLER = "a little smaller", "far smaller"
# The kinds whose sizes this power of two divides, and twice that does not.
PARTS = {"even and little other": 2, "by fours and little other": 4}
# The kind of hidden sizes that is tried only where problem.toml declares free sizes; the problem
# may refuse it.
TINY_SIZES = "tiny and far smaller"
# The kind that moves numbers, not sizes: by this share, and only down, since most bounds are above.
OTHER_NUMBERS, LEAST_SHARE, MOST_SHARE = "somewhat smaller", 0.7, 0.95
# The kind that is also tried with some sets: they show what is left out at the end of a row.
WITH_SETS, FOR_ENDS = "a little larger", ("lowered", "last")
# How many elements of each input a near-duplicate changes, and of how many in a chain each changes
# one element of one input: a key that leaves out a part of the inputs misses some of those changes.
CHANGED, LEAST_ALONE, MOST_ALONE = 4, 3, 6
# How often another value is drawn to find a different one.
TRIES = 32
# How many values a sparse set has beside zero.
FEW_VALUES = 3
SEED_BITS = 63
# The one set of integers: only short integers that may be negative, which are numbers and not
# indices.
ENDS, SHORT = "ends", (torch.int8, torch.int16)

Inputs = Mapping[str, Any]
WORDS = {
    "zeros": "all inputs zero",
    "constant": "constant rows",
    "large": f"inputs {LARGE:g} times larger",
    "tiny": "very small inputs",
    "negative": "no input above zero",
    "positive": "no input below zero",
    "spiked": "one input far beyond all others",
    "last": "the last of every row far beyond all others",
    "lowered": f"inputs lowered by {SHIFT:g}",
    "shifted": f"inputs shifted by {SHIFT:g}",
    "sparse": "many inputs zero and few values among the others",
    ENDS: "integers at either end of their range",
}
# The probability below which structure is no coincidence. Rows of n numbers are in order once in n!
# times.
CHANCE = 1e-9
SMALLEST_MATRIX = 3
# How far the sum of a row of probabilities may be from 1, beside the rounding of its dtype.
WHOLE = 1e-4


def _beyond(values: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    """Far above `values`; far below them where no drawn value is positive."""
    far = (values.abs() + 1) * SPIKE
    return -far if bool((drawn < 0).any()) and not bool((drawn > 0).any()) else far


def _spiked(drawn: torch.Tensor) -> torch.Tensor:
    """One value far beyond all others, anywhere: no sample of a tensor shows it."""
    made, at = drawn.clone(), random.SystemRandom().randrange(drawn.numel())
    flat = made.reshape(-1)
    flat[at] = _beyond(flat[at], drawn)
    return flat.view(drawn.shape)


def _last(drawn: torch.Tensor) -> torch.Tensor:
    """The last value of every row far beyond all others."""
    made = drawn.clone()
    ends = made[..., -1:] if made.dim() else made
    ends.copy_(_beyond(ends, drawn))
    return made


def _sparse(drawn: torch.Tensor) -> torch.Tensor:
    """Half zeros, the rest a few of the drawn values: equal values here and there prove nothing.

    A kernel that skips work for zeros, or for equal values, has to read all of them.
    """
    flat, draw = drawn.reshape(-1), random.SystemRandom()
    # With the least and the most among them, the first value is hardly ever zero.
    few = torch.stack([flat.amin(), flat.amax(), flat[draw.randrange(flat.numel())]])
    return torch.cat([few, torch.zeros_like(few)])[_which(2 * FEW_VALUES, drawn)]


def _ends(drawn: torch.Tensor) -> torch.Tensor:
    """Each element the least or the most that was drawn: sums that are too short overflow."""
    return torch.stack([drawn.amin(), drawn.amax()])[_which(2, drawn)]


def _which(below: int, like: torch.Tensor) -> torch.Tensor:
    """For each element a number from 0 on, drawn in secret."""
    generator = torch.Generator(like.device)
    generator.manual_seed(random.SystemRandom().getrandbits(SEED_BITS))
    return torch.randint(below, like.shape, generator=generator, device=like.device)


MAKE: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": torch.zeros_like,
    "constant": lambda x: (x[..., :1] if x.dim() else x).expand_as(x).contiguous(),
    "large": lambda x: x * LARGE,
    "tiny": lambda x: x * TINY,
    "negative": lambda x: -x.abs(),
    "positive": torch.abs,
    "spiked": _spiked,
    "last": _last,
    "lowered": lambda x: x - SHIFT,
    "shifted": lambda x: x + SHIFT,
    "sparse": _sparse,
    ENDS: _ends,
}


def adversarial(
    name: str, inputs: Inputs, outputs: tuple[str, ...], alone: str = ""
) -> dict[str, Any] | None:
    """The set `name`, made from an example; None where it would change nothing or not be finite.

    alone: the one input to change; "" for all of them. An input stays as it was drawn where the
    change would break what the problem promises of it (`keeps`).
    """
    names = [alone] if alone else _floating(inputs, outputs)
    if name == ENDS:
        short = (key for key, value in inputs.items() if getattr(value, "dtype", None) in SHORT)
        names = [key for key in short if key not in outputs and bool((inputs[key] < 0).any())]
        names = [] if alone else names
    made = {key: MAKE[name](inputs[key]) for key in names}
    changed = {key: value for key, value in made.items() if keeps(inputs[key], value)}
    if not all(bool(torch.isfinite(value).all()) for value in changed.values()):
        return None
    return {**inputs, **changed} if changed else None


def scopes(inputs: Inputs, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """The scopes of a set: all inputs, and where there are several also the largest one alone.

    Tiny values times tiny scales are within any tolerance, whatever a kernel computes.
    """
    names = _floating(inputs, outputs)
    if len(names) < 2:
        return ("",)
    return "", max(names, key=lambda name: int(inputs[name].numel()))


def near_duplicates(inputs: Inputs, outputs: tuple[str, ...]) -> Iterator[Inputs]:
    """One after the other, each almost the same as the one before, and in the same memory.

    First one element of one input is exchanged at a time, of each input if they are not many, for
    another of the same tensor; in the last some of every input. Inputs that would not be what the
    problem promises of them stay as they are.
    """
    names = _floating(inputs, outputs)
    now = {**inputs, **{name: inputs[name].clone() for name in names}}
    kept = {name: [has for has in PROMISES if has(inputs[name])] for name in names}
    order = random.SystemRandom().sample(names, len(names)) * LEAST_ALONE
    for name in order[: max(LEAST_ALONE, min(len(names), MOST_ALONE))]:
        _exchange(now[name], kept[name])
        yield now
    for name in names:
        for _ in range(min(CHANGED, max(1, inputs[name].numel() // 2))):
            _exchange(now[name], kept[name])
    if names:
        yield now


def _exchange(tensor: torch.Tensor, kept: Collection[Callable[[torch.Tensor], bool]]) -> None:
    """Exchange one element for any other, or for its neighbour where only that keeps an order."""
    flat, draw = tensor.reshape(-1), random.SystemRandom()
    to, last = draw.randrange(flat.numel()), flat.numel() - 1
    before = flat[to].clone()
    near = [at for at in (to - 1, to + 1) if 0 <= at <= last and flat[at] != before]
    far = (draw.randrange(flat.numel()) for _ in range(TRIES))
    for source in (next((at for at in far if flat[at] != before), to), *near):
        flat[to] = flat[source]
        if all(has(tensor) for has in kept):
            return
        flat[to] = before


def _floating(inputs: Inputs, outputs: tuple[str, ...]) -> list[str]:
    return [
        name
        for name, value in inputs.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point() and name not in outputs
    ]


def rounded(
    inputs: Inputs, outputs: tuple[str, ...], *, alike: bool = True
) -> Iterator[dict[str, Any]]:
    """The inputs in float64: off by rounding with random signs, then all the same way.

    alike: whether the values of a row may be, so that its steps may all round the same way.
    """

    def off(value: torch.Tensor, *, signed: bool) -> torch.Tensor:
        row = value.shape[-1] if value.dim() else 1
        if not signed:
            return value.double().mul_(1 + _rounds(value.dtype, min(row, LONGEST_SUM)))
        steps = min(row if alike else math.isqrt(row), LONGEST_ROW)
        signs = torch.randint(0, 2, value.shape, device=value.device, dtype=torch.int8) * 2 - 1
        return value.double().mul_(signs.double().mul_(_rounds(value.dtype, steps)).add_(1))

    for signed in (True, False):
        names = _floating(inputs, outputs)
        yield {**inputs, **{name: off(inputs[name], signed=signed) for name in names}}


def nudged(inputs: Inputs, outputs: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The inputs in float64, each off by a part of its rounding; then by the opposite part.

    What lies on an edge is on either side of it in one of the two, whatever it is divided by.
    """
    parts = {}
    for key in _floating(inputs, outputs):
        value = inputs[key]
        row = value.shape[-1] if value.dim() else 1
        drawn = torch.rand(value.shape, dtype=torch.float64, device=value.device)
        parts[key] = drawn.mul_(2).sub_(1).mul_(_rounds(value.dtype, min(row, LONGEST_ROW)))
    for sign in (1, -1):
        off = {key: inputs[key].double() * (1 + sign * part) for key, part in parts.items()}
        yield {**inputs, **off}


def _rounds(dtype: torch.dtype, steps: int) -> float:
    """The share of a value that rounding in so many steps makes of it, at the most."""
    if dtype is torch.float64:
        return float(steps * torch.finfo(dtype).eps)
    return float(steps * torch.finfo(torch.float32).eps + torch.finfo(dtype).eps) / 2


def free_parameters(case: Case, check: CheckSpec) -> tuple[str, ...]:
    """The parameters of a case that a hidden case may move."""
    if check.free is not None:
        return tuple(name for name in check.free if _is_size(case.params.get(name), 1))
    return tuple(name for name, value in case.params.items() if _is_size(value, LEAST_FREE))


def free_numbers(case: Case, check: CheckSpec) -> tuple[str, ...]:
    """The parameters of a case that are numbers, not sizes, and that a hidden case may move."""
    found = (name for name, value in case.params.items() if isinstance(value, float) and value)
    return tuple(name for name in found if check.free is None or name in check.free)


def hidden_cases(case: Case, check: CheckSpec) -> dict[str, list[Case]]:
    """Cases near the declared one and far smaller ones, each free parameter by itself.

    Each kind in the order in which its cases should be tried, since a setup may refuse some. They
    are drawn anew for every evaluation, so nothing can be fitted to them. Sizes that share no
    factor with the declared one come first, so that no block which fits this fits those; but of an
    even size all of them are odd, and a kernel can be careful with odd ones alone. So there are
    some of each kind of remainder; and some that are less than one vector, where the problem says
    that its sizes are free: a kernel for large ones that is guessed at has not promised those.
    """
    found: dict[str, list[Case]] = {}

    def move(kind: str, drawn: Mapping[str, Sequence[Param]]) -> None:
        together = zip(*drawn.values(), strict=False)
        values = (dict(zip(drawn, each, strict=True)) for each in together)
        found[kind] = [Case(case.name, {**case.params, **each}) for each in values]

    sizes = {name: int(case.params[name]) for name in free_parameters(case, check)}
    kinds = (SMALLER, WITH_SETS, *PARTS, FAR_SMALLER)
    for kind in (*kinds, TINY_SIZES) if check.free is not None else kinds:
        if sizes:
            move(kind, {name: _other_sizes(kind, size) for name, size in sizes.items()})
    draw = random.SystemRandom()
    if numbers := {name: float(case.params[name]) for name in free_numbers(case, check)}:
        shares = range(MOST_MOVED)
        move(
            OTHER_NUMBERS,
            {
                n: [v * draw.uniform(LEAST_SHARE, MOST_SHARE) for _ in shares]
                for n, v in numbers.items()
            },
        )
    return found


def _other_sizes(kind: str, size: int) -> list[int]:
    """Sizes of one parameter, in the order in which they should be tried."""
    draw = random.SystemRandom()
    if kind in (SMALLER, WITH_SETS):
        sign = 1 if kind == WITH_SETS else -1
        moves = draw.sample(range(1, MOST_MOVED + 1), MOST_MOVED)
        near = [max(1, size + sign * move) for move in moves]
        return sorted(near, key=lambda other: math.gcd(size, other))
    if kind in PARTS:
        # Those near `size` which the part, a power of two, divides, and twice that does not.
        part = PARTS[kind]
        around = range(max(1, size - 2 * part), size + 2 * part + 1)
        found = [n for n in around if n % (2 * part) == part and n != size]
        return draw.sample(found, len(found))
    low, high = int(size * (1 / 3)), int(size * (2 / 3))
    if kind == TINY_SIZES:
        low, high = 1, max(1, min(LEAST_FREE, size) - 1)
    return [max(1, draw.randint(low, high)) for _ in range(MOST_MOVED)]


def _is_size(value: Param | None, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def keeps(drawn: torch.Tensor, made: torch.Tensor) -> bool:
    """Whether `made` has the structure of `drawn`, an input of the same name.

    Order, symmetry, sign, shares of a whole: a kernel may rely on what its problem promises, as
    sorted keys, a symmetric matrix, a row of probabilities. No declaration is needed: what `setup`
    draws shows it, where it cannot be chance. An input that the judge makes from a drawn one keeps
    the structure, or stays as drawn.
    """
    return all(not has(drawn) or has(made) for has in PROMISES)


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The rows, so many at once that what is made of them takes little memory."""
    rows = tensor.reshape(-1, tensor.shape[-1] if tensor.dim() else 1)
    yield from rows.split(max(1, PIECE // max(1, rows.shape[-1])))


def _is_ordered(tensor: torch.Tensor, holds: Callable[..., torch.Tensor]) -> bool:
    """Whether every row is in order, and all of them hardly by chance."""
    last = tensor.shape[-1] if tensor.dim() else 0
    if not last or tensor.numel() // last * lgamma(last + 1) < -log(CHANCE):
        return False
    return all(bool(holds(rows[:, 1:], rows[:, :-1]).all()) for rows in _pieces(tensor))


def _is_symmetric(tensor: torch.Tensor) -> bool:
    if tensor.dim() < 2 or tensor.shape[-1] < SMALLEST_MATRIX:
        return False
    return tensor.shape[-1] == tensor.shape[-2] and bool(torch.equal(tensor, tensor.mT))


def _has(tensor: torch.Tensor, holds: Callable[..., torch.Tensor]) -> bool:
    """Say whether any value is below zero (torch.lt) or above it (torch.gt)."""
    return any(bool(holds(rows, 0).any()) for rows in _pieces(tensor))


def _is_not_negative(tensor: torch.Tensor) -> bool:
    """Whether no value is below zero, nor could be by chance of its sign."""
    return tensor.numel() * log(2) > -log(CHANCE) and not _has(tensor, torch.lt)


def _is_not_positive(tensor: torch.Tensor) -> bool:
    """The same above zero: decays and logarithms of shares."""
    enough = tensor.numel() * log(2) > -log(CHANCE)
    return enough and _has(tensor, torch.lt) and not _has(tensor, torch.gt)


def _is_shares(tensor: torch.Tensor) -> bool:
    """Whether every row is one of probabilities."""
    if tensor.dim() == 0 or tensor.shape[-1] < 2 or _has(tensor, torch.lt):
        return False
    off = (tensor.sum(dim=-1, dtype=torch.float64) - 1).abs().max()
    return bool(off <= WHOLE + 2 * torch.finfo(tensor.dtype).eps)


ORDERS = (partial(_is_ordered, holds=torch.ge), partial(_is_ordered, holds=torch.le))
PROMISES = (*ORDERS, _is_symmetric, _is_shares, _is_not_negative, _is_not_positive)
