"""Write a campaign's whole repository from its records (R46)."""

from __future__ import annotations

from campaigns.lineage.git import LineageError
from campaigns.lineage.records import branch_of, chain_of
from campaigns.lineage.repository import write
from campaigns.models import Campaign, Commit


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
