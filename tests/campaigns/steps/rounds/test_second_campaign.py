"""A second campaign on a platform begins where the first one ended: it asks experience first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.sweep.loop import SweepWork
from campaigns.evaluator.contract import Job, Outcome, Report, Source
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult
from campaigns.models import Campaign, SweepPoint
from campaigns.proposers.learned import advice_for, spent_for
from campaigns.records.rounds import hypothesis_of
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.worker import WorkerContext
from knowledge.models import Adoption, Experience
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db(transaction=True)
V0 = """
constexpr int TILE = 8;
constexpr int UNROLL = 1;
extern "C" void solve(const float* x, float* y, int N) { y[0] = TILE * UNROLL * x[0]; }
"""
TILES = {8: 100, 16: 90, 32: 75}
UNROLLS = {1: 1.0, 2: 0.9, 4: 0.8}


def time_of(source: Source) -> Source:
    """The source with the time that its two numbers take: at best at 32 and 4."""
    tile, unroll = (
        int(found[1]) if (found := re.search(rf"{name} = (\d+)", source.text)) else 0
        for name in ("TILE", "UNROLL")
    )
    time = TILES.get(tile, 120) * UNROLLS.get(unroll, 1.2)
    return replace(source, text=f"time {round(time)}")


class NumbersJudge(cast.Judge):
    """Times a kernel by its two numbers; flags change nothing."""

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        incumbent = time_of(job.incumbent) if job.incumbent else None
        return super().evaluate(
            replace(job, candidate=time_of(job.candidate), incumbent=incumbent), beat
        )


def screen(
    service: object, job: Job, folder: Path, work: SweepWork, beat: Callable[[], None]
) -> None:
    """A fake of `run_sweep`: what the judge finds without noise."""
    while asked := work.ask(4):
        for number, source in asked:
            work.built(BuildResult(number, Outcome.PASSED))
            time_us = float(time_of(source).text.split()[1])
            times = {case.name: time_us for case in job.cases}
            work.screened(ScreenResult(number, Outcome.PASSED, times_us=times))
        beat()


@pytest.fixture
def judge() -> cast.Judge:
    return NumbersJudge()


@pytest.fixture
def bench(db: None, judge: cast.Judge) -> WorkerContext:
    return replace(cast.make_bench(judge), sweep=screen)


def run_one(folder: Path, bench: WorkerContext) -> Campaign:
    campaign = cast.make_campaign(folder, V0, max_rounds=16)
    return run_here(campaign.pk, bench, lambda message: None)


def tried(campaign: Campaign) -> list[tuple[int, str, str]]:
    rows = campaign.rounds.exclude(number=1).order_by("number")
    return [(row.number, row.hypothesis["strategy"], row.verdict.word) for row in rows]


def test_r38_the_second_reaches_the_best_without_a_search_and_says_why(
    tmp_path: Path, bench: WorkerContext
) -> None:
    first, second = (run_one(tmp_path / name, bench) for name in ("first", "second"))
    points = SweepPoint.objects.filter(sweep__round__campaign=first)
    assert time_of(first.incumbent.source).text == "time 60"
    assert second.incumbent.text == first.incumbent.text
    assert points.count() > 16
    assert not SweepPoint.objects.filter(sweep__round__campaign=second).exists()
    assert (second.incumbent.round.number, len(tried(second))) == (2, 1), tried(second)
    won = second.rounds.filter(verdict__word="accepted").exclude(number=1)
    for round_ in won:
        idea = hypothesis_of(round_)
        assert "Followed: " in idea.rationale
        assert [step.source for step in idea.searched] == [
            *("profile", "lessons", "experience", "experience", "catalogue")
        ]
        assert idea.searched[0].found.startswith("machine code: 2 calls of library functions")
        assert idea.searched[2].found.startswith("1 recommended: tune.space (worked in ")
        assert "tune.space" in idea.searched[4].found
        cited = Experience.objects.filter(uuid__in=idea.follows, campaign=first.pk)
        assert cited.exists()
        adopted = Adoption.objects.filter(campaign=second.pk, round=round_.number)
        assert set(adopted.values_list("entry", flat=True)) >= set(
            cited.values_list("pk", flat=True)
        )
    told = second.events.filter(kind="learned").order_by("pk")
    assert "recommended by experience: " in told[0].message
    assert not Adoption.objects.filter(campaign=first.pk).exists()


def test_r36_the_same_experiment_is_not_made_again(tmp_path: Path, bench: WorkerContext) -> None:
    first, second = (run_one(tmp_path / name, bench) for name in ("first", "second"))
    failed = Experience.objects.filter(campaign=first.pk, gain__lt=0.01)
    sources = {
        (row.hypothesis["strategy"], row.against.digest)
        for row in first.rounds.exclude(number=1).exclude(verdict__word="accepted")
    }
    again = [
        row
        for row in second.rounds.exclude(number=1)
        if (row.hypothesis["strategy"], row.against.digest) in sources
    ]
    assert failed.exists()
    assert again == [], (tried(first), tried(second))
    assert len(tried(second)) < len(tried(first))


def test_a_campaign_without_experience_is_told_nothing(
    tmp_path: Path, bench: WorkerContext
) -> None:
    campaign = cast.make_campaign(tmp_path, V0)
    for _ in range(3):
        cast.measure_all(campaign, bench)
    campaign = cast.fresh(campaign)
    assert (advice_for(campaign), spent_for(campaign)) == ((), ())
    assert not campaign.events.filter(kind__in=("learned", "lessons")).exists()
