"""The commands that measure a candidate again, away from its campaign."""

from __future__ import annotations

import shlex

from campaigns.models import Campaign, Candidate, Round


def reproduce_commands(
    campaign: Campaign, round_: Round, candidate: Candidate
) -> tuple[tuple[str, str], ...]:
    """Pairs of what a command does and the command itself."""
    name = f"round-{round_.number}.{candidate.file_name.rpartition('.')[2]}"
    evaluate = ["python", "manage.py", "evaluate", name]
    evaluate += ["--problem", f"campaigns/problems/{campaign.problem.slug}"]
    evaluate += ["--backend", campaign.backend]
    for case in campaign.cases:
        evaluate += ["--case", str(case)]
    shown = ["python", "manage.py", "round", "show", str(campaign.pk), str(round_.number), "--json"]
    return (
        ("Measure the downloaded source again", shlex.join(evaluate)),
        ("The same facts as data", shlex.join(shown)),
    )
