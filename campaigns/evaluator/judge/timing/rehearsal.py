"""Bursts that are proven but not timed, for a backend whose times mean nothing on this device.

A candidate that is right one call at a time may be wrong in a burst, or after many calls. Where
nothing is timed, only these bursts can show it.
"""

from __future__ import annotations

import time

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.judge.integrity.mid_burst_probe import MidBurstProbe
from campaigns.evaluator.judge.timing.arm_timer import Arm
from campaigns.evaluator.judge.timing.burst import run_burst
from campaigns.evaluator.judge.timing.prepared_slots import WARM, set_up
from campaigns.evaluator.wire import Ask

# Enough calls to see almost surely a fault in one of ten, within so many seconds.
CALLS, LIMIT_S = 48, 5.0
# The most seconds of one burst, about; it has the time limit of one call.
BURST_S = 0.5


def rehearse(arm: Arm) -> None:
    """Make bursts of random lengths, each tried by the runner first, as where bursts are timed.

    Raises what `run_burst` raises.
    """
    made, fit, began = 0, 1, time.monotonic()
    probe = MidBurstProbe(arm.context, arm.channel, arm.slots, arm.check, arm.overhead)
    while made < CALLS and time.monotonic() - began < LIMIT_S:
        calls = arm.context.supply.draw.randint(1, fit)
        since = time.monotonic()
        _prepare(arm, calls)
        arm.channel.phase = Phase.BURST
        run_burst(arm.context, arm.channel, arm.slots, calls)
        probe.calls = calls
        probe.maybe()
        made += 2 * calls
        per_call_s = (time.monotonic() - since) / (2 * calls)
        fit = max(1, min(arm.most, int(BURST_S / per_call_s)))


def _prepare(arm: Arm, calls: int) -> None:
    # The runner tries the burst, so its slots must hold valid inputs.
    set_up(arm.context, arm.channel, arm.slots, calls, WARM)
    arm.channel.phase = Phase.PREPARE
    arm.channel.ask(Ask.PREPARE, (calls, False), arm.job.protocol.limits.prepare_s)
