"""Sweeps on the tiny problem: what is built, what a broken variant costs, what is built again."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.devices.sweep.build_cache import BuildCache
from campaigns.devices.sweep.loop import SweepBroken, SweepLoop
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult
from tests.evaluator import small
from tests.evaluator.small import LOOP, source

WRONG = "for (int i = 0; i < N; ++i) y[i] = 3 * x[i];"
SLOW = "for (int r = 0; r < 5000000; ++r) { volatile float k = 2; y[r % N] = k; } " + LOOP
CRASH = "__attribute__((constructor)) static void boom() { __builtin_trap(); }\n"
HANG = "while (x[0] == x[0]) { volatile int k = 0; k = k; } " + LOOP


class Listed:
    """A list of variants as work; keeps what it is told."""

    def __init__(self, variants: Sequence[Source]) -> None:
        self._left = iter(enumerate(variants))
        self.builds: dict[int, BuildResult] = {}
        self.screens: dict[int, ScreenResult] = {}

    def ask(self, most: int) -> Sequence[tuple[int, Source]]:
        return list(itertools.islice(self._left, most))

    def built(self, result: BuildResult) -> bool:
        assert result.number not in self.builds
        self.builds[result.number] = result
        return True

    def screened(self, result: ScreenResult) -> None:
        assert result.number not in self.screens
        self.screens[result.number] = result

    @property
    def outcomes(self) -> list[str]:
        """Of every variant in turn: of its screen, or of its build where there was none."""
        last = {**self.builds, **self.screens}
        return [str(last[number].outcome) for number in sorted(last)]


@pytest.fixture
def loop(service: EvaluatorService, problem: Path, tmp_path: Path):
    """Sweep over sources of the tiny problem."""
    limits = replace(small.QUICK.limits, load_s=5, call_s=1)
    job = small.job(problem, tmp_path, source(LOOP))
    job = replace(job, protocol=replace(job.protocol, limits=limits))

    def make(folder: str = "builds", of: Job = job, builders: int = 2) -> SweepLoop:
        cache = BuildCache(tmp_path / folder, of)
        return SweepLoop(service, of, cache, tmp_path, builders)

    return make


def other(number: int, body: str = LOOP, before: str = "") -> Source:
    """The same kernel under another text."""
    return source(body, before=f"// {number}\n{before}")


def test_it_screens_each_variant_once_and_tells_failures_apart(loop) -> None:
    broken = other(5, "int k = ; " + LOOP)
    work = Listed([other(1), broken, other(2, WRONG), other(3), replace(other(4), flags=("-O3",))])
    loop().run(work)
    assert work.outcomes == ["passed", "build_failed", "wrong_result", "passed", "passed"]
    assert "error" in work.builds[1].reason
    assert "case n4096" in work.screens[2].reason
    assert all(work.screens[k].times_us["n4096"] > 0 for k in (0, 3, 4))


@pytest.mark.parametrize("culprit", [other(9, before=CRASH), other(9, HANG)])
def test_a_variant_that_breaks_its_runner_costs_itself_alone(loop, culprit) -> None:
    work = Listed([other(1), culprit, other(2), other(3)])
    loop().run(work)
    assert work.outcomes[0::2] == ["passed", "passed"]
    assert work.outcomes[3] == "passed"
    assert work.outcomes[1] in ("crashed", "timed_out")


def test_every_variant_runs_its_own_code(loop) -> None:
    """The loader must not take one library for another, whatever their files are called."""
    bodies = [LOOP, WRONG, LOOP, WRONG, WRONG, LOOP]
    work = Listed([other(k, body) for k, body in enumerate(bodies)])
    loop().run(work)
    assert work.outcomes == ["passed" if b is LOOP else "wrong_result" for b in bodies]


def test_what_is_far_behind_ends_early(loop) -> None:
    work = Listed([other(1), other(2, SLOW)])
    loop(builders=1).run(work)
    assert (work.screens[0].ended_early, work.screens[1].ended_early) == (False, True)


def test_what_was_built_is_not_built_again(loop, tmp_path: Path) -> None:
    variants = [other(1), other(2)]
    loop().run(Listed(variants))
    made = sorted((tmp_path / "builds").glob("??/*"))
    marks = [place.joinpath("candidate.so").stat().st_ino for place in made]
    again = Listed(variants)
    loop().run(again)
    assert again.outcomes == ["passed", "passed"]
    assert [result.wall_s for result in again.builds.values()] == [0.0, 0.0]
    assert [p.joinpath("candidate.so").stat().st_ino for p in made] == marks


def test_a_cache_that_cannot_be_written_is_told(loop, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(SweepBroken, match="file"):
        loop("file/builds").run(Listed([other(1)]))


def test_a_killed_judge_costs_nothing_but_time(
    loop, service: EvaluatorService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.devices.sweep.loop.BEAT_S", 0)
    work = Listed([other(k) for k in range(6)])
    killed = []

    def beat() -> None:
        """Once results come, end everything that the service runs."""
        if work.screens and not killed:
            killed.extend(_below(service.process_id))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    loop().run(work, beat)
    assert killed
    assert work.outcomes == ["passed"] * 6


def test_it_ends_with_what_a_beat_raises(loop) -> None:
    def beat() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop().run(Listed([other(k) for k in range(50)]), beat)


def _below(pid: int | None) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in listed]
