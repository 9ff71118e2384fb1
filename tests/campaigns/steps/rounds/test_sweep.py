"""A round that is a search: points become rows, and the best ones go to one trial together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from campaigns.devices.sweep.loop import SweepBroken, SweepWork
from campaigns.evaluator.contract import Job, Outcome, Report, Source
from campaigns.evaluator.contract.stream import BuildFacts, BuildResult, ScreenResult
from campaigns.models import Campaign, Evaluation, EvaluationKind, Sweep, SweepPoint
from campaigns.records.evaluations import BESIDE
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState
from campaigns.steps.lifecycle import run_here as lifecycle
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring import waits
from knowledge.models import Experience
from tests.campaigns.steps import cast

V0 = """constexpr int TILE = 64;
extern "C" void solve(const float* x, float* y, int N) { y[0] = x[0] * TILE; }
"""
# What the screen says of a value, and what a trial does.
SCREENED = {16: 20, 32: 50, 64: 100, 128: 90}
TRIED = {16: "wrong", 32: "time 50", 64: "time 100", 128: "time 90"}


def tile(source: Source) -> int:
    found = re.search(r"TILE = (\d+)", source.text)
    assert found is not None
    return int(found[1])


class KnobJudge(cast.Judge):
    """Finds in a trial what `TRIED` says of the knob's value. breaks: trials that a host breaks."""

    breaks = 0

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        def told(source: Source) -> Source:
            return replace(source, text=TRIED.get(tile(source), "time 300"))

        old = told(job.incumbent) if job.incumbent else None
        rivals = tuple(map(told, job.rivals))
        if rivals and self.breaks:
            self.breaks -= 1
            return replace(
                super().evaluate(job, beat), outcome=Outcome.BROKEN_HOST, cases=(), rivals=()
            )
        seen = replace(job, candidate=told(job.candidate), incumbent=old, rivals=rivals)
        return super().evaluate(seen, beat)


def screen(
    service: object, job: Job, folder: Path, work: SweepWork, beat: Callable[[], None]
) -> None:
    """A fake of `run_sweep`: a value out of `SCREENED` does not build."""
    while asked := work.ask(4):
        for number, source in asked:
            us = SCREENED.get(tile(source))
            if us is None or source.flags:
                work.built(BuildResult(number, Outcome.BUILD_FAILED, "error: too much <b>"))
                continue
            work.built(BuildResult(number, Outcome.PASSED, facts=BuildFacts(registers=40)))
            times = {case.name: float(us) for case in job.cases}
            work.screened(ScreenResult(number, Outcome.PASSED, times_us=times))
        beat()


@pytest.fixture
def sweep_run(db: None, tmp_path: Path) -> Callable[..., Campaign]:
    """Run a campaign whose kernel has one knob, with a fake screen."""

    def go(
        how: Callable[..., None] = screen,
        rounds: int = 2,
        v0: str = V0,
        judge: KnobJudge | None = None,
        **looks: Any,
    ) -> Campaign:
        bench = replace(cast.make_bench(judge or KnobJudge()), sweep=how, **looks)
        folder = Path(mkdtemp(dir=tmp_path))
        campaign = cast.make_campaign(folder, v0, max_rounds=rounds)
        return run_here(campaign.pk, bench, lambda message: None)

    return go


def decided(campaign: Campaign) -> list[tuple[int, str, str]]:
    """What was tried in full in the search's round: value, outcome, and beside how many others."""
    of_round = Evaluation.objects.filter(candidate__round__campaign=campaign)
    trials = of_round.filter(candidate__round__number=2, kind=EvaluationKind.DECIDE)
    return [
        (tile(e.candidate.source), e.outcome, e.report["environment"].get(BESIDE, ""))
        for e in trials
    ]


def test_the_best_points_go_to_one_trial_and_the_best_of_those_is_judged(sweep_run) -> None:
    judge = KnobJudge()
    campaign = sweep_run(judge=judge)
    round_ = campaign.rounds.get(number=2)
    assert round_.hypothesis["strategy"] == "tune.space"
    assert [c.label for c in round_.candidates.all()[:3]] == ["as it is", "TILE 16", "TILE 32"]
    assert decided(campaign) == [
        (16, "wrong_result", "2"),
        (32, "passed", "2"),
        (128, "passed", "2"),
    ]
    assert [len(job.rivals) for job in judge.jobs if job.rivals] == [2]
    # The second session has the best one alone.
    again = Evaluation.objects.get(candidate=round_.chosen, kind=EvaluationKind.REMEASURE)
    assert again.report["rivals"] == []
    assert round_.verdict.word == "accepted"
    assert round_.chosen.params["TILE"] == 32
    assert tile(campaign.incumbent.source) == 32


