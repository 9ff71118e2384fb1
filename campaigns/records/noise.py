"""The noise of a measurement: the floor its verdict stands on, and whether it is void (R7, R11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.evaluator.contract import CaseReport, Outcome, Report, Timing
from campaigns.models import Campaign, Evaluation, Event
from campaigns.models.kinds import DECIDING
from campaigns.models.transitions import PAUSABLE
from campaigns.records.campaigns import baseline_noise
from campaigns.records.cases import cases_of
from campaigns.records.evaluations import is_elsewhere
from campaigns.records.passports import state_of
from campaigns.rules.noise.device_gate import is_over
from campaigns.rules.noise.drift import OF_LOAD, Allowance, Disturbance, What, allowance, drifts
from campaigns.rules.noise.gain import LEAST_FLOOR, noise_floor
from campaigns.rules.noise.passport import allowed_by, fit, told, typical_us
from campaigns.rules.wording import share


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """value: the floor as a fraction. words: where it comes from. passport: its key, if any."""

    value: float
    words: str
    passport: int | None = None


def floor_for(
    campaign: Campaign, evaluation: Evaluation, report: Report | None = None
) -> NoiseFloor:
    """The floor for this measurement, by what was known of its worker when it began.

    report: of one that is not stored yet.

    Of several cases the noisiest decides: noise that a session shares does not average out. A
    passport that is stale, fails, or knows no kernel of such a length is named and not used; but
    one that fails never makes the floor a lower one, since what it fails by is this device's noise.
    """
    report = report or evaluation.facts
    arms = [case.incumbent or case.candidate for case in report.cases] if report else []
    return _floor(campaign, evaluation, arms)


def floor_ahead(evaluation: Evaluation) -> float:
    """The floor that it will be judged by, while it is measured; known from its incumbent's times.

    Measuring that ends by another floor misses gains between the two, or ends before one is clear.
    """
    judged = Evaluation.objects.filter(candidate=evaluation.against_id, kind__in=DECIDING)
    last = judged.filter(outcome=Outcome.PASSED).order_by("pk").last()
    report = last.facts if last else None
    wanted = cases_of(evaluation.campaign, evaluation.traits.level)
    arms = [case.candidate for case in report.cases if case.case in wanted] if report else []
    return _floor(evaluation.campaign, evaluation, arms).value


def _floor(campaign: Campaign, evaluation: Evaluation, arms: Sequence[Timing | None]) -> NoiseFloor:
    """arms: the incumbent of each case; one that was not timed leaves no fit."""
    worker = evaluation.worker
    state = state_of(worker, evaluation.started_at) if worker else None
    if state is None or state.passport is None:
        return _fallback(campaign, evaluation, "the worker has no noise passport")
    fits = [found for arm in arms if arm and (found := fit(state.lengths, typical_us(arm)))]
    if not fits or len(fits) < len(arms):
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


def _fallback(campaign: Campaign, evaluation: Evaluation, why: str) -> NoiseFloor:
    noise = baseline_noise(campaign)
    if noise is None:
        return NoiseFloor(LEAST_FLOOR, f"the least of {share(LEAST_FLOOR)}, because {why}")
    first = Evaluation.objects.filter(verdicts__round__campaign=campaign).order_by("pk").first()
    moved = first is not None and is_elsewhere(evaluation.card, first)
    where = " on another device" if moved else ""
    return NoiseFloor(noise.floor, f"measured in round 1{where}, v0 beside itself, because {why}")


def drift_under(evaluation: Evaluation, report: Report) -> tuple[Disturbance, ...]:
    """Why this report is void; empty where it is valid.

    What a device shows against itself is allowed it: by its passport where one holds and fits, else
    by what the campaign's own baseline showed. A busy host voids nothing where none is waited for.
    """
    if report.outcome is not Outcome.PASSED and not report.host_busy:
        return ()
    worker = evaluation.worker
    state = state_of(worker, evaluation.started_at) if worker else None
    # From the noise of v0's estimate on so many pairs to the spread of one sample.
    noise = baseline_noise(evaluation.campaign)
    fallback = allowance(noise.sigma * noise.pairs**0.5 if noise else 0.0)

    def allowed(case: CaseReport) -> Allowance:
        found = None
        if state is not None and not state.doubts and case.incumbent is not None:
            found = fit(state.lengths, typical_us(case.incumbent))
        return allowed_by(found, state.conditions) if state and found else fallback

    if report.outcome is Outcome.PASSED and never_waits():
        return tuple(one for one in drifts(report, allowed) if one.what is not What.LOAD)
    return drifts(report, allowed)


def never_waits() -> bool:
    """Say whether KOPT_GATE is OFF: measure at once, and repeat nothing because of noise."""
    return bool(settings.KOPT_GATE == "OFF")


def as_host_failure(report: Report, found: tuple[Disturbance, ...]) -> Report:
    """The report of a host that could not be measured on, for what has no campaign to pause."""
    untimed = tuple(replace(case, candidate=None, incumbent=None) for case in report.cases)
    return replace(report, outcome=Outcome.BROKEN_HOST, reason=sentence_of(found), cases=untimed)


def sentence_of(found: tuple[Disturbance, ...]) -> str:
    """What made a measurement void, in one sentence."""
    return f"Device or host did not stay the same: {'; '.join(map(str, found))}"


# One stationary but noisy evaluation in ten is void by chance (a few of a hundred cases); so many
# in a row are one in a hundred thousand, and then something is wrong with the device.
MOST_VOIDS = 5


def may_repeat(evaluation: Evaluation) -> bool:
    """Whether a void evaluation is measured again: always while its campaign can wait.

    What is measured about a closed round has bounded tries: no campaign waits for it.
    """
    waits = not evaluation.traits.is_after_the_round and evaluation.campaign.state in PAUSABLE
    return waits or voids_of(evaluation) + 1 < MOST_VOIDS


def voids_of(evaluation: Evaluation) -> int:
    """Void attempts at this evaluation so far."""
    return _void(evaluation).count()


def _void(evaluation: Evaluation) -> QuerySet[Evaluation]:
    same = Evaluation.objects.filter(candidate=evaluation.candidate, kind=evaluation.kind)
    return same.exclude(void="")


def _resumed(campaign: Campaign) -> Event | None:
    return campaign.events.filter(kind="resumed").order_by("pk").last()


def void_since_resumed(evaluation: Evaluation) -> list[Evaluation]:
    """Its void attempts since a person resumed its campaign, the first one first."""
    void = _void(evaluation).defer("report").order_by("pk")
    resumed = _resumed(evaluation.campaign)
    return list(void.filter(finished_at__gte=resumed.at) if resumed else void)


def needs_person(void: list[Evaluation]) -> bool:
    """Whether so many attempts in a row were void that a person has to look at the device.

    Load ends by itself, and nobody is asked about it for as long as a quiet host is waited for.
    """
    if not void:
        return False  # by the clock of another host it ended before it was resumed
    first, last = void[0], void[-1]
    if {one["what"] for one in last.void_reasons} <= OF_LOAD and first.finished_at:
        lasted = (last.finished_at or timezone.now()) - first.finished_at
        return is_over(lasted / timedelta(seconds=1))
    return len(void) % MOST_VOIDS == 0


def met_load(evaluation: Evaluation, kind: str) -> bool:
    """Whether it is to wait for a quiet host: an attempt met load since a person resumed it.

    kind: of the device. A person that resumes it wants it measured, however busy the host is.
    """
    of_load = OF_LOAD | {What.UNDECIDED} | ({What.TIMES} if kind == "cpu" else set())
    void = void_since_resumed(evaluation)
    return any(one["what"] in of_load for attempt in void for one in attempt.void_reasons)
