"""Every accepted round becomes a git commit: first the commit, then its hash in the database (R46).

It all comes from sealed records, so it can be run again after any crash and gives the same hashes.
Nothing of a campaign waits for it or fails with it: what goes wrong is an event, and is tried again
after the next accepted round and before the end.
"""

from __future__ import annotations

from campaigns.lineage.git import LineageError
from campaigns.lineage.records import FAILED, branch_of, chain_of, uncommitted
from campaigns.lineage.repository import write
from campaigns.models import Campaign, Commit
from campaigns.models.event import record


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


def rebuild(campaign: Campaign) -> list[Commit]:
    """Write the whole repository from records, and down what hashes are not yet on record.

    Raises LineageError; also when the records give another hash than the one that was recorded.
    """
    branch, links = branch_of(campaign), chain_of(campaign)
    if not links:
        return []
    hashes = write(campaign.pk, branch, [link.entry for link in links])
    commits = []
    for link, sha in zip(links, hashes, strict=True):
        # Two hosts may be here at once, each with its own repository: both have the same hash.
        values = {"branch": branch, "sha": sha, "message": link.entry.message}
        values |= {"source": link.source, "note": link.note}
        commit = link.commit or Commit.objects.get_or_create(round=link.round, defaults=values)[0]
        if commit.sha != sha:
            raise LineageError(
                f"round {link.round.number}: its records give {sha}, on record is {commit.sha}"
            )
        commits.append(commit)
    return commits
