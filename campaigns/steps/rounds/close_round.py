"""Close a judged round: keep or roll back, continue or stop; learn of it and commit it (R46).

Every accepted round becomes a git commit: first the commit, then its hash in the database. It all
comes from sealed records, so it can be run again after any crash and gives the same hashes. Nothing
of a campaign waits for it or fails with it: what goes wrong is an event, and is tried again after
the next accepted round and before the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone

from campaigns.lineage.git import LineageError
from campaigns.lineage.records import FAILED, branch_of, chain_of, uncommitted
from campaigns.lineage.repository import write
from campaigns.models import AbortReason, Campaign, CampaignState, Commit, Round, RoundState
from campaigns.models.event import record
from campaigns.models.transitions import move, stopping
from campaigns.records.campaigns import stop_policy_of
from campaigns.records.stop_history import history_of
from campaigns.reports.found import index_rounds
from campaigns.rules.stop.policy import should_stop
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.steps.measuring.baselines import request_baselines
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.rounds.ladder import Climb, climb
from campaigns.steps.rounds.learn import try_to_learn

# Triton says so of `tl.arange` and of shapes of blocks.
POWER_OF_TWO = "must be a power of 2"


def close_round(round_: Round) -> Next:
    """Close the round in one transaction: incumbent, state of the campaign, stop reason."""
    campaign, verdict = round_.campaign, round_.verdict
    accepted = verdict.word == VerdictWord.ACCEPTED
    if accepted:
        campaign.incumbent = round_.chosen
    ending, climbed = _ending(campaign, round_)
    with transaction.atomic():
        # The campaign is claimed first: a pause that came in between leaves the round to later.
        if not move(campaign, ending.pop("state"), incumbent=campaign.incumbent, **ending):
            return NOTHING
        if not move(round_, RoundState.CLOSED, closed_at=timezone.now()):
            transaction.set_rollback(True)
            return NOTHING
        kept = "kept; it is the incumbent now" if accepted else "rolled back to the incumbent"
        record(campaign, "round_closed", f"round {round_.number}: {kept}", round=round_)
        if climbed is None:
            record(campaign, "ended", ending["stop_sentence"], reason=ending["stop_reason"])
        elif climbed.rung is not None:
            record(campaign, "ladder", climbed.words, rung=climbed.rung)
        index_rounds(campaign, [round_])
        if not round_.traits.is_attempt:
            # Nobody is notified: a worker finds them once the search leaves a device idle.
            request_baselines(campaign)
    for follow in AFTER_CLOSING:
        follow(round_)
    return NOTHING if campaign.is_finished else AGAIN


def _ending(campaign: Campaign, round_: Round) -> tuple[dict[str, Any], Climb | None]:
    """The campaign's next state, and where the search ends also why (law 10).

    When it continues, a round without a gain is a step up the ladder (R48); None when it ends.
    """
    if not round_.traits.is_attempt and campaign.incumbent is None:
        return {
            "state": CampaignState.ABORTED,
            "stop_reason": AbortReason.BASELINE_FAILED,
            "stop_sentence": _why_no_baseline(round_.verdict.sentence),
            "finished_at": timezone.now(),
        }, None
    stop = should_stop(stop_policy_of(campaign), history_of(campaign))
    if stop:
        return stopping(stop), None
    climbed = climb(campaign)
    return {"state": climbed.state}, climbed


def _why_no_baseline(sentence: str) -> str:
    """What Triton refuses of other sizes is a property of v0, and no crash."""
    if POWER_OF_TWO not in sentence:
        return f"Baseline: {sentence}"
    return (
        "Baseline: v0 works with powers of two alone, and a hidden case has another size. List in "
        f"problem.toml, [check] free, the sizes that may be any number. Triton said: {sentence}"
    )


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


def _commit(round_: Round) -> None:
    if round_.verdict.word == VerdictWord.ACCEPTED:
        commit_accepted(round_.campaign)


# Only a closed round can no longer change, so that the same commit can be made again. What a crash
# leaves undone here `reconcile` learns, and the next accepted round or the end commits.
AFTER_CLOSING: tuple[Callable[[Round], object], ...] = (try_to_learn, _commit)