def test_one_that_was_behind_another_on_the_screen_may_be_the_best(sweep_run, monkeypatch) -> None:
    monkeypatch.setitem(TRIED, 128, "time 40")
    campaign = sweep_run()
    round_ = campaign.rounds.get(number=2)
    assert round_.chosen.params["TILE"] == 128
    assert round_.verdict.evaluation.candidate == round_.chosen
    assert round_.verdict.gain == pytest.approx(1.5, rel=0.02)


def test_a_trial_that_a_host_breaks_off_is_made_again_with_each_alone(sweep_run) -> None:
    judge = KnobJudge()
    judge.breaks = 1
    campaign = sweep_run(judge=judge)
    assert decided(campaign) == [
        (16, "broken_host", ""),
        (16, "wrong_result", ""),
        (32, "passed", ""),
    ]
    assert tile(campaign.incumbent.source) == 32


def test_one_that_crashes_beside_others_is_tried_alone_before_that_counts(
    sweep_run, monkeypatch
) -> None:
    monkeypatch.setitem(TRIED, 16, "crash")
    for value in (32, 128):
        monkeypatch.setitem(TRIED, value, "time 100")
    campaign = sweep_run()
    assert decided(campaign) == [
        (16, "crashed", "2"),
        (32, "passed", "2"),
        (128, "passed", "2"),
        (16, "crashed", ""),
    ]
    assert campaign.rounds.get(number=2).verdict.word == "no_change"


def test_what_is_behind_the_source_as_it_is_goes_to_no_trial(sweep_run, monkeypatch) -> None:
    monkeypatch.setitem(SCREENED, 16, 130)
    monkeypatch.setitem(SCREENED, 128, 102)
    campaign = sweep_run()
    round_ = campaign.rounds.get(number=2)
    assert [c.label for c in round_.candidates.all()] == ["as it is", "TILE 32"]


def test_every_point_is_a_row_with_its_failure(sweep_run) -> None:
    campaign = sweep_run()
    plan = Sweep.objects.get(round__campaign=campaign, round__number=2)
    rows = list(plan.points.all())
    assert rows[0].params == {knob["name"]: knob["default"] for knob in plan.knobs}
    assert (rows[0].time_us, rows[0].outcome) == (pytest.approx(100.0), "passed")
    assert rows[0].facts == {"registers": 40}
    failed = [row for row in rows if row.outcome == "build_failed"]
    assert failed
    assert failed[0].reason == "error: too much <b>"
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert len({str(row.params) for row in rows}) == len(rows)


def test_a_search_that_was_broken_off_goes_on_with_its_points(sweep_run) -> None:
    """The first time the worker is killed after some points; no point is measured twice."""
    calls = []

    def twice(service: object, job: Job, folder: Path, work: SweepWork, beat: Callable) -> None:
        calls.append(1)
        if len(calls) > 1:
            screen(service, job, folder, work, beat)
            return
        for number, _source in work.ask(3):
            work.built(BuildResult(number, Outcome.BUILD_FAILED, "error: killed"))
        raise SweepBroken("disk full: /builds")

    campaign = sweep_run(twice)
    points = SweepPoint.objects.filter(sweep__round__campaign=campaign)
    assert len(calls) == 2
    assert points.filter(reason="error: killed").count() == 3
    assert points.count() == len({str(p.params) for p in points})
    broken = Evaluation.objects.filter(kind=EvaluationKind.SWEEP).order_by("pk")
    assert [e.outcome for e in broken] == ["broken_host", "passed"]
    assert broken[0].reason == "disk full: /builds"


@pytest.mark.parametrize("stage", ["build", "screen"])
def test_a_point_that_was_late_on_a_busy_host_is_tried_again_once_that_is_quiet(
    sweep_run, monkeypatch, stage
) -> None:
    monkeypatch.setattr(waits, "HOST_EVERY_S", 0.0)
    monkeypatch.setattr(lifecycle, "WAIT_S", 0.0)
    looks = iter([DeviceState.BUSY] * 2)
    late = []

    def look() -> DeviceCheck:
        return DeviceCheck(next(looks, DeviceState.IDLE), "load 4.1 on 2 cores")

    def once(service: object, job: Job, folder: Path, work: SweepWork, beat: Callable) -> None:
        if not late:
            # The second point is late after the first one is told.
            (first, _), (number, source) = work.ask(2)
            work.built(BuildResult(first, Outcome.PASSED))
            work.screened(ScreenResult(first, Outcome.PASSED, times_us={"one": 100.0}))
            late.append(tile(source))
            of_load = {"outcome": Outcome.TIMED_OUT, "reason": "no answer", "host_busy": True}
            if stage == "build":
                work.built(BuildResult(number, **of_load))
            work.built(BuildResult(number, Outcome.PASSED))
            work.screened(ScreenResult(number, **of_load))
        screen(service, job, folder, work, beat)

    campaign = sweep_run(once, look_at_host=look)
    points = SweepPoint.objects.filter(sweep__round__campaign=campaign)
    assert not points.filter(outcome="timed_out").exists()
    assert points.count() == len({str(p.params) for p in points})
    # Every value was tried, the late one among them.
    assert late[0] in {p.params["TILE"] for p in points}
    assert set(SCREENED) <= {p.params["TILE"] for p in points.filter(outcome="passed")}
    (void,) = cast.voids()
    assert void.kind == EvaluationKind.SWEEP
    assert "too busy to search on: no answer" in void.void
    assert campaign.events.filter(kind="device_idle").count() == 1
    assert campaign.rounds.get(number=2).verdict.word == "accepted"


