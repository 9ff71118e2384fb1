"""The blocks of all cases, which take turns, and the looks at which they may end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from campaigns.evaluator.contract import Case, Job, Look, Phase, Timer
from campaigns.evaluator.contract.job import INCUMBENT
from campaigns.evaluator.contract.looks import looks_at
from campaigns.evaluator.judge.timing.arm_timer import Arm, ArmTimer
from campaigns.evaluator.judge.timing.burst import run_burst
from campaigns.evaluator.judge.timing.mid_burst_probe import MidBurstProbe
from campaigns.evaluator.judge.timing.proof import WARM, set_up
from campaigns.evaluator.judge.timing.schedule import turns
from campaigns.evaluator.wire import Ask

Arms = Mapping[str, ArmTimer]
# By case (incumbent, candidate) times in µs.
Pairs = Mapping[str, list[tuple[float, float]]]
# Enough calls to see almost surely a fault in one of ten, within so many seconds.
CALLS, LIMIT_S = 48, 5.0
# The most seconds of one burst, about; it has the time limit of one call.
BURST_S = 0.5


def compare_arms(
    job: Job,
    timers: Mapping[str, Arms],
    turn_to: Callable[[Case], None],
    note: Callable[[Case, int], None],
    may_end: Callable[[Pairs, float, float], bool],
    left_s: Callable[[], float],
) -> list[Look]:
    """Measure block after block: one A B B A of every case, then a look at all of them.

    timers: all arms, or the only one, by case. turn_to: has the runners work on a case. note:
    called after so many blocks of a case, before and between which nothing is timed. may_end: of
    these pairs, at a look of this level, above this noise floor; of several candidates each has to
    allow it. left_s: until the evaluation has taken too long. Gives the looks that were taken, of
    which the last may have ended it. There are more blocks than the protocol's where its looks go
    on, nothing is decided yet, and time is left for as much again.
    """
    # Where one arm is a plain loop, device time decides, so both arms need it.
    traced = {
        name: any(arm.timer is Timer.LOOP for arm in arms.values()) for name, arms in timers.items()
    }
    compared = all(len(arms) > 1 for arms in timers.values())
    protocol, looks = job.protocol, list[Look]()
    # As many as begin: one that fails later leaves the others' errors as they are.
    planned = looks_at(protocol, max(1, len(pairs_of(timers)))) if compared else ()
    most = max([protocol.blocks, *(look.blocks for look in planned)])
    began = time.monotonic()
    for block in range(1, 1 + (most if compared else protocol.blocks_alone)):
        for case in job.cases:
            arms = timers[case.name]
            turn_to(case)
            if block == 1:
                note(case, 0)
            for name in turns(block, list(arms)):
                arms[name].take(traced=traced[case.name])
            note(case, block)
        look = next((one for one in planned if one.blocks == block), None)
        if look is None:
            continue
        looks.append(look)
        # Of a loop two clocks have to show a gain; so it has all blocks.
        if block < protocol.blocks and any(traced.values()):
            continue
        is_late = block >= protocol.blocks and left_s() < 2 * (time.monotonic() - began)
        if is_late or all(
            may_end(pairs, look.level, job.noise_floor) for pairs in pairs_of(timers).values()
        ):
            break
    return looks


def pairs_of(timers: Mapping[str, Arms]) -> Mapping[str, Pairs]:
    """By candidate that is left its samples with the incumbent's, as they were taken in turn."""
    first = next(iter(timers.values()))
    left = [name for name, arm in first.items() if name != INCUMBENT and not arm.has_left]
    return {
        name: {
            case: list(zip(arms[INCUMBENT].samples_us, arms[name].samples_us, strict=True))
            for case, arms in timers.items()
        }
        for name in left
    }


def rehearse(arm: Arm) -> None:
    """Make bursts that are proven but not timed, where a backend's times mean nothing on a device.

    A candidate that is right one call at a time may be wrong in a burst, or after many calls. Where
    nothing is timed, only these bursts can show it. They have random lengths, and each is tried by
    the runner first, as where bursts are timed.

    Raises what `run_burst` raises.
    """
    made, fit, began = 0, 1, time.monotonic()
    channel, probe = arm.channel, MidBurstProbe(arm.lane, arm.check, arm.overhead)
    while made < CALLS and time.monotonic() - began < LIMIT_S:
        calls = arm.context.supply.draw.randint(1, fit)
        since = time.monotonic()
        # The runner tries the burst, so its slots must hold valid inputs.
        set_up(arm.lane, calls, WARM)
        channel.phase = Phase.PREPARE
        channel.ask(Ask.PREPARE, (calls, False), arm.job.protocol.limits.prepare_s)
        channel.phase = Phase.BURST
        run_burst(arm.lane, calls)
        probe.calls = calls
        probe.maybe()
        made += 2 * calls
        per_call_s = (time.monotonic() - since) / (2 * calls)
        fit = max(1, min(arm.most, int(BURST_S / per_call_s)))
