"""How many calls make a burst, and in which order the two arms take turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

# A short burst is this share of the long one; their difference carries the time.
SHORT_SHARE = 8


@dataclass(frozen=True, slots=True)
class Lengths:
    """Calls in the short and in the long burst of one arm on one case."""

    short: int
    long: int

    def slope_us(self, short_s: float, long_s: float) -> float:
        """Per-call time in microseconds: what is the same in both bursts cancels."""
        return (long_s - short_s) / (self.long - self.short) * 1e6


def choose_lengths(call_s: float, burst_ms: float, most: int) -> Lengths:
    """Lengths whose difference takes about `burst_ms`, within `most` slots (at least 2)."""
    wanted = ceil(burst_ms / 1e3 / max(call_s, 1e-9))
    long = min(most, wanted + max(1, wanted // (SHORT_SHARE - 1)))
    long = max(2, long)
    return Lengths(max(1, min(long // SHORT_SHARE, long - 1)), long)


def shorten(lengths: Lengths, most: int) -> Lengths | None:
    """The same within `most` slots; None where those are too few for two lengths."""
    if most < 2:
        return None
    long = min(lengths.long, most)
    return Lengths(min(lengths.short, max(1, long // SHORT_SHARE)), long)


def calibrate(burst: Callable[[int], float], most: int) -> float:
    """Seconds per call, roughly: grow the burst until it outweighs its own overhead."""
    calls, before = 1, burst(1)
    while True:
        more = min(most, calls * 4)
        now = burst(more)
        if more == most or (now > 2 * before and now > 2e-3) or now > 20e-3:
            return max((now - before) / (more - calls), now / more / 20) if more > calls else now
        calls, before = more, now


def turns(blocks: int, arms: list[str]) -> Iterator[str]:
    """A B B A, `blocks` times; a lone arm takes as many turns as it would have had."""
    first, last = arms[0], arms[-1]
    for _ in range(blocks):
        yield from (first, last, last, first) if first != last else (first, first)
