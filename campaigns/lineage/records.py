"""Records → the chain of commits: which rounds, with which files, message and date."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from django.conf import settings
from django.db.models import QuerySet

from campaigns.lineage.formatting import formatted
from campaigns.lineage.git import LineageError
from campaigns.lineage.paths import branch_name
from campaigns.lineage.repository import PlannedCommit
from campaigns.lineage.story import story_of
from campaigns.models import Campaign, Commit, Round, RoundState
from campaigns.rules.target.intake import AUTO, intake_from
from campaigns.rules.verdict.decision import VerdictWord

# The kind of the event that says why a commit could not be made.
FAILED = "lineage_failed"
# Besides the kernel: what is needed to build and check it elsewhere.
DESCRIPTION = ("problem.toml", "ref.py")


@dataclass(frozen=True, slots=True)
class Link:
    """One accepted round and its commit to be. commit: the recorded one, or None.

    source: the text to commit, where that is not the candidate's own; else empty. note: why.
    """

    round: Round
    commit: Commit | None
    entry: PlannedCommit
    source: str
    note: str


def accepted_rounds(campaign: Campaign) -> QuerySet[Round]:
    """The rounds that have a commit, or should have one: the baseline first."""
    rows = campaign.rounds.filter(state=RoundState.CLOSED, verdict__word=VerdictWord.ACCEPTED)
    return rows.order_by("number")


def uncommitted(campaign: Campaign) -> list[int]:
    """The numbers of the accepted rounds without a commit on record."""
    rows = accepted_rounds(campaign).filter(commit__isnull=True)
    return list(rows.values_list("number", flat=True))


def branch_of(campaign: Campaign) -> str:
    """The branch of its first commit, else the requested one, else one made of names."""
    first = Commit.objects.filter(round__campaign=campaign).order_by("round__number").first()
    if first is not None:
        return first.branch
    chosen = intake_from(campaign.intake).git_branch
    if chosen != AUTO:
        return chosen
    names = (campaign.problem.op, campaign.backend, campaign.platform.slug)
    return branch_name(*names, campaign.created_at)


def chain_of(campaign: Campaign) -> list[Link]:
    """Every commit that the campaign should have, the oldest first. Raises LineageError."""
    rows = accepted_rounds(campaign).select_related("chosen", "commit", "verdict", "against__round")
    return [_link(campaign, round_) for round_ in rows]


def _link(campaign: Campaign, round_: Round) -> Link:
    round_.campaign = campaign
    commit: Commit | None = getattr(round_, "commit", None)
    try:
        return _recorded(round_, commit) if commit else _new(round_)
    except (AttributeError, KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
        # JSON columns hold what another version or an agent stored; the round goes on without a
        # commit.
        what = f"{type(error).__name__}: {error}"
        raise LineageError(f"round {round_.number}: its records cannot be read: {what}") from None


def _recorded(round_: Round, commit: Commit) -> Link:
    entry = _entry(round_, commit.source, commit.message)
    return Link(round_, commit, entry, commit.source, commit.note)


def _new(round_: Round) -> Link:
    source, note = "", ""
    if settings.KOPT_FORMAT == "ON" and round_.chosen:
        done = formatted(round_.chosen.file_name, round_.chosen.text)
        source, note = done.text if done.text != round_.chosen.text else "", done.note
    return Link(round_, None, _entry(round_, source, story_of(round_, note)), source, note)


def _entry(round_: Round, source: str, message: str) -> PlannedCommit:
    campaign, chosen = round_.campaign, round_.chosen
    if chosen is None or round_.closed_at is None:
        raise ValueError("chosen, closed_at: None; accepted: those of a closed round")
    files = {name: campaign.problem.files[name] for name in DESCRIPTION}
    files[campaign.problem.backends[campaign.backend]] = source or chosen.text
    return PlannedCommit(message, files, int(round_.closed_at.timestamp()))
