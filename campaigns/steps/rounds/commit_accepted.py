"""Every accepted round becomes a git commit: first the commit, then its hash in the database (R46).

It all comes from sealed records, so it can be run again after any crash and gives the same hashes.
Nothing of a campaign waits for it or fails with it: what goes wrong is an event, and is tried again
after the next accepted round and before the end.
"""

from __future__ import annotations

from campaigns.lineage.git import LineageError
from campaigns.lineage.records import FAILED, uncommitted
from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.steps.rounds.rebuild import rebuild


def commit_accepted(campaign: Campaign) -> None:
    """Commit what is accepted and not committed yet; never raises for git or for a full disk."""
    missing = uncommitted(campaign)
    if not missing:
        return
    try:
        rebuild(campaign)
    except LineageError as error:
        rounds = ", ".join(map(str, missing))
        again = (
            f"tried again when one is accepted and at the end, or `campaign lineage {campaign.pk}`"
        )
        message = f"Accepted, but not committed: round {rounds}: {error} ({again})"
        # Said once: a step that fails for another reason is taken again and again.
        if not campaign.events.filter(kind=FAILED, message=message).exists():
            record(campaign, FAILED, message)
