"""The stored JSON of a campaign as typed values: policy, goal, intake, noise, target, result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from campaigns.models import Campaign
from campaigns.rules.noise.gain import KIND, LEAST_FLOOR, Gain, noise_floor, stray
from campaigns.rules.stop.intake import Intake, intake_from
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.target.goal import Goal, goal_from
from campaigns.rules.target.roofline import share_of_floor


def stop_policy_of(campaign: Campaign) -> StopPolicy:
    """The limits that a confirmation froze. Raises msgspec.ValidationError for wrong types."""
    return msgspec.convert(campaign.stop_policy, StopPolicy)


def target_fraction(campaign: Campaign) -> float:
    """The share of the floor at which the search ends."""
    return stop_policy_of(campaign).target_fraction


def goal_of(campaign: Campaign) -> Goal:
    """The target that was asked for; a share of the floor where nobody said more."""
    return goal_from(campaign.goal, target_fraction(campaign))


def intake_of(campaign: Campaign) -> Intake:
    """The guard and the other stated options."""
    return intake_from(campaign.intake)


class BaselineNoise(msgspec.Struct, frozen=True):
    """How far an estimate of "no change at all" strays from zero: v0 compared with itself."""

    sigma: float
    floor: float
    pairs: int = 0
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    kind: str = ""


def noise_between(gain: Gain) -> BaselineNoise:
    """The noise that an A/A comparison shows."""
    sigma = stray(gain)
    floor = noise_floor(sigma)
    return BaselineNoise(sigma, floor, gain.pairs, gain.gain, gain.low, gain.high, gain.kind)


def baseline_noise(campaign: Campaign) -> BaselineNoise | None:
    """The noise of the campaign's baseline; None before it is judged."""
    return msgspec.convert(campaign.noise, BaselineNoise) if campaign.noise else None


def baseline_floor(campaign: Campaign) -> float:
    """Its noise floor as a fraction; the least floor before the baseline has set one."""
    noise = baseline_noise(campaign)
    return noise.floor if noise else LEAST_FLOOR


class CampaignResult(msgspec.Struct, frozen=True):
    """The incumbent against v0, measured side by side at the end; a gain of None was not measured.

    While v0 is the incumbent there is nothing to compare: a gain of 0.0 without bounds or pairs.
    cases: of both arms, as a verdict has them; none in old rows.
    """

    gain: float | None
    gain_low: float | None = None
    gain_high: float | None = None
    pairs: int | None = None
    interval: str | None = None
    baseline: str | None = None
    why: str | msgspec.UnsetType = msgspec.UNSET
    evaluation: int | msgspec.UnsetType = msgspec.UNSET
    cases: list[dict[str, Any]] = []

    @property
    def as_gain(self) -> Gain | None:
        """The comparison; None where there was none."""
        low, high = self.gain_low, self.gain_high
        if self.gain is None or low is None or high is None or not self.pairs:
            return None
        return Gain(self.gain, low, high, self.pairs, self.interval or KIND)

    @property
    def facts(self) -> dict[str, Any]:
        """Data that commands print."""
        names = ("gain", "gain_low", "gain_high", "pairs", "baseline")
        return {name: getattr(self, name) for name in names}


def stored_result(campaign: Campaign) -> CampaignResult:
    """The result as it is stored; empty before the end."""
    return msgspec.convert(campaign.result or {"gain": None}, CampaignResult)


def result_of(campaign: Campaign) -> Gain | None:
    """The incumbent against v0; None before the end, or where nothing was compared."""
    found = stored_result(campaign).as_gain
    return found and replace(found, name=f"gain:campaign:{campaign.pk}")


# The fields of a target that its row calls otherwise.
_STORED_NAMES = {
    "unknown": "missing",
    "bandwidths": "bandwidth",
    "computes": "compute",
    "lessers": "lesser",
    "busy": "busy_share",
    "assumed": "placeholders",
}


def target_of(campaign: Campaign) -> CampaignTarget:
    """Read `campaign.target`; one without cases before step 0. Raises msgspec.ValidationError."""
    if not campaign.target:
        return CampaignTarget(fraction=target_fraction(campaign))
    fields = {stored: name for name, stored in _STORED_NAMES.items()}
    known = {fields.get(name, name): value for name, value in campaign.target.items()}
    found = msgspec.convert(known, CampaignTarget)
    cases = {name: replace(case, case=name) for name, case in found.cases.items()}
    return replace(found, cases=cases)


def stored_target(target: CampaignTarget) -> dict[str, Any]:
    """A target as its campaign keeps it: of a case that has no floor nothing is said of one."""
    known = msgspec.to_builtins(target)
    for name, case in known["cases"].items():
        known["cases"][name] = {key: value for key, value in case.items() if value or value == 0}
    return {_STORED_NAMES.get(name, name): value for name, value in known.items()}


def share_of(times_us: Mapping[str, float], target: CampaignTarget) -> float | None:
    """The share of the floor reached over all cases; None where a time or a floor is unknown."""
    pairs = [
        (floor, time)
        for case, time in times_us.items()
        if (known := target.cases.get(case)) and (floor := known.floor_us)
    ]
    return share_of_floor(pairs) if pairs and len(pairs) == len(times_us) else None
