"""After rounds without a gain: the next measure of the ladder, and the stagnation review (R48)."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

from django.db import transaction

from campaigns.models import Campaign, CampaignState, Candidate, Review
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.proposers.search.catalogue import category_of, untried
from campaigns.proposers.situation import situation_of
from campaigns.records.evaluations import report_of
from campaigns.records.explained.profiles import explained_of
from campaigns.records.rounds import tried_in
from campaigns.records.stop_history import restart_of
from campaigns.records.verdicts import results_of, streak_of, verdicts_of
from campaigns.rules.noise.gain import geomean
from campaigns.rules.stop.ladder import Rung, directions, rung, tally
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.report_words import code_words, launch_words
from campaigns.rules.wording import duration
from campaigns.steps.notify import AGAIN, NOTHING, Next
from knowledge.experience.catalogue.names import Place
from knowledge.experience.catalogue.store import stored_catalogue
from knowledge.models.project import eyes_of_campaign
from knowledge.models.sight import seeing

NOT_READ = "it was measured before machine code was read, so nothing is known of it"


@dataclass(frozen=True, slots=True)
class Climb:
    """The next state and its reason; rung is None where the ladder gives no step."""

    state: CampaignState
    rung: Rung | None = None
    words: str = ""


def climb(campaign: Campaign) -> Climb:
    """The step of the ladder that the closed rounds lead to."""
    verdicts = verdicts_of(campaign)
    streak = streak_of(verdicts)
    if not streak:
        return Climb(CampaignState.PROFILE)
    found = rung(
        len(streak), Reason(verdicts[-1].reason), restart_settled=restart_of(campaign) is not None
    )
    if found is None:
        return Climb(CampaignState.PROFILE)
    count = "1 round was" if len(streak) == 1 else f"{len(streak)} rounds in a row were"
    head = f"{count} not accepted"
    if found is Rung.DIAGNOSE:
        said = "; ".join(f"round {v.round.number}: {v.sentence.rstrip('.')}" for v in streak)
        words = f"{tally(Reason(v.reason) for v in streak)} ({said})"
    elif found is Rung.MACHINE_CODE:
        words = f"read the incumbent's machine code next: {_machine_code(campaign.incumbent)}"
    elif found is Rung.COMPARE:
        words = _comparison(campaign)
    elif found is Rung.REVIEW:
        return Climb(CampaignState.STAGNATION, found, f"{head}: a review")
    else:
        return Climb(CampaignState.RESTART, found, f"{head}: a partial restart is offered")
    return Climb(CampaignState.PROFILE, found, f"{head}: {words}")


def _comparison(campaign: Campaign) -> str:
    """The incumbent and the fastest kernel of other campaigns on the same cases."""
    own = _time_us(campaign.incumbent)
    same = {name: getattr(campaign, name) for name in ("problem", "platform", "cases")}
    with seeing(eyes_of_campaign(campaign.pk)):
        others = Campaign.objects.at_work().filter(**same).exclude(pk=campaign.pk)
        rows = others.exclude(incumbent=None).select_related("incumbent__round__verdict")
        times = [(time, one.pk) for one in rows if (time := _time_us(one.incumbent)) is not None]
    if own is None or not times:
        return "no other campaign has measured these cases here, so there is nothing to compare"
    best, key = min(times)
    against = f"{duration(own)} here, {duration(best)} in campaign {key} (medians, not paired)"
    if best < own:
        return f"campaign {key} found a faster kernel: {against}"
    return f"no other campaign is faster: {against}"


def _machine_code(incumbent: Candidate | None) -> str:
    """What its instructions do, and by case what the driver's tracer reported of its launches."""
    verdict = getattr(incumbent.round, "verdict", None) if incumbent else None
    report = report_of(verdict.evaluation) if verdict and verdict.evaluation else None
    code = explained_of(incumbent).code if incumbent else None
    told = [
        f"{case.case}: {launch_words(case.candidate.launch)}"
        for case in (report.cases if report else ())
        if case.candidate and case.candidate.launch
    ]
    return "; ".join([code_words(code) if code else NOT_READ, *told])


def _time_us(candidate: Candidate | None) -> float | None:
    """The geometric mean of its cases' medians, as its verdict has them."""
    verdict = getattr(candidate.round, "verdict", None) if candidate else None
    times = [case.time.median for case in results_of(verdict) if case.time] if verdict else []
    return geomean(times) if times else None


def review(campaign: Campaign) -> Next:
    """Store the review, and gather the evidence anew; the proposer is shown its directions."""
    streak = streak_of(verdicts_of(campaign))
    strategies, platform = stored_catalogue(), campaign.platform
    tried = [idea.strategy for v in streak if (idea := tried_in(v.round))]
    recent = {category_of(name, strategies) for name in tried}
    place = Place(platform.slug, platform.target, platform.vendor)
    with seeing(eyes_of_campaign(campaign.pk)):
        ways = untried(situation_of(campaign), strategies, place)
    found = directions(ways, {one.value for one in recent if one})
    with transaction.atomic():
        if not move(campaign, CampaignState.PROFILE):
            return NOTHING
        named = "; ".join(way.named for way in found.ways) or "none"
        note = f" ({found.note})" if found.note else ""
        record(
            campaign,
            Review.KIND,
            f"directions not tried yet: {named}{note}",
            after=campaign.rounds.count(),
            streak=len(streak),
            failures=dict(Counter(v.reason for v in streak)),
            directions=[asdict(way) for way in found.ways],
            note=found.note,
        )
    return AGAIN
