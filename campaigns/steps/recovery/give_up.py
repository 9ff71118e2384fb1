"""Record an unexpected error of a step; after three in a row end the campaign.

Without this the heartbeat would repeat the same step for ever. Three tries cover what passes by
itself (a lock, a full disk); what remains is an error of kopt and is named as one.
"""

from __future__ import annotations

from campaigns.models import AbortReason, Campaign
from campaigns.models.event import record
from campaigns.steps.lifecycle.abort import abort
from campaigns.workers.notify import NOTHING, Next

TRIES = 3
KIND = "step_failed"


def give_up(campaign: Campaign, error: Exception) -> Next:
    """Record `error`; abort when the last `TRIES` events are all such failures."""
    said = (str(error).splitlines() or ["no message"])[0]
    what = f"{type(error).__name__}: {said}"
    record(campaign, KIND, f"The step after {campaign.doing!r} failed: {what}")
    last = list(campaign.events.order_by("-pk").values_list("kind", flat=True)[:TRIES])
    if last != [KIND] * TRIES or campaign.is_finished:
        return NOTHING
    sentence = f"kopt itself failed {TRIES} times at the step after {campaign.doing!r}: {what}"
    return abort(campaign, AbortReason.INTERNAL, sentence)
