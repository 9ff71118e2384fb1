"""Triton and CUDA on a real card: honest kernels pass and are timed, dishonest runners are caught.

Run with `pytest tests/gpu` on a host with an NVIDIA GPU, torch built for CUDA, Triton and nvcc.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from campaigns.devices.discover import this_device
from campaigns.devices.idle import look_closely
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Job, Limits, Outcome, Protocol, Report, Source, Timer
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.rules.noise.device_gate import DeviceState
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.source_gates import own_kernels

pytestmark = pytest.mark.gpu

PROBLEMS = Path(__file__).parents[2] / "campaigns" / "problems"
FILES = {"triton": "v0.py", "cuda": "v0.cu"}
ALONE = Standard(has_incumbent=False)
PROTOCOL = Protocol(blocks=2, trials=2, limits=Limits(call_s=5))


@pytest.fixture
def judge(service: EvaluatorService, tmp_path: Path) -> Callable[..., Report]:
    target = this_device("cuda:0").target

    def run(
        problem: str,
        backend: str,
        text: str,
        against: str | None = None,
        own_kernels: tuple[str, ...] = (),
    ) -> Report:
        spec = load_problem(PROBLEMS / problem)
        name = FILES[backend]
        return service.evaluate(
            Job(
                job_id="gpu-test",
                problem=spec.folder,
                backend=backend,
                device="cuda:0",
                target=target,
                cases=(spec.cases_on("gpu")[0].case,),
                candidate=Source(name, text),
                incumbent=Source(name, against) if against is not None else None,
                scratch=tmp_path / "scratch",
                protocol=PROTOCOL,
                own_kernels=own_kernels,
            )
        )

    return run


def v0(problem: str, backend: str) -> str:
    return (PROBLEMS / problem / FILES[backend]).read_text()


@pytest.mark.parametrize("backend", ["triton", "cuda"])
@pytest.mark.parametrize("problem", ["vector_add", "softmax", "matmul", "layernorm"])
def test_it_passes_the_shipped_v0_and_times_it_through_a_graph(judge, problem, backend):
    text = v0(problem, backend)
    report = judge(problem, backend, text, text)
    assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    (case,) = report.cases
    for arm in (case.candidate, case.incumbent):
        assert arm is not None
        assert arm.timer is Timer.GRAPH
        assert len(arm.samples_us) == 4
        assert arm.device_us is not None
        assert median(arm.samples_us) > 0


@pytest.mark.parametrize("backend", ["triton", "cuda"])
def test_it_records_how_a_kernel_was_launched(judge, backend):
    report = judge("softmax", backend, v0("softmax", backend))
    launch = report.cases[0].candidate.launch
    assert launch is not None
    assert launch.kernels == 1
    assert min(*launch.grid, *launch.block) >= 1
    assert math.prod(launch.block) <= 1024
    assert launch.registers > 0
    # A whole number, so that a few blocks on a large card come out as 0.
    assert launch.occupancy_percent is None or 0 <= launch.occupancy_percent <= 100


def test_it_counts_a_block_for_each_tile_of_a_product(judge):
    report = judge("matmul", "triton", v0("matmul", "triton"))
    launch = report.cases[0].candidate.launch
    assert launch is not None
    assert math.prod(launch.grid) == 16 * 16  # 1024 / 64 each way


def test_it_times_a_solve_that_synchronises_as_a_plain_loop(judge):
    text = v0("softmax", "cuda")
    end = text.rindex("}")
    report = judge("softmax", "cuda", text[:end] + " cudaDeviceSynchronize(); }")
    assert report.outcome is Outcome.PASSED, report.reason
    timing = report.cases[0].candidate
    assert timing is not None
    assert timing.timer is Timer.LOOP
    assert len(timing.device_samples_us) == len(timing.samples_us)
    assert min(timing.device_samples_us) > 0


def test_it_times_a_candidate_on_its_own_stream_as_a_plain_loop(judge):
    text = (
        v0("vector_add", "triton")
        + """

_run = run_kernel

def run_kernel(**inputs):
    import torch
    own = torch.cuda.Stream()
    own.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(own):
        _run(**inputs)
    own.synchronize()
"""
    )
    report = judge("vector_add", "triton", text)
    assert report.outcome is Outcome.PASSED, report.reason
    timing = report.cases[0].candidate
    assert timing is not None
    assert timing.timer is Timer.LOOP


# What a hostile candidate can do to the process that runs it: replace the runner's own methods.
TAKE_OVER = """

import torch
from campaigns.evaluator.builds import device_plan as device

def _half_then_rest(self, calls):
    "Replay everything, but say done in between."
    self._chain.launch()

