"""How many calls make a burst, and in which order the arms take turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil

from campaigns.evaluator.contract.job import INCUMBENT

# A short burst has one in so many calls of the long one; their difference gives the time.
SHORT_SHARE = 8
# Where calls are made by threads of a CPU, these may be slow until all have woken: the short burst
# lasts that long, so that the difference is free of it, but for calls so short that these are too
# many. And a host disturbs a call now and then, so the difference has a few at the least, unless it
# were so many times as long.
WAKING_S, MOST_WAKING, FEW_CALLS, LONGER = 10e-3, 64, 10, 4
# How long the proof of one burst may take, and the least calls of a burst all the same.
PROOF_S, LEAST_PROVEN = 0.5, 16
# Arms whose calls take about as long as each other's, within this ratio, get bursts of one length.
ALIKE = 1.5
# How many times as many calls the next burst has, while lengths are sought.
STEP = 8
# A short burst that leaves a larger share of a call's time unexplained does not fit the long one.
UNEXPLAINED = 1.1


@dataclass(frozen=True, slots=True)
class BurstLengths:
    """Calls in the short and in the long burst of one arm on one case."""

    short: int
    long: int

    def slope_us(self, short_s: float, long_s: float) -> float:
        """Per-call time in microseconds: overhead that is the same in both bursts cancels."""
        return (long_s - short_s) / (self.long - self.short) * 1e6

    def time_us(self, short_s: float, long_s: float, allowed_s: float) -> tuple[float, bool]:
        """Per-call time in microseconds, and whether the short burst fits the long one.

        It is the slope, but at least the long burst's time per call less the largest possible
        overhead, `allowed_s`. So being slow in the short burst gains nothing.
        """
        slope_us, least_us = self.slope_us(short_s, long_s), (long_s - allowed_s) / self.long * 1e6
        return max(slope_us, least_us), slope_us > 0 and least_us <= UNEXPLAINED * slope_us


def choose_lengths(
    call_s: float, burst_ms: float, most: int, *, on_cpu: bool = False
) -> BurstLengths:
    """Lengths whose difference takes about `burst_ms` or more, within `most` slots.

    With one slot the short burst makes no call.
    """
    call_s, burst_s = max(call_s, 1e-9), burst_ms / 1e3
    wanted = ceil(burst_s / call_s)
    short = max(1, wanted // (SHORT_SHARE - 1))
    if on_cpu:
        wanted = max(wanted, min(FEW_CALLS, int(LONGER * burst_s / call_s)))
        short = max(short, min(MOST_WAKING, ceil(WAKING_S / call_s)))
    return _fitting(short, min(most, max(2, wanted + short)), on_cpu)


def _fitting(short: int, long: int, on_cpu: bool) -> BurstLengths:
    most_short = max(1, long // (2 if on_cpu else SHORT_SHARE))
    return BurstLengths(min(short, most_short, long - 1), long)


def agree(calls_s: Mapping[str, float]) -> Mapping[str, float]:
    """By arm the call time for which its lengths are chosen; calls_s: as calibrated.

    Overhead grows with a burst's length, so arms similar to the incumbent get equal lengths.
    """
    to_s = calls_s.get(INCUMBENT, min(calls_s.values()))
    alike = [one_s for one_s in calls_s.values() if max(one_s, to_s) <= ALIKE * min(one_s, to_s)]
    return {name: min(alike) if one_s in alike else one_s for name, one_s in calls_s.items()}


def lengthen(
    lengths: BurstLengths, long_s: float, burst_ms: float, most: int, *, on_cpu: bool = False
) -> BurstLengths | None:
    """Longer bursts where the long one takes at most half of `burst_ms`; else None.

    long_s: time of its calls. A runner that was slow while lengths were chosen would otherwise be
    measured by too few calls.
    """
    if long_s > burst_ms / 2e3 or lengths.long >= most:
        return None
    wanted = choose_lengths(long_s / lengths.long, burst_ms, most, on_cpu=on_cpu)
    # In steps, since one burst may have been short by mistake.
    long = min(max(wanted.long, 2 * lengths.long), 8 * lengths.long, most)
    return _fitting(wanted.short, long, on_cpu)


def calls_to_prove(most: int, proof_s: float) -> int:
    """How many of `most` calls can be proven within PROOF_S.

    proof_s: of inputs and reference for one call. Proving all calls of a burst with a slow
    reference (Python loops) could take longer than an evaluation may last.
    """
    return min(most, max(LEAST_PROVEN, int(PROOF_S / max(proof_s, 1e-9))))


def calibrate(burst: Callable[[int], float], most: int) -> float:
    """Seconds per call, roughly: grow the burst until it outweighs its own overhead."""
    calls, before = 1, burst(1)
    while True:
        more = min(most, calls * STEP)
        now = burst(more)
        if more == most or (now > 2 * before and now > 2e-3) or now > 20e-3:
            return max((now - before) / (more - calls), now / more / 20) if more > calls else now
        calls, before = more, now


def turns(block: int, arms: list[str]) -> list[str]:
    """A B B A; a lone arm takes as many turns as it would have had.

    Of more arms A B C C B A, so that a drift favours none; and each block begins with another one,
    since the two at either end follow themselves.
    """
    at = block % len(arms) if len(arms) > 2 else 0
    order = arms[at:] + arms[:at]
    return order + order[::-1]
