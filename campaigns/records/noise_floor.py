"""Which noise floor a verdict stands on: that of a fitting passport, else of the baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Report
from campaigns.models import Campaign, Evaluation
from campaigns.records.passports import PassportState, state_of
from campaigns.records.sessions import is_elsewhere
from campaigns.rules.noise.gain import LEAST_FLOOR, noise_floor
from campaigns.rules.noise.passport import Fit, fit, told, typical_us
from campaigns.rules.wording import share


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """value: the floor as a fraction. words: where it comes from. passport: its key, if any."""

    value: float
    words: str
    passport: int | None = None


def floor_for(campaign: Campaign, evaluation: Evaluation) -> NoiseFloor:
    """The floor for this measurement, by what was known of its worker when it began.

    Of several cases the noisiest decides: noise that a session shares does not average out. A
    passport that is stale, fails, or knows no kernel of such a length is named and not used; but
    one that fails never makes the floor a lower one, since what it fails by is this device's noise.
    """
    worker = evaluation.worker
    state = state_of(worker, evaluation.started_at) if worker else None
    if state is None or state.passport is None:
        return _fallback(campaign, evaluation, "the worker has no noise passport")
    fits = _fits(evaluation.facts, state)
    if fits is None:
        unknown = f"noise passport {state.passport.pk} knows no kernel of such a length"
        return _fallback(campaign, evaluation, state.words if state.doubts else unknown)
    worst = max(fits, key=lambda found: found.sigma)
    words = f"noise passport {state.passport.pk} of {state.passport.worker}, at {told(worst)}"
    own = NoiseFloor(noise_floor(worst.sigma), words, state.passport.pk)
    if not state.doubts:
        return own
    instead = _fallback(campaign, evaluation, state.words)
    if not state.failing or own.value <= instead.value:
        return instead
    more = f"though it fails, as that is more than the {share(instead.value)} of {instead.words}"
    return replace(own, words=f"{own.words}, {more}")


def _fits(report: Report | None, state: PassportState) -> list[Fit] | None:
    """One fit for each case that was timed; None where one is missing."""
    cases = report.cases if report else ()
    arms = [case.incumbent or case.candidate for case in cases]
    found = [fit(state.lengths, typical_us(arm)) if arm else None for arm in arms]
    fits = [one for one in found if one is not None]
    return fits if fits and len(fits) == len(arms) else None


def _fallback(campaign: Campaign, evaluation: Evaluation, why: str) -> NoiseFloor:
    floor = campaign.noise.get("floor")
    if floor is None:
        return NoiseFloor(LEAST_FLOOR, f"the least of {share(LEAST_FLOOR)}: {why}")
    first = Evaluation.objects.filter(verdicts__round__campaign=campaign).order_by("pk").first()
    moved = first is not None and is_elsewhere(evaluation.card, first)
    where = " on another device" if moved else ""
    return NoiseFloor(floor, f"v0 against itself in round 1{where}: {why}")
