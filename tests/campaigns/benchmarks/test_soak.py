"""Many evaluations in a row: what is counted, compared and found left behind."""

import itertools
import pickle
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from campaigns.benchmarks.soak import census, page, run
from campaigns.benchmarks.soak.run import SoakError, Turn, Verdict
from campaigns.benchmarks.trust.trick import TRICKS, every
from campaigns.devices.discover import this_device
from campaigns.evaluator.contract import Outcome
from campaigns.rules.noise import Gain
from tests.architecture.source_tree import ROOT

SOAK = f"""
import os, pickle, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "kopt.settings"
import django
django.setup()
from {__name__} import soak
if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(soak()))
"""
NOTHING = census.Census(*[frozenset()], 6, *[frozenset()] * 4, 20, 100 << 20, 0)


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


def look(other, folder):
    return census.take(this_device("cpu"), other.pid, (folder,))


def test_it_finds_a_process_and_a_file(other, tmp_path):
    before = look(other, tmp_path)
    assert census.left_behind(before, look(other, tmp_path)) == {}
    (tmp_path / "forgotten").touch()
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        left = census.left_behind(before, look(other, tmp_path))
        sleeper.kill()
    assert set(left) == {"processes", "files"}
    assert left["processes"].startswith(f"1 more: {sleeper.pid} ")
    assert left["files"] == f"1 more: {tmp_path / 'forgotten'}"


def test_it_finds_shared_memory_that_nobody_else_has_open(other, tmp_path):
    shared = census.SHARED / f"kopt-test-{other.pid}"
    before = look(other, tmp_path)
    try:
        shared.write_bytes(b"x")
        assert "shared" in census.left_behind(before, look(other, tmp_path))
    finally:
        shared.unlink()


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"open_files": 7}, {"open_files"}),
        ({"open_files": 5}, set()),
        ({"mounts": 21}, {"mounts"}),
        ({"resident_bytes": 110 << 20}, set()),
        ({"resident_bytes": 120 << 20}, {"resident_bytes"}),
        ({"gpu_bytes": 1 << 30}, {"gpu_bytes"}),
        ({"groups": frozenset({"kopt-1"})}, {"groups"}),
        ({"system_v": frozenset({"shm 0 1"})}, {"system_v"}),
    ],
)
def test_it_tells_a_leak_from_what_moves_by_itself(change, kinds):
    assert set(census.left_behind(NOTHING, replace(NOTHING, **change))) == kinds


def test_it_makes_one_in_so_many_hostile():
    assert "".join(run._order("abc", "XY", 12, 4)) == "abcXabcYabcX"


def turns(walls, kinds="ab"):
    return [Turn(kinds[i % len(kinds)], True, "passed", True, wall) for i, wall in enumerate(walls)]


def test_it_compares_the_end_with_the_start_kind_by_kind():
    listed = turns([1.0, 4.0] * 10 + [1.0, 4.0] * 80 + [1.1, 4.4] * 10)
    first, last = run._parts(listed)
    assert (len(first), len(last)) == (20, 20)
    gain = run.interval(run._paired(first, last), run.SEED)
    assert gain.gain == pytest.approx(1 / 1.1 - 1)


def test_it_refuses_parts_that_would_overlap():
    with pytest.raises(SoakError, match="3 evaluations: too few"):
        run._parts(turns([1.0, 2.0, 1.0]))


def soak():
    """Ten evaluations with the real service; what throughput it has is not looked at."""
    honest, hostile = (list(every(TRICKS, kind, "cpp")) for kind in ("honest", "cheats"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "HONEST_KINDS", 3)
        patch.setattr(run, "FRESH_PAIRS", 1)
        patch.setattr(run, "LOST", -9.0)
        return run.soak(this_device("cpu"), honest, hostile[:4], 10, 5, lambda text: None)


@pytest.fixture(scope="module")
def soaked():
    """In a process of its own: a browser that other tests have started here comes and goes."""
    done = subprocess.run(
        [sys.executable, "-c", SOAK], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    return pickle.loads(done.stdout)


def test_it_leaves_nothing_behind(soaked):
    assert soaked.leaks == {}
    assert soaked.unexpected == ()
    assert len(soaked.turns) == soaked.evaluations == 10
    assert soaked.outcomes[Outcome.PASSED] == 8


def test_it_asks_a_fresh_service(soaked):
    assert soaked.against_fresh.pairs == 1


def test_it_judges_by_the_fresh_service_and_without_a_leak(soaked):
    def verdict(change, fresh, leaks=()):
        return replace(soaked, change=change, against_fresh=fresh, leaks=dict(leaks)).verdict

    slow, level = Gain(-0.2, -0.3, -0.1, 9), Gain(-0.01, -0.02, 0.01, 9)
    assert verdict(slow, level) is Verdict.HELD
    assert verdict(level, slow) is Verdict.NOT_HELD
    assert verdict(level, Gain(-0.04, -0.1, 0.02, 9)) is Verdict.NOT_KNOWN
    assert verdict(level, level, {"files": "1 more"}) is Verdict.NOT_HELD


def test_it_compares_kinds_that_take_the_same_time_each_time(monkeypatch):
    monkeypatch.setattr(run, "FRESH_KINDS", 2)
    listed = turns([1.0, 4.0, 2.0, 1.2, 8.0, 2.1, 0.8, 2.0, 2.0] * 3, "abc")
    tricks = [SimpleNamespace(name=kind) for kind in "bac"]
    assert [trick.name for trick in run._steady(tricks, listed)] == ["c", "a"]


@pytest.mark.parametrize(
    ("walls", "pairs", "verdict"),
    [
        pytest.param([(1.0, 1.0)], 8, Verdict.HELD, id="level"),
        pytest.param([(1.0, 1.2)], 8, Verdict.NOT_HELD, id="slower"),
        pytest.param([(1.0, 1.1), (1.1, 1.0)], 64, Verdict.NOT_KNOWN, id="noise"),
    ],
)
def test_it_compares_with_a_fresh_service_until_that_says_something(
    monkeypatch, walls, pairs, verdict
):
    """walls: seconds of a fresh service and of the worn one, over and over."""
    count = itertools.count(-1)

    def turn(service, trick, device, scratch):
        fresh_s, worn_s = walls[next(count) // 2 % len(walls)]
        return Turn(trick.name, True, "passed", True, worn_s if service is worn else fresh_s)

    worn, told = object(), []
    monkeypatch.setattr(run, "_turn", turn)
    monkeypatch.setattr(run, "EvaluatorService", nullcontext)
    tricks = [SimpleNamespace(name="cpp/a")]
    change = run._against_fresh(worn, tricks, this_device("cpu"), Path(), told.append)
    assert run.kept(change) is verdict
    assert change.pairs == pairs == len(told) * run.FRESH_PAIRS


def test_it_writes_what_it_found(soaked):
    level = Gain(-0.01, -0.02, 0.01, 9)
    worn = Gain(-0.03, -0.04, 0.02, 9)
    found = replace(soaked, change=level, against_fresh=worn, leaks={"files": "1 more: /tmp/x"})
    text = page.to_markdown(found, "python manage.py bench soak")
    assert "**not held**" in text
    assert "- files: 1 more: /tmp/x" in text
    assert "throughput -1.0% (-2.0% to +1.0%" in text
    assert "throughput -3.0% (-4.0% to +2.0%" in text
    assert "| passed | 8 |" in text
