"""compute-sanitizer in the runner's box: honest kernels are clean, faulty ones found by line.

Run with `pytest tests/gpu/test_gpu_sanitizers.py` on a host with an NVIDIA GPU and a CUDA toolkit
that has compute-sanitizer.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.benchmarks.trick import job_of
from campaigns.devices.discover import this_device
from campaigns.evaluator.contract import Case, Outcome, Sanitized
from campaigns.evaluator.sanitizers import run
from tests.evaluator.tricks.candidate_file import every

pytestmark = pytest.mark.gpu

# Which tool finds it, the words of its kind, and the size where that is not the declared one.
FOUND = {
    "no_bounds_check": (run.MEMCHECK, "Invalid __global__", {"N": 1001}),
    "illegal_address": (run.MEMCHECK, "Invalid __global__", None),
    "missing_barrier": (run.RACECHECK, "Race reported", None),
}


@pytest.fixture
def look(service, tmp_path):
    target = this_device("cuda:0").target

    def run_one(trick, params=None):
        job = job_of(trick, tmp_path / "scratch", "cuda:0", target)
        if params:
            job = replace(job, cases=(Case("odd", params),))
        report = service.evaluate(replace(job, sanitize=True))
        assert report.outcome is Outcome.PASSED, report.reason
        return {one.tool: one for one in report.sanitized}

    return run_one


@pytest.mark.parametrize("trick", list(every("honest", "cuda")), ids=lambda trick: trick.path.stem)
def test_it_finds_nothing_in_honest_kernels(look, trick):
    said = look(trick)
    assert said == {tool: Sanitized(tool, True) for tool in (run.MEMCHECK, run.RACECHECK)}


@pytest.mark.parametrize(
    "trick",
    [trick for trick in every("cheats", "cuda") if trick.path.stem in FOUND],
    ids=lambda trick: trick.path.stem,
)
def test_it_finds_faulty_kernels_and_names_the_line(look, trick):
    tool, kind, params = FOUND[trick.path.stem]
    (fault, *_) = look(trick, params)[tool].faults
    assert fault.kind.startswith(kind)
    assert "[" in trick.path.read_text().splitlines()[fault.line - 1]
