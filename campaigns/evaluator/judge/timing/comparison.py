"""The blocks of all cases, which take turns, and the looks at which they may end."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from campaigns.evaluator.contract import Case, Job, Look, Phase, Timer, Timing, mean_interval
from campaigns.evaluator.judge.timing.arm_timer import Arm, ArmTimer
from campaigns.evaluator.judge.timing.burst import run_burst
from campaigns.evaluator.judge.timing.mid_burst_probe import MidBurstProbe
from campaigns.evaluator.judge.timing.prepared_slots import WARM, set_up
from campaigns.evaluator.judge.timing.schedule import turns
from campaigns.evaluator.wire import Ask

INCUMBENT, CANDIDATE = "incumbent", "candidate"
Arms = Mapping[str, ArmTimer]
# A gain is absent when Student's interval with this two-sided error lies below the noise floor.
ABSENT = 0.1
Pair = tuple[float, float]
# Calls of a burst follow each other in the candidate's process, which can find the next call's
# inputs. Fetching them early gains little in a longer call.
SHORT_CALL_US = 400.0
# Enough calls to see almost surely a fault in one of ten, within so many seconds.
CALLS, LIMIT_S = 48, 5.0
# The most seconds of one burst, about; it has the time limit of one call.
BURST_S = 0.5


class Comparison:
    """Measures block after block: one A B B A of every case, then a look at all of them.

    timers: both arms, or the only one, by case. turn_to: has both runners work on a case. note:
    called after so many blocks of a case, before and between which nothing is timed.
    """

    def __init__(
        self,
        job: Job,
        timers: Mapping[str, Arms],
        turn_to: Callable[[Case], None],
        note: Callable[[Case, int], None],
    ) -> None:
        self._job = job
        self._timers = timers
        self._turn_to = turn_to
        self._note = note
        # Where one arm is a plain loop, device time decides, so both arms need it.
        self._traced = {
            name: any(arm.timer is Timer.LOOP for arm in arms.values())
            for name, arms in timers.items()
        }
        self.looks: list[Look] = []

    def run(self) -> None:
        """Measure until a look ends it, or all blocks are measured."""
        compared = all(len(arms) > 1 for arms in self._timers.values())
        protocol = self._job.protocol
        for block in range(1, 1 + (protocol.blocks if compared else protocol.blocks_alone)):
            for case in self._job.cases:
                self._measure(case, block)
            if compared and self._ends(block):
                return

    def _measure(self, case: Case, block: int) -> None:
        arms = self._timers[case.name]
        self._turn_to(case)
        if block == 1:
            self._note(case, 0)
        for name in turns(1, list(arms)):
            arms[name].take(traced=self._traced[case.name])
        self._note(case, block)

    def _ends(self, block: int) -> bool:
        look = next((one for one in self._job.protocol.looks if one.blocks == block), None)
        if look is None:
            return False
        self.looks.append(look)
        # Of a loop two clocks have to show a gain; so it has all blocks.
        looped = any(self._traced.values())
        return not looped and may_end(self._pairs(), look.level, self._job.noise_floor)

    def _pairs(self) -> dict[str, list[tuple[float, float]]]:
        return {
            name: list(zip(arms[INCUMBENT].samples_us, arms[CANDIDATE].samples_us, strict=True))
            for name, arms in self._timers.items()
        }


# Whatever ends a comparison, the interval of a look is as wide as all looks together need
# (`campaigns.evaluator.contract.looks`); so this rule can cost power, and no certainty.
def may_end(pairs: Mapping[str, Sequence[Pair]], level: float, floor: float) -> bool:
    """Whether measuring more would hardly change what is concluded.

    pairs: by case (incumbent, candidate) times, equally many of each. level: the look's. floor: the
    least gain that counts. A gain is clear when its interval lies above the floor. A case that
    seems to lose although all together gain, or to gain although they do not, is measured on: it
    may be protected, or be worth a kernel of its own.
    """
    if any(time <= 0 for taken in pairs.values() for pair in taken for time in pair):
        return False
    logs = [[math.log(old / new) for old, new in taken] for taken in pairs.values()]
    together = [statistics.fmean(column) for column in zip(*logs, strict=True)]
    alone, least = [statistics.fmean(values) for values in logs], math.log1p(floor)
    if mean_interval(together, level).low > least:
        return min(alone) > -least
    return mean_interval(together, ABSENT).high < least and max(alone) < least


def short_call_caveats(timings: Mapping[str, Mapping[str, Timing]]) -> list[str]:
    """One sentence where the candidate's calls are short, or none; timings: by case and arm."""
    short = [
        case for case, arms in timings.items() if _median_us(arms["candidate"]) < SHORT_CALL_US
    ]
    if not short:
        return []
    return [
        f"Calls under {SHORT_CALL_US / 1e3:g} ms ({', '.join(short)}): a kernel may fetch the next "
        "call's inputs early; kopt does not measure that on a CPU."
    ]


def _median_us(timing: Timing) -> float:
    return statistics.median(timing.samples_us)


def rehearse(arm: Arm) -> None:
    """Make bursts that are proven but not timed, where a backend's times mean nothing on a device.

    A candidate that is right one call at a time may be wrong in a burst, or after many calls. Where
    nothing is timed, only these bursts can show it. They have random lengths, and each is tried by
    the runner first, as where bursts are timed.

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
