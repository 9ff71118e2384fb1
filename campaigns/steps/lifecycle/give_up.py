"""A step raised what nobody foresaw: record it, and after three times in a row end the campaign.

Without this the pulse would ring for the same step for ever. The three tries are for what passes by
itself (a lock, a full disk); what is left is our own fault and is said as such.
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
