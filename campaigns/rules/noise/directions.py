"""A forward and a backward direction make one step: its time counts, and both are shown (R14).

A problem that trains has two cases of each shape, one for each direction. A step takes as long as
both together, so the sums of their times are compared: the rate of a matrix product is 6 M N K over
that sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from campaigns.evaluator.contract.looks import Pair


class Direction(StrEnum):
    """Which half of a step a case is."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True, slots=True)
class Half:
    """Where a case belongs: the step by name, and which half of it."""

    step: str
    direction: Direction


Halves = Mapping[str, Half]


def both_halves(cases: Sequence[str], halves: Halves) -> dict[str, tuple[str, str]]:
    """Step → its (forward, backward) cases, for the steps that have both among `cases`."""
    found: dict[str, dict[Direction, str]] = {}
    for case in cases:
        if half := halves.get(case):
            found.setdefault(half.step, {})[half.direction] = case
    return {
        step: (named[Direction.FORWARD], named[Direction.BACKWARD])
        for step, named in found.items()
        if len(named) == len(Direction)
    }


def by_step(pairs: Mapping[str, Sequence[Pair]], halves: Halves) -> Mapping[str, Sequence[Pair]]:
    """The same times with both halves of a step added up; a case without its other half stays.

    Raises ValueError where halves have different numbers of pairs.
    """
    steps = both_halves(tuple(pairs), halves)
    joined = {case for named in steps.values() for case in named}
    found = {case: kept for case, kept in pairs.items() if case not in joined}
    for step, (forward, backward) in steps.items():
        both = zip(pairs[forward], pairs[backward], strict=True)
        found[step] = [(f[0] + b[0], f[1] + b[1]) for f, b in both]
    return found


def combined_rate(forward: tuple[float, float], backward: tuple[float, float]) -> float:
    """Work of a step over its time, from (work, rate) of each half; 6 / (2/F + 4/B) of a product.

    Raises ValueError for a rate that is not above zero.
    """
    for name, (_, rate) in (("forward", forward), ("backward", backward)):
        if not rate > 0:
            raise ValueError(f"{name}: a rate of {rate!r}; accepted: above zero")
    time = forward[0] / forward[1] + backward[0] / backward[1]
    return (forward[0] + backward[0]) / time


@dataclass(frozen=True, slots=True)
class Times:
    """Times of one round by direction, each by name of its step, in µs.

    A problem of one direction has all of its cases under forward.
    """

    forward: Mapping[str, float]
    backward: Mapping[str, float]


def times_by_step(times: Mapping[str, float], halves: Halves) -> Times:
    """Split the times of a round's cases by direction."""
    steps = both_halves(tuple(times), halves)
    if not steps:
        return Times(times, {})
    forward = {step: times[named[0]] for step, named in steps.items()}
    backward = {step: times[named[1]] for step, named in steps.items()}
    return Times(forward, backward)
