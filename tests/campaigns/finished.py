"""Campaigns of the tiny problem that many tests read: run to their end once a process.

Afterwards their rows are put back as they were, and their commits into the data folder of the test.
A test of how a campaign runs has it run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest
from django.conf import settings
from django.db import connection

from campaigns.models import Campaign
from campaigns.steps.lifecycle.run_here import run_here
from tests.campaigns.profiles import counted
from tests.campaigns.steps import cast
from tests.kept_rows import made_once

_commits: dict[Hashable, Path] = {}


def finished(
    parent: Path,
    rounds: Sequence[Sequence[str]],
    *,
    judge: Callable[[], cast.Judge] = cast.Judge,
    after: Callable[[Campaign], object] | None = None,
    kernel: str = "",
    **wish: object,
) -> Campaign:
    """The campaign with these texts in its rounds after the first, and what comes `after` its end.

    kernel: what was counted of each incumbent is what an H200 counted of that one of `known.cu`.
    Functions are told apart by themselves, so they are those of a module.
    """
    key = (str(rounds), judge, after, kernel, str(wish))

    def run() -> int:
        with pytest.MonkeyPatch.context() as patch:
            cast.set_the_scene(patch)
            script = cast.Script([list(texts) for texts in rounds])
            patch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
            if kernel:
                at = "campaigns.steps.measuring.evaluate.count_kernels"
                patch.setattr(at, lambda *asked: counted(kernel))
            made = cast.make_campaign(parent, **wish)
            ended = run_here(made.pk, cast.make_bench(judge()), lambda message: None)
            if after:
                after(ended)
        return made.pk

    # PostgreSQL adds no row in a later state.
    if connection.vendor != "sqlite":
        return Campaign.objects.get(pk=run())
    found = Campaign.objects.get(pk=made_once(key, ["knowledge", "campaigns"], run))
    commits = Path(settings.DATA_DIR) / "lineage"
    if not commits.exists():
        shutil.copytree(_commits[key], commits)
    elif key not in _commits:
        # In the folder of the session, which outlasts the test's own.
        _commits[key] = Path(mkdtemp(dir=parent.parent)) / "lineage"
        shutil.copytree(commits, _commits[key])
    return found
