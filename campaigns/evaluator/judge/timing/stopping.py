"""Whether a comparison may end at a look: its gain is clear, or clearly absent.

Whatever ends it, the interval of a look is as wide as all looks together need
(`campaigns.evaluator.contract.looks`); so this rule can cost power, and no certainty.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from campaigns.evaluator.contract import mean_interval

# A gain is absent when Student's interval with this two-sided error lies below the noise floor.
ABSENT = 0.1

Pair = tuple[float, float]


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
