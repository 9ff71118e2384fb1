"""A tiny problem (double every element) and a protocol that is over in a blink."""

from __future__ import annotations

from pathlib import Path

from campaigns.evaluator.contract import Case, Job, Limits, Protocol, Source

TOML = """
schema = 1
name = "double"
title = "Double every element"
op = "scale"
dtype = "float32"
refresh = "shift"
[files]
cpp = "v0.cpp"
[tolerance]
atol = 1e-6
rtol = 1e-6
[[case]]
name = "n4096"
on = ["cpu", "gpu"]
params = { N = 4096 }
"""
REF = """
import torch

def setup(*, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, generator=g, device=device)
    return {"inputs": {"x": x, "y": torch.empty_like(x), "N": N}, "outputs": ["y"]}

def reference(x, y, N):
    torch.mul(x, 2, out=y)

def work(*, N):
    return N, 8 * N
"""
HONEST = 'extern "C" void solve(const float* x, float* y, int N) {\n  BODY\n}\n'
LOOP = "for (int i = 0; i < N; ++i) y[i] = 2 * x[i];"

QUICK = Protocol(
    blocks=1,
    burst_ms=0.5,
    max_slots=16,
    arena_mib=64,
    trials=2,
    limits=Limits(build_s=60, load_s=20, call_s=1.5, prepare_s=20, total_s=90, lost_s=90),
)


def write_problem(folder: Path, toml: str = TOML, ref: str = REF) -> Path:
    """A problem folder named `double` below `folder`."""
    root = folder / "double"
    root.mkdir()
    (root / "problem.toml").write_text(toml)
    (root / "ref.py").write_text(ref)
    (root / "v0.cpp").write_text(source(LOOP).text)
    return root


def source(body: str = LOOP, before: str = "", flags: tuple[str, ...] = ()) -> Source:
    """A C++ candidate with `body` inside solve and `before` above it."""
    return Source("candidate.cpp", before + HONEST.replace("BODY", body), flags)


def job(problem: Path, scratch: Path, candidate: Source, **more: object) -> Job:
    values: dict[str, object] = {
        "job_id": "test",
        "problem": problem,
        "backend": "cpp",
        "device": "cpu",
        "target": "native",
        "cases": (Case("n4096", {"N": 4096}),),
        "candidate": candidate,
        "scratch": scratch / "scratch",
        "protocol": QUICK,
    }
    return Job(**(values | more))  # type: ignore[arg-type]
