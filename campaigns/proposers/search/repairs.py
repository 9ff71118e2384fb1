"""Repairs of a failed candidate: fewer flags, smaller numbers, a fallback for odd sizes (R17).

Each repair keeps the idea of its round: going back to the incumbent is not a repair.
"""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.evaluator.contract import Outcome, Source
from campaigns.proposers.base import Failure, Situation, Variant
from campaigns.proposers.dispatch.generate import dispatcher, given_integers
from campaigns.proposers.dispatch.parts import CannotSplit, DispatchPlan, Part
from campaigns.rules.verdict.predicate import Multiples
from campaigns.spaces.render import FLAG_SETS, RISKY_FLAG_SETS
from campaigns.syntax.tunables import Tunable, find_tunables, with_value

# What the dispatcher calls the candidate, so that it is known again: sizes are led round it once.
WHOLE = "whole_tiles"


def repairs(situation: Situation, failure: Failure) -> Iterator[Variant]:
    """Every repair that applies, the likeliest for this outcome first."""
    # Take optimising flags back that the incumbent does without, the last given first.
    backend = situation.backend
    sets = (*RISKY_FLAG_SETS.get(backend, ()), *FLAG_SETS.get(backend, ()))
    optional = {flag for one in sets for flag in one.flags} - set(situation.source.flags)
    flags = list(failure.source.flags)
    for flag in reversed(failure.source.flags):
        if flag in optional:
            flags.remove(flag)
            source = Source(failure.source.name, failure.source.text, tuple(flags))
            yield Variant(f"without {flag}", source, {**failure.params, "without": flag})
    if failure.outcome in (Outcome.WRONG_RESULT, Outcome.CRASHED):
        yield from _whole_sizes_only(situation, failure)
    yield from _smaller(situation, failure)


def _smaller(situation: Situation, failure: Failure) -> Iterator[Variant]:
    """The next smaller value of each number that this candidate added or raised, largest first."""
    before = _numbers(situation)
    for tunable in sorted(_brought(situation, failure), key=lambda t: -(t.value or 0)):
        now = tunable.value or 0
        value = now - 1 if tunable.name == "num_stages" else now // 2
        if value > before.get(tunable.name, 0):
            source = with_value(failure.source, tunable, value)
            label = f"{tunable.name} {value}"
            yield Variant(label, source, {**failure.params, tunable.name: value})


def _brought(situation: Situation, failure: Failure) -> list[Tunable]:
    """Numbers of the candidate that are larger than the incumbent's, or that it has not."""
    before = _numbers(situation)
    now = find_tunables(failure.source, situation.backend)
    return [t for t in now if t.value is not None and t.value > before.get(t.name, 0)]


def _numbers(situation: Situation) -> dict[str, int]:
    """Name → value of the incumbent's tunables; one that is left to the default counts as 0."""
    return {t.name: t.value or 0 for t in find_tunables(situation.source, situation.backend)}


def _whole_sizes_only(situation: Situation, failure: Failure) -> Iterator[Variant]:
    """The candidate where its tiles fit the sizes, the incumbent's own code elsewhere."""
    tiles = {t.value for t in _brought(situation, failure) if t.value and t.value > 1}
    is_led = any(f"namespace {WHOLE} {{" in source.text for source in failure.tried)
    if situation.backend not in ("cpp", "cuda") or not tiles or is_led:
        return
    step = max(tiles)
    try:
        sizes = sorted(given_integers(situation.backend, situation.source))
        if not sizes:
            return
        parts = Part("any_size", situation.source), Part(WHOLE, failure.source)
        when = Multiples(tuple(sizes), step)
        source = dispatcher(situation.backend, DispatchPlan(*parts, situation.source, when))
    except CannotSplit:
        return
    label = f"only where sizes are multiples of {step}"
    yield Variant(label, source, {**failure.params, "multiple_of": step})