def test_where_nothing_passes_the_source_as_it_is_goes_to_trial(sweep_run) -> None:
    def fail(service: object, job: Job, folder: Path, work: SweepWork, beat: Callable) -> None:
        while asked := work.ask(4):
            for number, _source in asked:
                work.built(BuildResult(number, Outcome.BUILD_FAILED, "error: no"))

    campaign = sweep_run(fail)
    round_ = campaign.rounds.get(number=2)
    assert round_.verdict.word == "no_change"
    assert tile(campaign.incumbent.source) == 64


def test_a_search_is_learned_with_the_point_that_was_kept(sweep_run) -> None:
    sweep_run()
    entry = Experience.objects.select_related("track").get(round=2)
    assert entry.track.strategy == "tune.space"
    assert entry.params["TILE"] == 32


def test_what_comes_out_of_a_search_is_not_searched_again_at_once(sweep_run) -> None:
    campaign = sweep_run(rounds=4)
    told = [r.hypothesis.get("strategy") for r in campaign.rounds.order_by("number")]
    assert told.count("tune.space") == 1


# 125 points: more than a search on a CPU may try.
UNROLL = "constexpr int UNROLL = 4;\n"
TWO_KNOBS = UNROLL + V0.replace("* TILE", "* TILE * UNROLL")


def test_a_search_ends_before_it_has_tried_a_larger_space_whole(sweep_run) -> None:
    plan = Sweep.objects.get(round__campaign=sweep_run(v0=TWO_KNOBS), round__number=2)
    assert (plan.points.count(), plan.most_points, int(plan.size)) == (64, 64, 125)
    report = Evaluation.objects.get(candidate__round=plan.round, kind=EvaluationKind.SWEEP)
    assert report.reason == "All 64 trials of the budget were made."


def test_a_large_space_begins_with_the_tiles_that_libraries_use(sweep_run) -> None:
    tiles = "constexpr int BLOCK_M = 64;\nconstexpr int BLOCK_N = 64;\n"
    v0 = tiles + TWO_KNOBS.replace("* TILE", "* BLOCK_M * BLOCK_N * TILE")
    plan = Sweep.objects.get(round__campaign=sweep_run(v0=v0))
    assert (int(plan.size), plan.most_points) == (3125, 64)
    first = [(point["BLOCK_M"], point["BLOCK_N"]) for point in plan.seeds]
    assert first[0] == (64, 64)
    assert {(64, 128), (128, 64), (128, 128)} <= set(first)
    # A quarter of the budget at most, after the source as it is.
    assert len(first) <= 17


def two_searches(sweep_run, monkeypatch, v0: str) -> Iterator[Sweep]:
    """Of one kernel, but for a comment. The first finds nothing, or it would not be searched."""
    for value in TRIED:
        monkeypatch.setitem(TRIED, value, "time 300")
    for text in (v0, f"// again\n{v0}"):
        yield Sweep.objects.get(round__campaign=sweep_run(v0=text))


def test_a_search_begins_with_the_best_of_earlier_ones(sweep_run, monkeypatch) -> None:
    first, second = two_searches(sweep_run, monkeypatch, V0)
    as_it_is = {knob["name"]: knob["default"] for knob in second.knobs}
    best = [{**as_it_is, "TILE": value} for value in (16, 32, 128)]
    assert first.seeds == [as_it_is]
    assert second.seeds == [as_it_is, *best]


def test_the_best_three_go_to_trial(sweep_run, monkeypatch) -> None:
    for value, us in {16: 50, 32: 60, 128: 70, 256: 70.1}.items():
        monkeypatch.setitem(SCREENED, value, us)
    round_ = sweep_run().rounds.get(number=2)
    labels = [candidate.label for candidate in round_.candidates.all()]
    assert labels == ["as it is", "TILE 16", "TILE 32", "TILE 128"]


@pytest.mark.parametrize(
    ("near", "tried"), [(99.5, ["TILE 32"]), (100.9, ["TILE 32"]), (101.1, [])]
)
def test_of_points_as_fast_as_the_source_one_goes_to_trial(sweep_run, monkeypatch, near, tried):
    for value, us in {16: 200, 32: near, 128: near + 0.1}.items():
        monkeypatch.setitem(SCREENED, value, us)
    round_ = sweep_run().rounds.get(number=2)
    assert [candidate.label for candidate in round_.candidates.all()] == ["as it is", *tried]
