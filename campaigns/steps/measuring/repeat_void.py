"""A measurement under which device or host did not stay the same: void, and done again."""

from __future__ import annotations

from dataclasses import asdict

from campaigns.models import Campaign, Evaluation, Void
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, claim
from campaigns.records.round.measuring_drift import MOST_VOIDS, sentence_of, voids_of
from campaigns.rules.noise.drift import Disturbance


def repeat_void(evaluation: Evaluation, found: tuple[Disturbance, ...]) -> None:
    """Store why it is void and queue the next attempt; after too many the campaign waits.

    Inside the caller's transaction.
    """
    campaign, round_ = evaluation.campaign, evaluation.candidate.round
    sentence = sentence_of(found)
    numbers = [asdict(one) | {"what": one.what.value} for one in found]
    Void.objects.create(evaluation=evaluation, sentence=sentence, found=numbers)
    Evaluation.objects.create(
        candidate=evaluation.candidate,
        against=evaluation.against,
        kind=evaluation.kind,
        attempt=evaluation.attempt + 1,
    )
    message = f"round {round_.number}: measurement void and repeated: {sentence}"
    record(campaign, "measurement_void", message, round=round_, evaluation=evaluation.pk)
    if voids_of(evaluation) % MOST_VOIDS == 0:
        _wait(campaign, sentence)


def _wait(campaign: Campaign, sentence: str) -> None:
    asked = Campaign.objects.filter(pk=campaign.pk, state__in=PAUSABLE, pause_requested=False)
    if claim(asked, pause_requested=True):
        words = f"{MOST_VOIDS} measurements in a row are void; the campaign waits. Resume it when "
        record(campaign, "pause_requested", f"{words}the device is steady again. {sentence}")
