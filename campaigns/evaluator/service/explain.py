"""What explains the times of a measured case: for people, and for doubts of a verdict (R10).

It is asked and timed when the last sample is taken, by bursts of the judge's own, so that every
answer is proven. No sample changes by it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from campaigns.evaluator import tracer_answers
from campaigns.evaluator.contract import DevicePair, Moment, Timer, Timing, backends
from campaigns.evaluator.contract.job import INCUMBENT
from campaigns.evaluator.contract.timing import excess_us
from campaigns.evaluator.judge.timing.arm_timer import ArmTimer, positive
from campaigns.evaluator.judge.timing.schedule import BurstLengths
from campaigns.evaluator.service.repeat_bursts import with_repeats

# Samples of a time that explains and does not decide; the median counts.
EXPLAINING = 3
# How often clock and tracer are compared anew, each time in the state that the last one has left,
# before a disagreement counts.
TRIES = 3


def explained(
    arms: Mapping[str, ArmTimer],
    weights: tuple[str, ...],
    *,
    repeated: bool,
    faster: Collection[str],
    look: Callable[[], Moment],
) -> dict[str, Timing]:
    """The measured times of one case by arm, and what explains them.

    Called after all cases are timed: once a tracer is attached to a process, all its launches take
    longer. weights: inputs that act as such. repeated: whether to measure arms on inputs that they
    have seen. Of a lone arm no more is timed than clock and tracer in turn, and of one that is not
    `faster` nothing. look: the state of the card now.
    """
    whole = {INCUMBENT, *faster} if faster and len(arms) > 1 else set[str]()
    timings = {}
    for name, timer in arms.items():
        with timer.arm.channel.turn():
            if not timer.has_left:
                timings[name] = _timing(timer, compared=name in whole)
    traced = [name for name in timings if name in (whole or arms)]
    timings |= _beside_tracer({name: arms[name] for name in traced}, timings, look)
    for name in whole & timings.keys():
        with arms[name].arm.channel.turn():
            if not arms[name].has_left:
                timings[name] = _launched_alone(arms[name], timings[name])
    if repeated and whole:
        timings |= with_repeats({n: arms[n] for n in timings if n in whole}, timings, weights)
    return timings


def _timing(timer: ArmTimer, *, compared: bool) -> Timing:
    """compared: whether to time warm bursts as well."""
    arm, nodes = timer.arm, timer.nodes
    warm_us = _warm_us(timer) if compared else None
    device_us, event_us = timer.profile()
    backend, source = arm.job.arms[arm.channel.name]
    told = tracer_answers.told(
        timer.ask,
        arm.context.layout,
        (backends.get(backend).kernels(source.text), arm.job.own_kernels),
        seen=device_us is not None,
    )
    return Timing(
        samples_us=timer.believed_us,
        long_calls=timer.lengths.long,
        short_calls=timer.lengths.short,
        timer=timer.timer,
        nodes=nodes,
        device_us=device_us,
        device_pairs=(),
        device_samples_us=tuple(timer.device_us),
        event_us=event_us,
        warm_us=warm_us,
        cpu_us=positive(statistics.median(timer.cpu_us or (0.0,))),
        **told,
    )


def _beside_tracer(
    arms: Mapping[str, ArmTimer], timings: Mapping[str, Timing], look: Callable[[], Moment]
) -> dict[str, Timing]:
    """The same with bursts and traced bursts in turn, arm after arm; not of plain loops.

    Those have a traced burst behind every sample.
    """
    graphs = {name: arm for name, arm in arms.items() if arm.timer is Timer.GRAPH}
    found = {name: timings[name] for name in graphs if timings[name].device_us is not None}
    for _ in range(TRIES):
        pairs: dict[str, list[DevicePair]] = {name: [] for name in found}
        for _ in range(EXPLAINING):
            for name in pairs:
                with arms[name].arm.channel.turn():
                    if not arms[name].has_left:
                        pairs[name].append(arms[name].beside_trace(look))
        found = {name: _with_pairs(timings[name], taken) for name, taken in pairs.items() if taken}
        if not any(excess_us(one, found.get(INCUMBENT)) > 0 for one in found.values()):
            break
    return found


def _with_pairs(timing: Timing, pairs: list[DevicePair]) -> Timing:
    device_us = statistics.median(pair.device_us for pair in pairs)
    return replace(timing, device_us=device_us or timing.device_us, device_pairs=tuple(pairs))


def _launched_alone(timer: ArmTimer, timing: Timing) -> Timing:
    """The same with the time of calls outside of a graph; the runner cannot go back to one."""
    if timer.timer is not Timer.GRAPH:
        return timing
    timer.as_loop()
    return replace(timing, eager_us=_median_us(timer, cold=True))


def _warm_us(timer: ArmTimer) -> float | None:
    """Time of a call with warm caches; None where fewer than two calls fit into them."""
    before = timer.lengths
    lengths = shorten(before, timer.arm.warm)
    if lengths is None:
        return None
    timer.lengths = lengths
    timer.prepare_lengths()
    found = _median_us(timer, cold=False)
    timer.lengths = before
    return found


def _median_us(timer: ArmTimer, *, cold: bool) -> float | None:
    pairs = [timer.pair(cold=cold) for _ in range(EXPLAINING)]
    return positive(statistics.median(timer.lengths.slope_us(*pair) for pair in pairs))


def shorten(lengths: BurstLengths, most: int) -> BurstLengths | None:
    """The same within `most` slots; None where those are too few for two lengths."""
    if most < 2:
        return None
    long = min(lengths.long, most)
    return BurstLengths(max(1, lengths.short * long // lengths.long), long)
