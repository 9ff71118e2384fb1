"""Python that calls torch runs for real and is timed, on a CPU too; and it is judged like any."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import CopiedOutput, Limits, Outcome, Source, Timer
from tests.evaluator import small

HONEST = "import torch\n\n\ndef run_kernel(x, y, N):\n    torch.mul(x, 2, out=y)\n"
CACHED = """
import torch
KEPT = []

def run_kernel(x, y, N):
    if not KEPT:
        KEPT.append(x * 2)
    y.copy_(KEPT[0])
"""
COMPILED = """
import os, pathlib, torch

def double(x, y, N):
    y.copy_(x * 2)

compiled = torch.compile(double, dynamic=False)

def run_kernel(x, y, N):
    compiled(x, y, N)
    if not any(pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).rglob("*.so")):
        raise RuntimeError("nothing was compiled")
"""
SLOW = replace(small.QUICK, limits=Limits(load_s=120, call_s=60, total_s=400, lost_s=90))


@pytest.fixture
def judge_torch(judge):
    """Judge a text as a candidate of the backend torch."""

    def run(text: str, **more: object):
        return judge(Source("eager.py", text), backend="torch", **more)

    return run


@pytest.mark.sentinel
def test_it_is_run_and_timed_on_a_cpu(judge_torch):
    report = judge_torch(HONEST)
    assert report.outcome is Outcome.PASSED, report.reason
    timing = report.cases[0].candidate
    assert timing.timer is Timer.CALLS
    assert min(timing.samples_us) > 0
    assert timing.copied == ()
    assert report.environment["compiler"].startswith("torch 2")


def test_it_takes_a_function_that_returns_its_answer_and_tells_of_the_copy(judge_torch):
    report = judge_torch("def run_kernel(x, N):\n    return x * 2\n")
    assert report.outcome is Outcome.PASSED, report.reason
    assert report.cases[0].candidate.copied == (CopiedOutput("y", 4 * 4096),)


def test_it_has_as_many_threads_as_a_kernel_in_c_plus_plus(judge_torch):
    told = (
        "import os, torch\n\n\ndef run_kernel(x, y, N):\n"
        "    assert torch.get_num_threads() == len(os.sched_getaffinity(0))\n"
        "    assert not torch.is_grad_enabled()\n"
        "    torch.mul(x, 2, out=y)\n"
    )
    report = judge_torch(told, timed=False)
    assert report.outcome is Outcome.PASSED, report.reason


@pytest.mark.parametrize(
    "text",
    [CACHED, "def run_kernel(x, y, N):\n    pass\n", HONEST.replace("x, 2", "x[:1].expand(N), 2")],
    ids=["an answer that is kept", "nothing is written", "one value for all"],
)
def test_it_catches_what_does_not_compute(judge_torch, text):
    report = judge_torch(text)
    assert report.outcome is Outcome.WRONG_RESULT
    assert report.cases[0].candidate is None


@pytest.mark.parametrize(
    ("text", "outcome", "said"),
    [
        ("def run_kernel(x, y, N)\n", Outcome.BUILD_FAILED, "eager.py:1: expected ':'"),
        ("def solve(a): ...\n", Outcome.BUILD_FAILED, "no function run_kernel"),
        ("def run_kernel(x, y, N):\n    y.copy_(z)\n", Outcome.CRASHED, "eager.py:2: error: Name"),
    ],
)
def test_it_says_where_an_error_is(judge_torch, text, outcome, said):
    report = judge_torch(text)
    assert report.outcome is outcome
    assert said in f"{report.reason} {report.build_log} {report.runner_log}"


def test_it_is_compared_with_a_kernel_of_another_backend(judge_torch):
    report = judge_torch(HONEST, incumbent=small.source(), incumbent_backend="cpp")
    assert report.outcome is Outcome.PASSED, report.reason
    case = report.cases[0]
    assert len(case.candidate.samples_us) == len(case.incumbent.samples_us)
    assert case.candidate.timer is case.incumbent.timer is Timer.CALLS


def test_it_is_not_timed_against_what_is_interpreted(judge_torch):
    triton = Source("k.py", "def run_kernel(x, y, N):\n    y.copy_(x * 2)\n")
    report = judge_torch(HONEST, incumbent=triton, incumbent_backend="triton")
    assert report.outcome is Outcome.PASSED, report.reason
    assert report.cases[0].candidate is None


def test_it_has_no_sanitizer_and_no_code_of_its_own(judge_torch):
    assert judge_torch(HONEST, sanitize=True).outcome is Outcome.PASSED
    read = judge_torch(HONEST, read_code="machine")
    assert read.outcome is Outcome.PASSED, read.reason


def test_it_lets_torch_compile_in_the_locked_runner(judge_torch):
    report = judge_torch(COMPILED, protocol=SLOW)
    assert report.outcome is Outcome.PASSED, f"{report.reason} {report.runner_log[-2000:]}"
    assert report.cases[0].candidate.samples_us
