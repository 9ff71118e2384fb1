"""`bench search --replay`: what it refuses, what it counts, what it says of both sides."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from campaigns.benchmarks.landscapes.landscape import Landscape, read_landscape
from campaigns.benchmarks.search import replay as bench
from campaigns.benchmarks.search.peer import SimulatedTuning
from campaigns.benchmarks.search.searched import PointLog
from campaigns.devices.discover import this_device
from campaigns.devices.sweep.search_work import TriedPoint
from campaigns.evaluator.contract import Outcome, Source
from campaigns.evaluator.contract.stream import BuildFacts
from campaigns.management.base_command import ExitCode
from campaigns.spaces.space import Knob, Space
from campaigns.strategies.base import SearchTrial, TrialFailure
from tests.campaigns.benchmarks.landscapes.samples import HEADER, failed, sample_landscape


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A landscape of eight points; only the random search, nobody beside it."""
    monkeypatch.setattr(bench, "STRATEGIES", {"random": None})
    monkeypatch.setattr(bench, "DEFAULT", "random")
    monkeypatch.setattr(bench, "peer_strategies", lambda: ())
    path = tmp_path / "small.csv"
    sample_landscape().save(path)
    return path


def needed(side, strategy, *to_5):
    return bench.EvaluationsNeeded(side, strategy, 100, [(n, math.inf) for n in to_5])


def test_it_replays_and_reports(small, capsys):
    words = ("--landscape", str(small), "--seeds", "4", "--batch", "3")
    call_command("bench", "search", "--replay", *words)
    shown = capsys.readouterr().out
    assert "- found: The default, random, is within 5% after " in shown
    assert "Kernel Tuner is not installed." in shown
    assert "## small.csv: softmax, 8 points" in shown
    assert "3 of 8 points were measured, 1 within 5%, 1 within 2% of the best, 7.5 µs" in shown


def test_what_was_screened_can_be_searched_again(tmp_path):
    knob = Knob("TILE", (8, 16, 32), 8)
    points = [{"TILE": value} for value in knob.values]
    log = PointLog(Source("v0.cpp", ""), Space((knob,), ()), points)
    outcomes = (Outcome.BUILD_FAILED, Outcome.PASSED, Outcome.WRONG_RESULT)
    for number, (point, outcome) in enumerate(zip(points, outcomes, strict=True), 1):
        log.note(TriedPoint(number, point, outcome))
    timed, _ = log.done[1]
    timed.time_us, timed.facts = 7.0, BuildFacts(registers=40)
    job = SimpleNamespace(
        problem=Path("softmax"), backend="cpp", cases=(SimpleNamespace(name="rows"),)
    )
    kept = log.landscape(job, this_device("cpu"))
    kept.save(tmp_path / "kept.csv.gz")
    found = read_landscape(tmp_path / "kept.csv.gz")
    assert found.trials() == [
        ({"TILE": 8}, SearchTrial(failure=TrialFailure.BUILD_FAILED)),
        ({"TILE": 16}, SearchTrial(7.0)),
        ({"TILE": 32}, SearchTrial(failure=TrialFailure.WRONG)),
    ]
    assert found.rows()[1].facts == {"registers": 40.0}
    assert log.best_us() == 7.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--replay", "--seeds", "0"], "--seeds 0: 1 or more is accepted"),
        (["--replay", "--landscape", "none.csv"], "none.csv: "),
        (["--replay", "--landscape", "none.txt"], r"none.txt: .csv, or .json of Kernel Tuner"),
    ],
)
def test_it_refuses_in_one_line(words, message):
    with pytest.raises(CommandError) as refused:
        call_command("bench", "search", *words)
    assert refused.value.returncode == ExitCode.USAGE
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_it_refuses_a_landscape_without_a_time(tmp_path):
    rows = [failed(TrialFailure.WRONG, 16, 0.5, "-O2", False)]
    Landscape.of(HEADER, rows).save(tmp_path / "failures.csv")
    words = ("--landscape", str(tmp_path / "failures.csv"))
    with pytest.raises(CommandError, match=r"failures\.csv: not one time in it"):
        call_command("bench", "search", "--replay", *words)


def test_it_counts_by_quantiles_and_shows_what_is_beyond_the_budget():
    found = needed("kopt", "random", 9, 5, math.inf, 7)
    assert (found.shown(0.05, 0.5), found.shown(0.05, 0.75), found.median()) == (7, 9, 7)
    assert (found.shown(0.05, 0.9), found.shown(0.02, 0.5)) == (">100", ">100")
    assert needed("kopt", "random", math.inf).median() == 100


@pytest.mark.parametrize(("ours", "held", "won"), [(20, True, 2), (33, False, 1), (99, False, 0)])
def test_the_default_is_held_to_the_best_of_the_other_side(monkeypatch, ours, held, won):
    monkeypatch.setattr(bench, "DEFAULT", "mine")
    standings = [
        [needed("kopt", "mine", ours), needed("Kernel Tuner", "a", 20)],
        [needed("kopt", "mine", ours), needed("Kernel Tuner", "a", 40)],
    ]
    verdict, is_held = bench._verdict(standings)
    assert is_held is held
    assert f"On {won} of 2 landscapes" in verdict


def test_the_shipped_landscapes_say_how_they_were_made():
    paths = sorted(bench.SHIPPED.glob("*.csv.gz"))
    assert len(paths) >= 2
    for path in paths:
        landscape = read_landscape(path)
        header = landscape.header
        assert path.stat().st_size < 100_000
        assert min(map(len, (header.device, header.made, header.cases, header.versions))) > 0
        assert len(landscape.frame) > 150
        assert math.isfinite(landscape.best_us)


def test_kernel_tuner_counts_a_point_once(tmp_path):
    pytest.importorskip("kernel_tuner", reason="Kernel Tuner is not installed")
    tuning = SimulatedTuning(sample_landscape(), tmp_path / "cache.json")
    found = tuning.run("random_sample", seed=1, budget=8)
    assert len(found.best_us) == 8
    assert found.evaluations_to(0) is not None
