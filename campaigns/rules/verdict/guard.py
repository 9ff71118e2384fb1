"""Whether a candidate may win overall while one case loses (R13)."""

from __future__ import annotations

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
