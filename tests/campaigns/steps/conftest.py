"""The flow runs on fakes here: the work model, the ceilings, the judge and the proposer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns.models import Campaign
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast


@pytest.fixture(autouse=True)
def known_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case is 10 µs at best, by two cited ceilings."""
    cast.set_the_scene(monkeypatch)


@pytest.fixture
def judge() -> cast.Judge:
    return cast.Judge()


@pytest.fixture
def bench(db: None, judge: cast.Judge) -> WorkerContext:
    return cast.make_bench(judge)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., cast.Script]:
    """Put a scripted proposer in the place of every proposer."""

    def put(*rounds: list[str]) -> cast.Script:
        made = cast.Script(list(rounds))
        monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: made)
        return made

    return put


@pytest.fixture
def run(bench: WorkerContext, tmp_path: Path) -> Callable[..., Campaign]:
    """Run a campaign of the tiny problem to its end in this process."""

    def go(v0: str = "time 100", **policy: object) -> Campaign:
        campaign = cast.make_campaign(tmp_path, v0, **policy)
        return run_here(campaign.pk, bench, lambda message: None)

    return go
