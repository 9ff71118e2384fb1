"""`bench search`: what is tried whole, who is near the best first, how screen and trial rank."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch
from django.core.management import CommandError, call_command

from campaigns.benchmarks.search.plain_loop import _call, _time_us
from campaigns.benchmarks.search.screened import Comparison, _report
from campaigns.benchmarks.search.searched import (
    SPACES,
    ChipFacts,
    PointLog,
    SearchedSpace,
    key_of,
    searched_space,
)
from campaigns.benchmarks.search.trials import ranking
from campaigns.devices.discover import Device
from campaigns.devices.sweep.search_work import TriedPoint
from campaigns.evaluator.contract import (
    Case,
    CaseReport,
    Job,
    Outcome,
    Phase,
    Report,
    Source,
    Timer,
    Timing,
)
from campaigns.evaluator.contract.programs import CPP_BUILD, cpp_compiler
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.matmul_model import MatmulDevice
from campaigns.spaces.space import Knob, Space
from tests.campaigns.spaces.device import HOPPER

CHIPS = {
    "gpu": ChipFacts(HOPPER, {"float32": MatmulDevice(132, 3.35e12, 67e12, 228 * 1024)}),
    "cpu": ChipFacts(DeviceLimits(), {}),
}
SPACE = Space((Knob("TILE", (8, 16, 32, 64), 8),))
BASE = Source("v0.cpp", "")


def space_named(name: str, kind: str) -> SearchedSpace:
    target = {"cpu": "native", "gpu": "sm_90a"}[kind]
    device = Device(kind, {"cpu": "cpu", "gpu": "cuda:0"}[kind], kind, kind, target, 1 << 30, "")
    return searched_space(name, device, CHIPS[kind], Path("/nowhere"))


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for kind in SPACES for name in SPACES[kind]]
)
def test_every_part_has_at_least_200_points_and_the_source(name, kind):
    found = space_named(name, kind)
    points = found.part.points_at_most(301)
    assert 200 <= len(points) <= 300
    assert found.space.defaults in points
    assert not any(map(found.space.is_legal, points))


def test_the_product_has_the_243_points_of_a_plain_loop_and_begins_with_library_tiles():
    found = space_named("matmul:triton:1024x1024x1024", "gpu")
    assert found.part.size == 243
    best = dict(zip(found.space.defaults, (64, 128, 64, 8, 3), strict=True))
    assert not found.part.is_legal(best)
    assert best in found.seeds[:9]
    assert found.space.size == 4500


def log_of(*times_us: float, space: Space = SPACE) -> PointLog:
    """Of the points in their order, a second each; 0 failed."""
    points = [{"TILE": value} for value in (8, 16, 32, 64)]
    log = PointLog(BASE, space, points)
    for number, (point, us) in enumerate(zip(points, times_us, strict=False), 1):
        outcome = Outcome.PASSED if us else Outcome.WRONG_RESULT
        log.done.append((TriedPoint(number, point, outcome, time_us=us or None), float(number)))
    log.took_s = float(len(log.done))
    return log


def test_near_is_what_the_screen_of_every_point_says_and_not_another_clock():
    known = log_of(20.0, 10.1, 10.0, 30.0).known()
    assert known[key_of({"TILE": 32})] == 10.0
    # Its own clock shows the first one fastest; the second is within 2 % by the screen.
    assert log_of(1.0, 99.0).reached(known) == (2.0, 2)
    assert log_of(1.0).reached(known) is None
    # What failed is not near, and what the screen does not know counts by its own time.
    assert log_of(1.0, 0.0, 0.0).reached(known) is None
    del known[key_of({"TILE": 8})]
    assert log_of(9.0).reached(known) == (1.0, 1)


def comparison(search: PointLog, plain: PointLog | None) -> Comparison:
    job = Job("j", Path("p"), "cpp", "cpu", "native", (Case("c", {}),), BASE, Path("/nowhere"))
    searched = SearchedSpace("p:cpp:c", job, SPACE, SPACE, ())
    return Comparison(searched, log_of(20.0, 10.1, 10.0, 30.0), search, plain, ())


def test_both_ways_stand_side_by_side():
    row = comparison(log_of(20.0, 10.0), log_of(50.0, 30.0, 40.0)).row()
    assert (row["search s"], row["tried"], row["search's best µs"]) == (2.0, 2, 10.0)
    assert (row["loop s"], row["loop tried"], row["times sooner"]) == (2.0, 2, 1.0)
    assert (row["best µs"], row["at"]) == (10.0, "32")


def test_a_plain_loop_that_was_never_near_took_longer_than_it_had():
    row = comparison(log_of(20.0, 10.0), log_of(50.0)).row()
    assert (row["loop s"], row["loop tried"], row["times sooner"]) == ("> 1", "> 1", None)
    assert comparison(log_of(20.0), None).row()["loop s"] is None


def test_the_verdict_says_who_was_first_and_what_there_was_no_time_for():
    first = comparison(log_of(20.0, 10.0), log_of(50.0))
    second = comparison(log_of(20.0), log_of(50.0, 30.0))
    second.whole.done.pop()
    said = _report(None, [first, second], None, 0.98765).verdict
    assert "On 1 of 2 spaces the search comes within 2 % of the best in 2.0 to 2.0 s" in said
    assert "before a plain loop on 1." in said
    assert "Of 1 there was no time for every point of the part." in said
    assert "alike to 0.988 (Spearman)" in said


class Judge:
    """Finds the source as it is at 100 µs, and a tile of n at n µs."""

    def evaluate(self, job: Job) -> Report:
        us = float(job.candidate.text)
        new, old = (Timing((time_us,) * 4, 8, 1, Timer.CALLS) for time_us in (us, 100.0))
        case = CaseReport("c", True, 1, candidate=new, incumbent=old)
        return Report(job.job_id, Outcome.PASSED, Phase.DONE, "", cases=(case,))


@pytest.fixture
def judged(monkeypatch):
    searched = comparison(log_of(), None).searched

    def written(base: Source, space: Space, point: dict) -> Source:
        return Source("v0.cpp", str(point["TILE"]))

    monkeypatch.setattr("campaigns.benchmarks.search.trials.render", written)

    def go(screened: list[TriedPoint], most: int = 9, seconds: float = 60.0):
        return ranking(Judge(), searched, screened, most, time.monotonic() + seconds)

    return go


def test_screen_and_trial_are_ranked(judged):
    screened = [one for one, _ in log_of(1.0, 2.0, 3.0, 4.0).done]
    table, same = judged(screened)
    assert same == pytest.approx(1.0)
    assert sorted(row["trial µs"] for row in table.rows) == pytest.approx([8.0, 16.0, 32.0, 64.0])
    assert "Spearman 1.000 over 4 variants" in table.notes[1]
    assert judged([one for one, _ in log_of(4.0, 3.0, 2.0, 1.0).done])[1] == pytest.approx(-1.0)


def test_the_fewer_that_go_to_trial_are_far_apart_and_early_ones_are_told_apart(judged):
    screened = [one for one, _ in log_of(1.0, 2.0, 3.0, 4.0).done]
    screened[3].ended_early = True
    table, _ = judged(screened, most=3)
    assert sorted(row["screen µs"] for row in table.rows) == [1.0, 3.0, 4.0]
    assert [row["early"] for row in table.rows if row["screen µs"] == 4.0] == ["yes"]
    assert "unknown over the 2 that were screened to the end" in table.notes[1]


def test_no_trial_begins_when_time_is_up(judged):
    table, found = judged([one for one, _ in log_of(1.0, 2.0, 3.0).done], seconds=-1.0)
    assert (table.rows, found) == ([], None)


def test_the_plain_loop_calls_what_it_compiles(tmp_path):
    path = tmp_path / "v1.cpp"
    path.write_text(
        'extern "C" void solve(float* x, int N) { for (int i = 0; i < N; ++i) x[i] += 1; }'
    )
    values = torch.zeros(4)
    call = _call(path, [cpp_compiler(), *CPP_BUILD], {"x": values, "N": 3})
    call()
    assert values.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert _time_us(call, "cpu") > 0
    assert values[0] > 2


@pytest.mark.parametrize("words", [("--limit-s", "0"), ("--trials", "-1"), ("--points", "0")])
def test_it_names_the_option_that_it_refuses(words):
    with pytest.raises(CommandError, match=f"{words[0]} {words[1]}.*or more is accepted"):
        call_command("bench", "search", *words)
