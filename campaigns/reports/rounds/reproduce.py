"""The commands that measure a candidate again, away from its campaign."""

from __future__ import annotations

import shlex

from campaigns.models import Campaign, Candidate, Round


def reproduce_commands(
    campaign: Campaign, round_: Round, candidate: Candidate
) -> tuple[tuple[str, str], ...]:
    """Pairs of what a command does and the command itself."""
    name = _file_name(round_.number, candidate)
    evaluate = [".venv/bin/python", "manage.py", "evaluate", name]
    evaluate += ["--problem", campaign.problem.slug]
    evaluate += ["--backend", campaign.backend]
    evaluate += [f"--flag={flag}" for flag in candidate.flags]
    if round_.against and round_.number > 1:
        evaluate += ["--against", _file_name(round_.against.round.number, round_.against)]
        evaluate += [f"--against-flag={flag}" for flag in round_.against.flags]
    for case in campaign.cases:
        evaluate += ["--case", str(case)]
    shown = [
        ".venv/bin/python",
        "manage.py",
        "round",
        "show",
        str(campaign.pk),
        str(round_.number),
        "--json",
    ]
    return (
        ("Measure the downloaded source again", shlex.join(evaluate)),
        ("The same facts as data", shlex.join(shown)),
    )


def _file_name(number: int, candidate: Candidate) -> str:
    """The name under which the round's page hands the source out."""
    return f"round-{number}.{candidate.file_name.rpartition('.')[2]}"
