"""Measure an accepted gain again on another device of the same model, when there is one.

No campaign waits for it, a finished one is measured too, and the incumbent does not change. When
the other device does not show the gain, a person has to answer.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Count

from campaigns.evaluator.contract import Outcome
from campaigns.models import (
    Campaign,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Standing,
    StandingWord,
    Worker,
)
from campaigns.models.campaign import at_work
from campaigns.records.evaluations import REPRODUCED_IN, Session, is_elsewhere, may_reproduce
from campaigns.records.judged_rounds import standard_of_round
from campaigns.records.noise import floor_for
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decide import decide_elsewhere
from campaigns.rules.verdict.decision import Reason
from campaigns.steps.measuring.claims import idle_workers
from campaigns.steps.measuring.standings import stand
from campaigns.steps.notify import Next

SETTLED = (StandingWord.REPRODUCED, StandingWord.NOT_REPRODUCED, StandingWord.UNTOLD)


def reproduce() -> list[tuple[Campaign, Next]]:
    """Judge what another device has measured, queue the next, and return which campaigns to notify.

    Run at worker start and a few times a minute; running it more often does no harm. One at a time
    on a platform, the newest first, so that campaigns find a free device.
    """
    reproductions = Evaluation.objects.filter(kind=EvaluationKind.REPRODUCE).select_related(
        "candidate__round__campaign__platform", "worker"
    )
    telling = [one for one in Outcome if not one.tells_nothing]
    done = reproductions.filter(state=EvaluationState.DONE, void="", outcome__in=telling)
    settled = Standing.objects.filter(word__in=SETTLED).values("round")
    for evaluation in done.exclude(candidate__round__in=settled):
        _judge(evaluation)
    # Platforms of which workers with different devices are alive.
    rows = Worker.objects.alive().exclude(card="").values("platform")
    several = rows.annotate(cards=Count("card", distinct=True)).filter(cards__gt=1)
    open_ones = reproductions.exclude(state=EvaluationState.DONE)
    for platform in several.values_list("platform", flat=True):
        workers = list(Worker.objects.alive().filter(platform=platform))
        if not open_ones.filter(candidate__round__campaign__platform=platform).exists():
            _queue(platform, workers)
    idle = list(idle_workers())
    return [
        (evaluation.campaign, Next(measure=(evaluation.pk,)))
        for evaluation in reproductions.filter(state=EvaluationState.QUEUED)
        if any(
            worker.platform_id == evaluation.campaign.platform_id
            and may_reproduce(evaluation, worker.card)
            for worker in idle
        )
    ]


def _judge(evaluation: Evaluation) -> None:
    """Store what it showed. Of two workers that do so at once the second one's row is refused."""
    round_ = evaluation.candidate.round
    verdict, report = round_.verdict, evaluation.facts
    gain, low, high = verdict.gain, verdict.gain_low, verdict.gain_high
    if report is None or gain is None or low is None or high is None:
        return
    accepted = Gain(gain, low, high, verdict.pairs)
    standard = standard_of_round(round_, floor_for(round_.campaign, evaluation))
    found = decide_elsewhere(report, standard, accepted)
    word = StandingWord.NOT_REPRODUCED
    if found.reason is Reason.PROMOTED:
        word = StandingWord.REPRODUCED
    elif found.reason is Reason.UNDECIDED or (
        found.reason is Reason.WITHIN_NOISE and standard.noise >= accepted.gain
    ):
        # A device whose own noise hides a gain of this size does not speak against it either.
        word = StandingWord.UNTOLD
    place = evaluation.worker.name if evaluation.worker else "another worker"
    sentence = f"On {place}: {found.sentence}"
    if word != StandingWord.REPRODUCED:
        sentence += f" Accepted was: {verdict.sentence}"
    try:
        with transaction.atomic():
            stand(round_, word, Session(evaluation, found), sentence)
    except IntegrityError:
        if not round_.standings.filter(word__in=SETTLED).exists():
            raise


def _queue(platform: int, workers: list[Worker]) -> None:
    """Queue the newest verified gain that one of these workers can confirm."""
    verified = Standing.objects.filter(
        at_work("round__campaign__"),
        word=StandingWord.VERIFIED,
        round__campaign__platform=platform,
        round__campaign__state__in=REPRODUCED_IN,
        round__campaign__pause_requested=False,
    )
    tried = Evaluation.objects.filter(kind=EvaluationKind.REPRODUCE).values("candidate")
    known = Standing.objects.filter(word__in=SETTLED).values("round")
    waiting = verified.exclude(evaluation__candidate__in=tried).exclude(round__in=known)
    claims = Standing.objects.filter(word=StandingWord.CLAIMED, round__in=waiting.values("round"))
    for claim in claims.select_related("evaluation__candidate__round").order_by("-pk").iterator():
        if any(is_elsewhere(worker.card, claim.evaluation) for worker in workers):
            Evaluation.objects.get_or_create(
                candidate=claim.evaluation.candidate,
                kind=EvaluationKind.REPRODUCE,
                attempt=1,
                defaults={"against": claim.evaluation.against},
            )
            return
