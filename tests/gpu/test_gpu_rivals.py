"""Several candidates in one trial on a card: each is judged as if alone, by the same bursts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Case, Limits, Outcome, Protocol, Report
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.rules.verdict.gates import decisive_samples

pytestmark = pytest.mark.gpu

Tried = Callable[..., list[Report]]
SOFTMAX = Path(__file__).parents[2] / "campaigns" / "problems" / "softmax"
PROTOCOL = Protocol(blocks=4, trials=2, limits=Limits(call_s=5))
CASE = Case("4096x4096", {"N": 4096, "D": 4096})
# Of each backend's v0: a text in it, and what takes its place.
MORE_WORK = {
    "triton": (
        "    tl.store(y_ptr + row * D + columns, y, mask=inside)",
        "    for _ in range(4):\n        tl.store(y_ptr + row * D + columns, y, mask=inside)\n"
        "        tl.debug_barrier()",
    ),
    "cuda": ("y[j] /= total;", "y[j] /= total; __threadfence();"),
}
WRONG = {
    "triton": ("y = powers /", "y = 1.01 * powers /"),
    "cuda": ("y[j] /=", "y[j] *= 1.01f /"),
}
# Leaves its answer undone from some call on: the first burst's calls are right.
LAZY = {
    "triton": (
        "def run_kernel(input, output, N, D):\n",
        "calls = 0\n\n\ndef run_kernel(input, output, N, D):\n"
        "    global calls\n    calls += 1\n    if calls > 200:\n        return\n",
    ),
    "cuda": (
        "    softmax_rows<<<",
        "    static int calls;\n    if (++calls > 12) return;\n    softmax_rows<<<",
    ),
}


@pytest.fixture
def tried(service: EvaluatorService, tmp_path: Path) -> Tried:
    """A slower incumbent against the shipped kernel, and beside it what is named."""

    def run(backend: str, *rivals: str) -> list[Report]:
        device, spec = this_device("cuda:0"), load_problem(SOFTMAX)
        job = v0_job(device, spec, backend, tmp_path / "scratch", PROTOCOL)
        text = job.candidate.text
        changed = {
            "right": text,
            "slow": text.replace(*MORE_WORK[backend]),
            "wrong": text.replace(*WRONG[backend]),
            "lazy": text.replace(*LAZY[backend]),
        }
        assert len(set(changed.values())) == len(changed)
        sources = {name: replace(job.candidate, text=text) for name, text in changed.items()}
        report = service.evaluate(
            replace(
                job,
                cases=(CASE,),
                incumbent=sources["slow"],
                rivals=tuple(sources[name] for name in rivals),
            )
        )
        return [report, *report.rivals]

    return run


def gain(report: Report) -> float:
    [case] = report.cases
    assert case.candidate is not None
    assert case.incumbent is not None
    return median(decisive_samples(case, case.incumbent)) / median(
        decisive_samples(case, case.candidate)
    )


@pytest.mark.parametrize("backend", ["triton", "cuda"])
def test_each_has_the_gain_that_it_has_alone(tried: Tried, backend: str) -> None:
    [alone] = tried(backend)
    first, same, slow = tried(backend, "right", "slow")
    for report in (alone, first, same, slow):
        assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    print(f"\n{backend}: alone {gain(alone):.4f}, {alone.wall_s}, beside others {first.wall_s}")
    print([f"{gain(one):.4f}" for one in (first, same, slow)])
    assert gain(first) == pytest.approx(gain(alone), rel=0.02)
    assert gain(same) == pytest.approx(gain(alone), rel=0.02)
    assert gain(slow) == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize("backend", ["triton", "cuda"])
def test_one_that_is_wrong_or_lazy_leaves_the_others_as_they_are(
    tried: Tried, backend: str
) -> None:
    first, wrong, lazy, right = tried(backend, "wrong", "lazy", "right")
    assert wrong.outcome is Outcome.WRONG_RESULT, wrong.reason
    assert lazy.outcome in (Outcome.WRONG_RESULT, Outcome.CHEATED), lazy.reason
    for report in (first, right):
        assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    assert gain(first) == pytest.approx(gain(right), rel=0.02)