def _first_half(self, calls):
    self._chain.arrange(self._chain.order[: -(-calls // 2)])
    self._chain.launch()
    torch.cuda.synchronize()

device.DevicePlan.run = HOW
"""


def test_it_catches_a_runner_that_answers_before_its_work_is_done(judge):
    text = v0("softmax", "triton") + TAKE_OVER.replace("HOW", "_half_then_rest")
    report = judge("softmax", "triton", text)
    assert report.outcome in (Outcome.CHEATED, Outcome.WRONG_RESULT)
    assert "before its work was done" in report.reason or "timed call" in report.reason


def test_it_catches_a_runner_that_does_part_of_the_work(judge):
    text = v0("softmax", "triton") + TAKE_OVER.replace("HOW", "_first_half")
    report = judge("softmax", "triton", text)
    assert report.outcome is Outcome.WRONG_RESULT
    assert "timed call" in report.reason


def test_it_catches_answers_from_a_cache(judge):
    text = (
        v0("softmax", "triton")
        + """

_run, _seen = run_kernel, {}

def run_kernel(**inputs):
    key = inputs["input"].data_ptr()
    if key not in _seen:
        _run(**inputs)
        _seen[key] = inputs["output"].clone()
    inputs["output"].copy_(_seen[key])
"""
    )
    report = judge("softmax", "triton", text)
    assert report.outcome is Outcome.WRONG_RESULT
    assert "elements wrong" in report.reason


def test_it_tells_a_build_failure_from_a_crash_and_a_hang(judge):
    cuda = v0("softmax", "cuda")
    assert judge("softmax", "cuda", cuda + "\nint x = ;").outcome is Outcome.BUILD_FAILED
    wild = cuda.replace("float* y = output +", "float* y = output + (1ll << 42) +")
    assert judge("softmax", "cuda", wild).outcome in (Outcome.CRASHED, Outcome.WRONG_RESULT)
    hang = v0("vector_add", "cuda").replace("{", "{ while (clock64() != 1) {}\n", 1)
    assert judge("vector_add", "cuda", hang).outcome is Outcome.TIMED_OUT
    # The card and the service are fine afterwards.
    assert judge("softmax", "cuda", cuda).outcome is Outcome.PASSED


def test_it_gives_later_jobs_a_crew_whose_device_is_started(judge):
    text = v0("softmax", "cuda")
    judge("softmax", "cuda", text)
    report = judge("softmax", "cuda", text)
    assert report.outcome is Outcome.PASSED
    assert report.environment["crew"] == "from the reserve"


def test_it_shows_the_gate_no_crew_of_its_own_that_waits(judge, service):
    """Else every measurement within a minute of another would wait for that one's reserve."""
    text = v0("softmax", "cuda")
    assert judge("softmax", "cuda", text).outcome is Outcome.PASSED
    service.rest()
    found = look_closely(this_device("cuda:0"))
    assert found.gate is not DeviceState.BUSY, found.why
    assert judge("softmax", "cuda", text).environment["crew"] == "started for this job"


def by_library(show: str) -> str:
    """A softmax that torch computes; `show` names a Triton kernel that copies the answer."""
    copied = f"{show}[(triton.cdiv(t.numel(), 4096),)](t, output, t.numel(), B=4096)"
    return f"""
import torch, triton, triton.language as tl

@triton.jit
def for_show(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

def run_kernel(input, output, N, D):
    t = torch.softmax(input, 1)
    {copied if show else "output.copy_(t)"}
"""


@pytest.mark.parametrize("backend", ["triton", "cuda"])
@pytest.mark.parametrize("problem", ["vector_add", "softmax", "matmul", "layernorm"])
def test_it_sees_the_shipped_kernels_take_the_time(judge, problem, backend):
    gate = own_kernels(judge(problem, backend, v0(problem, backend)), ALONE).gate
    assert gate.passed is True, gate.found


@pytest.mark.parametrize("show", ["", "for_show"])
def test_it_doubts_a_library_behind_a_kernel_for_show(judge, show):
    report = judge("softmax", "triton", by_library(show))
    assert report.outcome is Outcome.PASSED, report.reason
    found = own_kernels(report, ALONE)
    assert found.reason is Reason.NOT_ITS_OWN_KERNEL, found.gate.found
    assert ("for_show (1 × a call)" in found.gate.found) is bool(show)


@pytest.mark.parametrize("declared", [False, True])
def test_it_counts_a_macros_kernel_where_it_is_declared(judge, declared):
    plain = "__global__ void softmax_rows("
    pasted = "#define MADE(name) __global__ void name##_rows\n\nMADE(softmax)("
    text = v0("softmax", "cuda").replace(plain, pasted)
    assert pasted in text
    report = judge("softmax", "cuda", text, own_kernels=("softmax_rows",) if declared else ())
    assert report.outcome is Outcome.PASSED, report.reason
    found = own_kernels(report, ALONE)
    assert found.reason is (None if declared else Reason.NOT_ITS_OWN_KERNEL), found.gate.found
    assert ("softmax_rows (declared by the campaign," in found.gate.found) is declared
