"""A measurement under which device or host did not stay the same: void, and done again."""

from __future__ import annotations

from dataclasses import asdict

from campaigns.models import Evaluation, Void
from campaigns.models.event import record
from campaigns.records.round.measuring_drift import MOST_VOIDS, sentence_of, voids_of
from campaigns.rules.noise.drift import Disturbance
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause


def repeat_void(evaluation: Evaluation, found: tuple[Disturbance, ...]) -> None:
    """Store why it is void and queue the next attempt; after too many the campaign waits.

    Inside the caller's transaction.
    """
    campaign, round_ = evaluation.campaign, evaluation.candidate.round
    sentence = sentence_of(found)
    numbers = [asdict(one) | {"what": one.what.value} for one in found]
    Void.objects.create(evaluation=evaluation, sentence=sentence, found=numbers)
    evaluation.queue_again()
    message = f"round {round_.number}: measurement void and repeated: {sentence}"
    record(campaign, "measurement_void", message, round=round_, evaluation=evaluation.pk)
    if voids_of(evaluation) % MOST_VOIDS == 0:
        words = f"{MOST_VOIDS} measurements in a row are void; the campaign waits. Resume it when "
        ask_to_pause(campaign, f"{words}the device is steady again. {sentence}")
