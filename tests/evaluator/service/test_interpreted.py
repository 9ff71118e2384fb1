"""A Triton kernel on a host without a GPU: right, wrong, or not judged here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Outcome, Phase
from tests.evaluator import small

HEAD = """import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def twice(x, y, N, f, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < N)
    tl.store(y + i, {value}, mask=i < N)


def run_kernel(x, y, N):
    grid = (triton.cdiv(N, 1024),)
    {before}
    {launch}
"""
LAUNCH = "twice[grid](x, y, N, 2.0, B=1024)"
CAPABILITY = "\nassert torch.cuda.get_device_capability() == (9, 0)\n"


def candidate(value="v * f", before="", launch=LAUNCH, top=""):
    return small.Source("k.py", top + HEAD.format(value=value, before=before, launch=launch))


def judged(service, tmp_path, kernel, ref=small.REF, **more):
    problem = small.write_problem(tmp_path, ref=ref)
    more = {"backend": "triton", "target": "sm_90a", "timed": False} | more
    return service.evaluate(small.job(problem, tmp_path, kernel, **more))


@pytest.mark.parametrize(
    "kernel",
    [
        candidate(value="v * f.to(tl.float32)"),
        candidate(launch="twice[lambda meta: list(grid)](x, y, N, 2.0, B=1024)"),
        candidate(before="assert x.is_cuda and torch.cuda.is_available()"),
        candidate(before="with torch.cuda.device(x.device): pass"),
        candidate(before="assert torch.cuda.get_device_properties(0).multi_processor_count"),
        candidate(
            before="t = torch.empty(N, device='cuda')",
            launch=LAUNCH.replace("y", "t") + "; y.copy_(t.cuda())",
        ),
        candidate(top="import torch" + CAPABILITY),
    ],
    ids=["float", "list grid", "is_cuda", "device", "properties", "cuda buffer", "capability"],
)
def test_what_is_right_on_a_gpu_is_right_here(service, tmp_path, kernel):
    report = judged(service, tmp_path, kernel)
    assert report.outcome is Outcome.PASSED, report.reason
    assert "compiled for sm_90a: twice" in report.build_log


ASSEMBLY = 'tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=f,f", [v], tl.float32, True, 1)'
KERNEL = "Triton's interpreter cannot run this kernel"
GLUON = """import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


{tuned}@gluon.jit
def twice(x, y, N, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.program_id(0) * B + gl.arange(0, B, layout)
    gl.store(y + i, {value}, mask=i < N)


def run_kernel(x, y, N):
    {before}
    twice[(triton.cdiv(N, 1024),)](x, y, N{given})
"""
DOUBLED, NO_GLUON = "gl.load(x + i, mask=i < N) * 2", "twice is in Gluon, which Triton's interpret"
TUNED = "@triton.autotune(configs=[triton.Config({'B': 1024})], key=['N'])\n"


def in_gluon(value=DOUBLED, before="", tuned=""):
    given = "" if tuned else ", B=1024"
    text = GLUON.format(value=value, before=before, tuned=tuned, given=given)
    return small.Source("k.py", text)


NO_GPU = "this host has no GPU"


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (candidate(ASSEMBLY), KERNEL),
        (candidate("libdevice.fast_tanf(v)"), "interpreter has no libdevice.fast_tanf"),
        (candidate(before="torch.cuda.Event()"), NO_GPU),
        (candidate(before="assert x.device.type == 'cuda'"), NO_GPU),
        (candidate(launch=f"assert {LAUNCH}.n_regs"), "kernel has no n_regs without a GPU"),
        (
            candidate(launch="twice.warmup(x, y, N, 2.0, B=64, grid=(1,))._init_handles()"),
            NO_GPU,
        ),
        (in_gluon(), NO_GLUON),
        (in_gluon(tuned=TUNED), NO_GLUON),
        (in_gluon(before="twice.warmup(x, y, N, B=64, grid=(1,))"), NO_GLUON),
    ],
    ids=[
        *("assembly", "libdevice", "event", "device type", "registers", "warmup"),
        *("gluon", "gluon tuned", "gluon warmup"),
    ],
)
def test_what_only_a_gpu_can_tell_is_not_judged_here(service, tmp_path, kernel, words):
    report = judged(service, tmp_path, kernel)
    assert report.outcome is Outcome.NOT_JUDGED, report.reason
    assert words in report.reason
    assert (report.phase, report.cases) == (Phase.CHECK, ())


@pytest.mark.parametrize(
    ("kernel", "outcome"),
    [
        (candidate("v * f + 1"), Outcome.WRONG_RESULT),
        (candidate(launch=f"{LAUNCH}; raise ValueError('odd')"), Outcome.BUILD_FAILED),
        (candidate(before="1 // ('TRITON_INTERPRET' not in os.environ)"), Outcome.CRASHED),
        (candidate("v * g"), Outcome.BUILD_FAILED),
        (in_gluon("gl.load(x + i) * g"), Outcome.BUILD_FAILED),
        (in_gluon(before="1 // ('TRITON_INTERPRET' not in os.environ)"), Outcome.CRASHED),
    ],
    ids=["wrong", "raises", "crashes", "does not compile", "nor in gluon", "crashes in gluon"],
)
def test_what_is_its_own_fault_stays_so(service, tmp_path, kernel, outcome):
    kernel = replace(kernel, text=f"import os\n{kernel.text}")
    assert judged(service, tmp_path, kernel).outcome is outcome


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn"])
def test_short_floats_are_compiled_and_not_judged(service, tmp_path, dtype):
    ref = small.REF.replace("(x), ", f"(x, dtype=torch.{dtype}), ")
    report = judged(service, tmp_path, candidate("v * f"), ref=ref)
    assert (report.outcome, report.phase) == (Outcome.NOT_JUDGED, Phase.BUILD)
    assert f"interpreter computes {dtype} wrongly" in report.reason
    assert "compiled for sm_90a: twice" in report.build_log


def test_short_floats_show_what_does_not_compile(service, tmp_path):
    ref = small.REF.replace("(x), ", "(x, dtype=torch.bfloat16), ")
    report = judged(service, tmp_path, candidate("tl.laod(x + i)"), ref=ref)
    assert report.outcome is Outcome.BUILD_FAILED
    assert "has no attribute 'laod'" in report.reason


def test_an_incumbent_that_cannot_be_judged_is_no_broken_host(service, tmp_path):
    report = judged(service, tmp_path, candidate(), incumbent=candidate(ASSEMBLY))
    assert report.outcome is Outcome.NOT_JUDGED, report.reason


# As an autotuner does where its key has changed: `QUICK` gives a call 1.5 s, and a build 60 s.
SLOW_AT_FIRST = "if N not in seen: seen.add(N); time.sleep(2.5)"


@pytest.mark.parametrize(
    ("name", "outcome"), [("autotune", Outcome.PASSED), ("heuristics", Outcome.TIMED_OUT)]
)
def test_a_call_that_tunes_itself_has_the_time_of_a_build(service, tmp_path, name, outcome):
    top = f"import time\nfrom triton import {name}\nseen = set()\n"
    report = judged(service, tmp_path, candidate(top=top, before=SLOW_AT_FIRST))
    assert report.outcome is outcome, report.reason
