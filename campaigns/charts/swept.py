"""The points of a sweep as its charts are given them, and the time axis that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_125, ticks_linear

# Above this ratio of the slowest to the fastest time the axis is logarithmic.
LOG_FROM = 3.0
# What is slower than this many times the best lies on the upper edge: it may be a hundred times.
MOST_TIMES_BEST, MOST_TIMES_SOURCE = 6.0, 1.5
MOST_DOTS = 500


@dataclass(frozen=True, slots=True)
class SweptPoint:
    """One variant. values: knob → its value in words. time_us: None for what failed.

    is_early: far behind, so only timed briefly; never the best.
    """

    number: int
    values: Mapping[str, str]
    time_us: float | None
    is_early: bool = False

    @property
    def ranked_us(self) -> float | None:
        return None if self.is_early else self.time_us


def time_scale(points: Iterable[SweptPoint], start: float, end: float) -> Scale | None:
    """The axis of the times in µs from start to end; None without a time."""
    listed = list(points)
    times = [p.time_us for p in listed if p.time_us]
    ranked = [p.ranked_us for p in listed if p.ranked_us] or times
    if not times:
        return None
    least = min(ranked)
    source = next((p.time_us for p in listed if p.number == 1 and p.time_us), least)
    high = min(max(times), max(MOST_TIMES_BEST * least, MOST_TIMES_SOURCE * source))
    if high > LOG_FROM * least:
        return Scale(ScaleKind.LOG, least / 1.15, high * 1.08, start, end)
    room = max(high - least, 0.02 * high) * 0.08
    return Scale(ScaleKind.LINEAR, least - 1.5 * room, high + room, start, end)


def time_ticks(scale: Scale, spacing: float) -> tuple[Tick, ...]:
    """At 1, 2, 5 times powers of ten on a long axis, else at round values."""
    found = ticks_125(scale, spacing) if scale.kind is ScaleKind.LOG else ()
    if len(found) > 1:
        return found
    return ticks_linear(scale, max(2, int(abs(scale.end - scale.start) / (1.5 * spacing))))


def height(scale: Scale, time_us: float) -> float:
    """Where a time lies; one beyond the axis on its edge."""
    return scale.position(min(max(time_us, scale.low), scale.high))


@dataclass(frozen=True, slots=True)
class Drawn:
    """The points that are drawn. all: how many there are; beyond: how many lie off the axis."""

    points: Sequence[SweptPoint]
    all: int
    beyond: int


def drawn_of(points: Sequence[SweptPoint], scale: Scale) -> Drawn:
    """At most 500: the fastest for one half of them, and an even share of the rest."""
    beyond = sum(1 for p in points if p.time_us and p.time_us > scale.high)
    if len(points) <= MOST_DOTS:
        return Drawn(points, len(points), beyond)
    ranked = sorted((p for p in points if p.ranked_us), key=lambda p: p.ranked_us or 0)
    kept = {point.number for point in ranked[: MOST_DOTS // 2]}
    rest = [p for p in points if p.number not in kept]
    room = MOST_DOTS - len(kept)
    kept |= {rest[at * len(rest) // room].number for at in range(min(room, len(rest)))}
    return Drawn([p for p in points if p.number in kept], len(points), beyond)


def dots(places: Iterable[tuple[float, float]]) -> str:
    """One path for all dots, each place once; its stroke's round ends draw them."""
    once = dict.fromkeys((round(x * 2) / 2, round(y * 2) / 2) for x, y in places)
    return "".join(f"M{x:g} {y:g}h0" for x, y in once)
