"""Kernels as their authors have them, on a real card: answers are made in the outputs, or told."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.devices.discover import this_device
from campaigns.evaluator.contract import Job, Limits, Outcome, Protocol, Report, Source, Timer
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.source_gates import own_kernels

pytestmark = pytest.mark.gpu

PROBLEMS = Path(__file__).parents[2] / "campaigns" / "problems"
PROTOCOL = Protocol(blocks=2, trials=2, limits=Limits(call_s=5))
SOFTMAX = """
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, D, B: tl.constexpr):
    row = tl.program_id(0) * D
    at = tl.arange(0, B)
    v = tl.load(x + row + at, mask=at < D, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + at, v / tl.sum(v, 0), mask=at < D)


TUNED
def softmax(input):
    y = torch.empty_like(input)
    N, D = input.shape
    CALL
    return y
"""
PLAIN = SOFTMAX.replace("TUNED\n", "").replace(
    "CALL", "rows[(N,)](input, y, D, B=triton.next_power_of_2(D))"
)
CONFIGS = "[triton.Config({}, num_warps=w) for w in (2, 4, 8)]"
TUNED = SOFTMAX.replace("TUNED\n", f'tuned = triton.autotune({CONFIGS}, key=["D"])(rows)\n\n\n')
TUNED = TUNED.replace("CALL", "tuned[(N,)](input, y, D, B=triton.next_power_of_2(D))")
TORCH = "import torch\n\n\ndef f(input):\n    return torch.softmax(input, 1)\n"
COMPILED = TORCH.replace("\n\n\ndef", "\n\n\n@torch.compile\ndef")
LAYER_NORM = """
import torch


def f(x, gamma, beta):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5)
"""
QUANTISE_TOML = """
schema = 1
name = "quantise"
title = "Round to 8 bits"
op = "quantise"
dtype = "float32"
[files]
triton = "v0.py"
[tolerance]
atol = 1e-6
rtol = 1e-6
OWN
[[case]]
name = "1024x1024"
on = ["gpu"]
params = { N = 1024 }
"""
QUANTISE_REF = """
import torch

def setup(*, N, seed, device):
    # In rows: what rounding explains grows with their length.
    random = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, 1024, generator=random, device=device)
    return {"inputs": {"x": x, "q": torch.empty(N, 1024, dtype=torch.KIND, device=device)},
            "outputs": ["q"]}

def reference(x, q):
    q.copy_(ANSWER)
"""
# The offset moves few over the middle between two values.
QUANTISE = """
import torch
import triton
import triton.language as tl


@triton.jit
def rounded(x, q, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    STORE


def quantise(x):
    q = torch.empty(x.shape, dtype=torch.KIND, device=x.device)
    rounded[(triton.cdiv(x.numel(), 1024),)](x, q, x.numel(), B=1024)
    return q
"""
INT8 = "tl.store(q + at, tl.floor(tl.clamp(v * 20, -99.0, 99.0) + 0.502).to(tl.int8), mask=at < n)"
FLOAT8 = """short = tl.clamp(v * 1.0005, -400.0, 400.0).to(tl.float8e4nv)
    tl.store(q + at, short.to(tl.uint8, bitcast=True), mask=at < n)"""


@pytest.fixture
def judge(service, tmp_path):
    target = this_device("cuda:0").target

    def run(folder: Path, backend: str, text: str) -> Report:
        spec = load_problem(folder)
        return service.evaluate(
            Job(
                job_id="gpu-test",
                problem=spec.folder,
                backend=backend,
                device="cuda:0",
                target=target,
                cases=(spec.cases_on("gpu")[0].case,),
                candidate=Source("own.py", text),
                scratch=tmp_path / "scratch",
                protocol=PROTOCOL,
            )
        )

    return run


def timed(report: Report):
    assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    timing = report.cases[0].candidate
    assert timing is not None
    return timing


@pytest.mark.parametrize("text", [PLAIN, TUNED], ids=["plain", "tuned"])
def test_a_wrapper_that_returns_is_timed_without_a_copy(judge, text):
    report = judge(PROBLEMS / "softmax", "triton", text)
    timing = timed(report)
    assert (timing.timer, timing.copied) == (Timer.GRAPH, ())
    assert timing.launch is not None
    assert timing.launch.kernels == 1
    gate = own_kernels(report, Standard(has_incumbent=False)).gate
    assert gate.passed is True, gate.found


def test_what_torch_returns_is_made_in_the_output(judge):
    timing = timed(judge(PROBLEMS / "softmax", "torch", TORCH))
    assert timing.copied == ()
    assert timing.launch is not None
    assert timing.launch.kernels == 1


@pytest.mark.parametrize(
    ("problem", "text", "output"),
    [("layernorm", LAYER_NORM, "y"), ("softmax", COMPILED, "output")],
    ids=["layer_norm", "compiled"],
)
def test_a_copy_that_torch_cannot_be_spared_is_told(judge, problem, text, output):
    """Code that torch compiled takes memory where nothing sees it."""
    timing = timed(judge(PROBLEMS / problem, "torch", text))
    (copied,) = timing.copied
    assert (copied.name, copied.nbytes) == (output, 1024 * 1024 * 4)


@pytest.mark.parametrize("own", ["", "steps"])
@pytest.mark.parametrize(
    ("kind", "answer", "store", "bits"),
    [
        ("int8", "torch.floor((x * 20).clamp(-99, 99) + 0.5).to(torch.int8)", INT8, ""),
        (
            "uint8",
            "x.clamp(-400, 400).to(torch.float8_e4m3fn).view(torch.uint8)",
            FLOAT8,
            '\nbits = "float8_e4m3fn"',
        ),
    ],
    ids=["int8", "float8"],
)
def test_few_answers_of_8_bits_may_be_a_step_off_where_the_problem_says_so(
    judge, tmp_path, own, kind, answer, store, bits
):
    table = f"[tolerance.outputs.q]\nsteps = 1{bits}" if own else ""
    folder = tmp_path / "quantise"
    folder.mkdir()
    text = QUANTISE.replace("KIND", kind).replace("STORE", store)
    (folder / "problem.toml").write_text(QUANTISE_TOML.replace("OWN", table))
    (folder / "ref.py").write_text(QUANTISE_REF.replace("KIND", kind).replace("ANSWER", answer))
    (folder / "v0.py").write_text(text)
    report = judge(folder, "triton", text)
    assert report.outcome is (Outcome.PASSED if own else Outcome.WRONG_RESULT), report.reason
    if not own:
        assert "steps = 1" in report.reason
