"""The commits of a campaign as pages, reports and commands show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from campaigns.lineage.records import FAILED, accepted_rounds, branch_of
from campaigns.models import Campaign, Commit


@dataclass(frozen=True, slots=True)
class Lineage:
    """The accepted rounds as commits, the oldest first.

    missing: accepted rounds that are not committed yet. why: what stopped that, or when it is done.
    """

    branch: str
    commits: tuple[Commit, ...]
    missing: tuple[int, ...]
    why: str


def lineage_of(campaign: Campaign) -> Lineage:
    """Read the records; the repository itself is not read."""
    rounds = list(accepted_rounds(campaign).select_related("commit"))
    commits = tuple(round_.commit for round_ in rounds if hasattr(round_, "commit"))
    missing = tuple(round_.number for round_ in rounds if not hasattr(round_, "commit"))
    why = _why(campaign) if missing else ""
    branch = commits[0].branch if commits else branch_of(campaign)
    return Lineage(branch, commits, missing, why)


def _why(campaign: Campaign) -> str:
    last = campaign.events.filter(kind=FAILED).last()
    if last is not None:
        return last.message
    if campaign.is_finished:
        return f"`campaign lineage {campaign.pk}` commits what was accepted before kopt did so."
    return "It follows after the next accepted round, or at the end."


def commit_facts(commit: Commit | None) -> dict[str, Any] | None:
    """A commit as the commands print it; None where there is none."""
    if commit is None:
        return None
    return {
        "round": commit.round.number,
        "branch": commit.branch,
        "sha": commit.sha,
        "subject": commit.subject,
        "message": commit.message,
        "note": commit.note,
    }


def commit_line(commit: Commit) -> str:
    """One line for a list of commits."""
    return f"{commit.short}  {commit.subject}"
