"""The blocks of all cases, which take turns, and the looks at which they may end."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from campaigns.evaluator.contract import Case, Job, Look, Timer, mean_interval
from campaigns.evaluator.judge.timing.arm_timer import ArmTimer
from campaigns.evaluator.judge.timing.schedule import turns

INCUMBENT, CANDIDATE = "incumbent", "candidate"
Arms = Mapping[str, ArmTimer]
# A gain is absent when Student's interval with this two-sided error lies below the noise floor.
ABSENT = 0.1
Pair = tuple[float, float]


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
