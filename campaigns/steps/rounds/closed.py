"""What is done of a closed round: found by a search, learned, and committed to git (R46).

Every accepted round becomes a git commit: first the commit, then its hash in the database. It all
comes from sealed records, so it can be run again after any crash and gives the same hashes. Nothing
of a campaign waits for it or fails with it: what goes wrong is an event, and is tried again after
the next accepted round and before the end.
"""

from __future__ import annotations

from collections.abc import Callable

from campaigns.lineage.git import LineageError
from campaigns.lineage.records import FAILED, branch_of, chain_of, uncommitted
from campaigns.lineage.repository import write
from campaigns.models import Campaign, Commit, Round
from campaigns.models.event import record
from campaigns.reports.found import round_rows
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.steps.rounds.learn import try_to_learn
from knowledge.search.index import upsert


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


def _index(round_: Round) -> None:
    upsert(round_rows(round_))


def _commit(round_: Round) -> None:
    if round_.verdict.word == VerdictWord.ACCEPTED:
        commit_accepted(round_.campaign)


# In the transaction that closes the round.
WITH_CLOSING: tuple[Callable[[Round], object], ...] = (_index,)
# Only a closed round can no longer change, so that the same commit can be made again. What a crash
# leaves undone here `reconcile` learns, and the next accepted round or the end commits.
AFTER_CLOSING: tuple[Callable[[Round], object], ...] = (try_to_learn, _commit)
