"""Many evaluations in a row: what is counted, compared and found left behind."""

import itertools
import pickle
import subprocess
import sys
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from campaigns.benchmarks import census, soak
from campaigns.benchmarks.census import Census
from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.soak import SoakRun
from campaigns.devices.discover import this_device
from campaigns.rules.noise.gain import Gain
from tests.architecture.source_tree import ROOT

SOAK = f"""
import os, pickle, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "kopt.settings"
import django
django.setup()
from {__name__} import soaked_here
if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(soaked_here()))
"""
KINDS = ("processes", "files", "shared", "System V", "groups")
NUMBERS = {"open files": 6, "mounts": 20, "resident bytes": 100 << 20, "GPU bytes": 0}
NOTHING = Census(dict.fromkeys(KINDS, frozenset()), NUMBERS)
CPU = this_device("cpu")


@pytest.fixture
def other():
    """A process that stands for the service."""
    code = "import sys; print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def test_it_finds_a_process_and_a_file(other, tmp_path):
    before = census.take(CPU, other.pid, tmp_path)
    assert census.left_behind(before, census.take(CPU, other.pid, tmp_path)) == {}
    (tmp_path / "forgotten").touch()
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        left = census.left_behind(before, census.take(CPU, other.pid, tmp_path))
        sleeper.kill()
    # Other tests beside this one may leave memory for a moment.
    assert set(left) >= {"processes", "files"}
    assert left["processes"].startswith(f"1 more: {sleeper.pid} ")
    assert left["files"] == f"1 more: {tmp_path / 'forgotten'}"


def test_it_finds_shared_memory_that_nobody_else_has_open(other, tmp_path):
    shared = census.SHARED / f"kopt-test-{other.pid}"
    before = census.take(CPU, other.pid, tmp_path)
    try:
        shared.write_bytes(b"x")
        after = census.take(CPU, other.pid, tmp_path)
        assert "shared" in census.left_behind(before, after)
    finally:
        shared.unlink()


@pytest.mark.parametrize(
    ("kind", "found", "leaks"),
    [
        ("open files", 7, True),
        ("open files", 5, False),
        ("mounts", 21, True),
        ("resident bytes", 110 << 20, False),
        ("resident bytes", 120 << 20, True),
        ("GPU bytes", 1 << 30, True),
        ("groups", frozenset({"kopt-1"}), True),
        ("System V", frozenset({"shm 0 1"}), True),
    ],
)
def test_it_tells_a_leak_from_what_moves_by_itself(kind, found, leaks):
    if kind in KINDS:
        after = Census(NOTHING.names | {kind: found}, NUMBERS)
    else:
        after = Census(NOTHING.names, NUMBERS | {kind: found})
    assert set(census.left_behind(NOTHING, after)) == ({kind} if leaks else set())


def test_it_makes_one_in_so_many_hostile():
    assert "".join(soak._order("abc", "XY", 12, 4)) == "abcXabcYabcX"


def runs(walls, kinds):
    return [SoakRun(kinds[i % len(kinds)], "passed", True, wall) for i, wall in enumerate(walls)]


def soaked_here():
    """Ten evaluations with the real service; what throughput it has is not looked at."""
    options = Namespace(
        device="cpu", evaluations=10, hostile_every=5, tricks=soak.TRICKS, backend=["cpp"]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soak, "HONEST_KINDS", 3)
        patch.setattr(soak, "FRESH_PAIRS", 1)
        patch.setattr(soak, "LOST", 9.0)
        return soak.soak(options, lambda text: None)


@pytest.fixture(scope="module")
def soaked():
    """In a process of its own: a browser that other tests have started here comes and goes."""
    done = subprocess.run(
        [sys.executable, "-c", SOAK], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    return pickle.loads(done.stdout)


def test_it_leaves_nothing_behind(soaked):
    outcomes, unexpected, left = soaked.tables
    assert soaked.held, soaked.verdict
    assert {"outcome": "passed", "evaluations": 8} in outcomes.rows
    assert sum(row["evaluations"] for row in outcomes.rows) == 10
    assert unexpected.rows == []
    assert {row["what"] for row in left.rows} == {*KINDS, *NUMBERS}
    assert "at least 1 pairs of each kind" in soaked.notes[0]


SLOW, LEVEL = Gain(-0.2, -0.3, -0.1, 9), Gain(-0.01, -0.02, 0.01, 9)


@pytest.mark.parametrize(
    ("gain", "leaks", "said"),
    [
        (LEVEL, {}, "held"),
        (SLOW, {}, "not held"),
        (Gain(-0.04, -0.1, 0.02, 9), {}, "not known"),
        (LEVEL, {"files": "1 more: /tmp/x"}, "not held. Left behind: files: 1 more: /tmp/x"),
    ],
)
def test_it_judges_by_the_fresh_service_and_without_a_leak(gain, leaks, said):
    report = soak.report_of(CPU, runs([1.0], "a"), (NOTHING, NOTHING), leaks, gain)
    assert report.held is (said == "held")
    text = report.as_markdown()
    assert f"of throughput lost: {said}." in text
    assert f"a fresh one: {gain.gain:+.1%}" in text
    assert "| open files | 6 | 6 |" in text


def test_it_compares_kinds_that_take_the_same_time_each_time(monkeypatch):
    monkeypatch.setattr(soak, "FRESH_KINDS", 2)
    listed = runs([1.0, 4.0, 2.0, 1.2, 8.0, 2.1, 0.8, 2.0, 2.0] * 3, "abc")
    tricks = [SimpleNamespace(name=kind) for kind in "bac"]
    assert [trick.name for trick in soak._steady(tricks, listed)] == ["c", "a"]
    with pytest.raises(BenchmarkError, match="1 evaluations: too few"):
        soak._steady(tricks, listed[:1])


@pytest.mark.parametrize(
    ("walls", "pairs", "held"),
    [
        pytest.param([(1.0, 1.0)], 8, True, id="level"),
        pytest.param([(1.0, 1.2)], 8, False, id="slower"),
        pytest.param([(1.0, 1.1), (1.1, 1.0)], 64, None, id="noise"),
    ],
)
def test_it_compares_with_a_fresh_service_until_that_says_something(
    monkeypatch, walls, pairs, held
):
    """walls: seconds of a fresh service and of the worn one, over and over."""
    count = itertools.count(-1)

    def evaluate(service, trick, device, scratch):
        fresh_s, worn_s = walls[next(count) // 2 % len(walls)]
        return SoakRun(trick.name, "passed", True, worn_s if service is worn else fresh_s)

    worn, told = object(), []
    monkeypatch.setattr(soak, "_evaluate", evaluate)
    monkeypatch.setattr(soak, "EvaluatorService", nullcontext)
    tricks = [SimpleNamespace(name="cpp/a")]
    change = soak._against_fresh(worn, tricks, (CPU, Path()), told.append)
    assert soak.is_held(change) is held
    assert change.pairs == pairs == len(told) * soak.FRESH_PAIRS
