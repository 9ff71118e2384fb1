"""Every dishonest or faulty candidate ends as its file says; every honest one passes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from math import exp, log
from pathlib import Path

import pytest

from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.trust.trick import Trick, job_of, read
from campaigns.evaluator.contract import CaseReport, Outcome, Report
from tests.evaluator.tricks.candidate_file import HERE, every

# One that passes may seem this much faster than the honest kernel beside it, by noise; on a busy
# host even more than that, but not every time.
NOISE, SESSIONS = 1.4, 3
LEAST = {"cheats": 80, "honest": 40}
BACKENDS = ("cpp", "triton", "cuda")


def params(kind: str, *backends: str) -> list[object]:
    found = [trick for backend in backends for trick in every(kind, backend)]
    return [pytest.param(trick, id=f"{trick.backend}/{trick.path.stem}") for trick in found]


@pytest.fixture(scope="module")
def service() -> Iterator[EvaluatorService]:
    with EvaluatorService() as running:
        yield running


def evaluate(service: EvaluatorService, trick: Trick, scratch: Path, device: str = "cpu") -> Report:
    target = "native" if device == "cpu" else this_device(device).target
    return service.evaluate(job_of(trick, scratch / "scratch", device, target))


def gains(report: Report) -> bool:
    return any(speed_of(case) >= NOISE for case in report.cases)


def held_to(trick: Trick, report: Report) -> None:
    told = f"{report.outcome} in {report.phase}: {report.reason}\n{report.runner_log[-2000:]}"
    assert report.outcome in trick.outcomes, told
    assert any(part in report.reason for part in trick.says), told
    if report.outcome is not Outcome.PASSED:
        assert all(case.candidate is None for case in report.cases)


def speed_of(case: CaseReport) -> float:
    """How many times faster than the honest kernel beside it, the geometric mean of the pairs."""
    assert case.candidate is not None
    assert case.incumbent is not None
    pairs = zip(case.incumbent.samples_us, case.candidate.samples_us, strict=True)
    ratios = [log(max(old, 1e-9) / max(new, 1e-9)) for old, new in pairs]
    return exp(sum(ratios) / len(ratios))


@pytest.mark.parametrize("trick", params("cheats", "cpp", "triton"))
def test_it_does_not_fall_for(service, trick, tmp_path):
    for _ in range(SESSIONS):
        report = evaluate(service, trick, tmp_path)
        if report.outcome is not Outcome.PASSED or "no_gain" not in trick.outcomes:
            held_to(trick, report)
            return
        if not gains(report):
            return
    pytest.fail(f"a gain in each of {SESSIONS} sessions: {report.cases}")


@pytest.mark.parametrize("trick", params("honest", "cpp", "triton"))
def test_it_lets_pass(service, trick, tmp_path):
    held_to(trick, evaluate(service, trick, tmp_path))


@pytest.mark.gpu
@pytest.mark.parametrize("trick", params("cheats", "cuda"))
def test_it_does_not_fall_for_on_a_gpu(service, trick, tmp_path):
    held_to(trick, evaluate(service, trick, tmp_path, "cuda:0"))


@pytest.mark.gpu
@pytest.mark.parametrize("trick", params("honest", "cuda"))
def test_it_lets_pass_on_a_gpu(service, trick, tmp_path):
    held_to(trick, evaluate(service, trick, tmp_path, "cuda:0"))


@pytest.mark.parametrize("trick", [*params("cheats", "cuda"), *params("honest", "cuda")])
def test_it_compiles_what_only_runs_on_a_gpu(trick, tmp_path):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not on PATH; install the CUDA toolkit to compile these")
    command = [nvcc, "-std=c++17", "-cuda", "--default-stream=per-thread", *trick.flags]
    out = tmp_path / "candidate.ii"
    done = subprocess.run(
        [*command, str(trick.path), "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", LEAST)
def test_there_are_enough_and_each_differs(kind):
    found = [trick for backend in BACKENDS for trick in every(kind, backend)]
    assert len(found) >= LEAST[kind]
    said = [(trick.backend, trick.words["trick"]) for trick in found]
    assert sorted(said) == sorted(set(said))
    known = {*Outcome, "no_gain"}
    assert all(set(trick.outcomes) <= known for trick in found)
    honest = kind == "honest"
    assert all((trick.outcomes == ("passed",)) == honest for trick in found)


def test_it_names_what_a_header_lacks(tmp_path):
    file = tmp_path / "a.cpp"
    file.write_text("// trick: nothing\n// outcome: passed\n")
    with pytest.raises(ValueError, match=re.escape("a.cpp: problem: missing")):
        read(file, tmp_path)


def test_it_finds_every_problem():
    for kind in LEAST:
        for backend in BACKENDS:
            for trick in every(kind, backend):
                assert (trick.problem / "problem.toml").is_file(), trick.path
                assert trick.problem.is_relative_to(HERE.parents[2])
