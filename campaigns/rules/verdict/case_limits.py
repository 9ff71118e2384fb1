"""Which cases must be measured (R18), and whether one may lose where the candidate wins (R13).

Two levels of measuring: quick on representative cases, full on all of them. Only the set of cases
differs, never the harness. Within a level no case may be left out, and nothing is accepted on the
quick level: the verdict always depends on all cases.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from campaigns.rules.noise.gain import Gain, improved


class GuardPolicy(StrEnum):
    """How much a protected case may lose before the candidate is rejected."""

    DEFAULT = "default"
    STRICT = "strict"

    @property
    def limit(self) -> float:
        """The loss as a negative fraction."""
        return -0.03 if self is GuardPolicy.STRICT else -0.05

    @property
    def words(self) -> str:
        """The policy with its limit, for pages and commands."""
        most = f"{-100 * self.limit:.0f} %"
        return f"{self}: a round is rejected if a protected case loses more than {most}"


class CaseEffect(StrEnum):
    """The effect of a candidate on one case."""

    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    WARN = "warn"
    REJECT = "reject"


def case_effect(gain: Gain, floor: float, policy: GuardPolicy = GuardPolicy.DEFAULT) -> CaseEffect:
    """Judge one case: reject if its whole interval lies below the limit, warn below -floor."""
    if gain.high < policy.limit:
        return CaseEffect.REJECT
    if gain.gain < -floor:
        return CaseEffect.WARN
    return CaseEffect.IMPROVED if improved(gain, floor) else CaseEffect.UNCHANGED


class Level(StrEnum):
    """How much of a campaign's cases an evaluation measures."""

    QUICK = "quick"
    FULL = "full"


def representative(
    classes: Mapping[str, str], declared: Collection[str], skewed: Collection[str]
) -> tuple[str, ...]:
    """The cases of the quick level, in the order in which the campaign has them.

    classes: case → its config class, "" without class columns. For each class: the cases that the
    problem declares, or else its first case, and also a skewed one if there is any (R22). Without
    classes and representatives, all cases.
    """
    chosen = {case for case in classes if case in declared}
    if not chosen and not any(classes.values()):
        return tuple(classes)
    for name in filter(None, dict.fromkeys(classes.values())):
        own = [case for case, of in classes.items() if of == name]
        if not chosen & set(own):
            chosen.add(own[0])
    lopsided = [case for case in classes if case in skewed]
    if lopsided and not chosen & set(lopsided):
        chosen.add(lopsided[0])
    return tuple(case for case in classes if case in chosen)


def level_words(level: Level, measured: int, whole: int) -> str:
    """Such as "quick: 2 representative of 5 cases"; whole: the campaign's cases, 0 if unknown."""
    if not whole:
        return level.value
    if level is Level.FULL:
        return f"full: all {whole} case{'s' if whole > 1 else ''}"
    return f"quick: {measured} representative of {whole} cases"
