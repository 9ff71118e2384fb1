"""A measurement under which device or host did not stay the same: void, and done again."""

from __future__ import annotations

from dataclasses import asdict

from campaigns.models import Evaluation, Void
from campaigns.models.event import record
from campaigns.records.noise import (
    MOST_VOID_S,
    MOST_VOIDS,
    sentence_of,
    void_s,
    voids_of,
)
from campaigns.rules.noise.drift import Disturbance
from campaigns.rules.wording import minutes
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause


def repeat_void(evaluation: Evaluation, found: tuple[Disturbance, ...]) -> None:
    """Store why it is void and queue the next attempt; after too many, or too long, the campaign
    waits; not where torch is measured beside it.

    Inside the caller's transaction.
    """
    campaign, round_ = evaluation.campaign, evaluation.candidate.round
    sentence = sentence_of(found)
    numbers = [asdict(one) | {"what": one.what.value} for one in found]
    Void.objects.create(evaluation=evaluation, sentence=sentence, found=numbers)
    evaluation.queue_again()
    message = f"round {round_.number}: measurement void and repeated: {sentence}"
    record(campaign, "measurement_void", message, round=round_, evaluation=evaluation.pk)
    if evaluation.traits.is_torch:
        return
    count, spent_s = voids_of(evaluation), void_s(evaluation)
    if count % MOST_VOIDS == 0 or spent_s > MOST_VOID_S:
        many = f"{MOST_VOIDS} measurements in a row"
        if count % MOST_VOIDS:
            many = f"measurements of {minutes(spent_s)} minutes"
        words = f"{many} are void; the campaign waits. Resume it when "
        ask_to_pause(campaign, f"{words}the device is steady again. {sentence}")
