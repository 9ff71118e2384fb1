"""The commits of a campaign, and the commands that measure a candidate again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from campaigns.lineage.records import FAILED, accepted_rounds, branch_of
from campaigns.models import Campaign, Candidate, Commit, Round
from campaigns.records.values import picked


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
    why = ""
    if missing and (last := campaign.events.filter(kind=FAILED).last()):
        why = last.message
    elif missing and campaign.is_finished:
        why = f"`campaign lineage {campaign.pk}` commits what was accepted before kopt did so."
    elif missing:
        why = "It follows after the next accepted round, or at the end."
    branch = commits[0].branch if commits else branch_of(campaign)
    return Lineage(branch, commits, missing, why)


def commit_facts(commit: Commit | None) -> dict[str, Any] | None:
    """A commit as the commands print it; None where there is none."""
    if commit is None:
        return None
    return picked(commit, "branch sha subject message note") | {"round": commit.round.number}


def commit_line(commit: Commit) -> str:
    """One line for a list of commits."""
    return f"{commit.short}  {commit.subject}"


def reproduce_commands(
    campaign: Campaign, round_: Round, candidate: Candidate
) -> tuple[tuple[str, str], ...]:
    """Pairs of what a command does and the command itself."""
    name = _file_name(round_.number, candidate)
    manage = [".venv/bin/python", "manage.py"]
    evaluate = [*manage, "evaluate", name, "--problem", campaign.problem.slug]
    evaluate += ["--backend", campaign.backend]
    evaluate += [f"--flag={flag}" for flag in candidate.flags]
    if round_.against and round_.number > 1:
        evaluate += ["--against", _file_name(round_.against.round.number, round_.against)]
        evaluate += [f"--against-flag={flag}" for flag in round_.against.flags]
    for case in campaign.cases:
        evaluate += ["--case", str(case)]
    shown = [*manage, "round", "show", str(campaign.pk), str(round_.number), "--json"]
    return (
        ("Measure the downloaded source again", shlex.join(evaluate)),
        ("The same facts as data", shlex.join(shown)),
    )


def _file_name(number: int, candidate: Candidate) -> str:
    """The name under which the round's page hands the source out."""
    return f"round-{number}.{candidate.file_name.rpartition('.')[2]}"
