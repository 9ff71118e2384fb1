"""Do the judge's clock and the driver's tracer agree on the time of a call?

Near its power limit a card runs the same kernel 10 % slower a moment later. So both are compared in
bursts that take turns, and what both arms show alike is excused. The judge asks this to measure
again before it reports a doubt; the verdict asks it to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from campaigns.evaluator.contract.timing import Timer, Timing

# Device time leaves out the gaps between kernels, and differs a little from the clock besides.
SLACK = 0.05
# The most µs that launching adds to a call.
LAUNCH_US = 5.0


def pairs_of(timing: Timing) -> Sequence[tuple[float, float]]:
    """(burst µs, device µs) per call, of bursts in one state; empty where nothing was traced."""
    if timing.device_pairs:
        return [(pair.burst_us, pair.device_us) for pair in timing.device_pairs]
    if timing.timer is Timer.LOOP and len(timing.device_samples_us) == len(timing.samples_us):
        return list(zip(timing.samples_us, timing.device_samples_us, strict=True))
    return [] if timing.device_us is None else [(median(timing.samples_us), timing.device_us)]


def excess_us(timing: Timing, other: Timing | None, launch_us: float = LAUNCH_US) -> float:
    """How far beyond what is allowed burst and device time of one arm disagree; positive fails.

    other: the other arm; what it shows as well is excused. Raises StatisticsError without times.
    """
    device, drift = ratios(timing)
    far = [_beyond(timing, device, drift)]
    if other is not None:
        usual_device, usual_drift = ratios(other)
        far.append(_beyond(timing, device / usual_device, drift / usual_drift))
    burst_us = median(burst for burst, _ in pairs_of(timing))
    return min(far) * burst_us - launch_us - SLACK * burst_us


def ratios(timing: Timing) -> tuple[float, float]:
    """Device time, and the samples that decide, as shares of the time of the bursts beside."""
    pairs = pairs_of(timing)
    beside_us = median(burst for burst, _ in pairs)
    return median(device / burst for burst, device in pairs), median(timing.samples_us) / beside_us


def _beyond(timing: Timing, device: float, drift: float) -> float:
    """drift: below 1 the samples were faster than any burst beside a tracer."""
    # A plain loop also pays for every launch, so only its device time may be the smaller one.
    apart = device - 1 if timing.timer is Timer.LOOP else abs(device - 1)
    return max(apart, 1 - drift)
