"""Kernels of known work for every backend that is timed: of given lengths, and with 3 % more.

Each value goes through a chain of multiply-adds that leaves it as it is. The factors are arguments,
so no compiler can know that, and next to the chains nothing else takes time.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from string import Template

from campaigns.devices.discover import Device
from campaigns.evaluator.contract import Case, Job, Protocol, Source

GAIN = 0.03
# Values and links of a chain: about a millisecond of a CPU's core, a tenth of one of a large GPU.
VALUES = {"cpu": 512, "gpu": 1 << 20}
STEPS = 2000
# From some 5 µs to some 5 ms of a large GPU.
LENGTHS = (150, 1_500, 15_000, 150_000)

PROBLEM = """\
schema = 1
name = "chain"
title = "Values through a chain of multiply-adds that leaves them as they are"
op = "chain"
dtype = "float32"
refresh = "shift"
[files]
cpp = "chain.cpp"
[tolerance]
atol = 1e-6
rtol = 1e-6
[[case]]
name = "declared"
params = { N = 512 }
"""
REFERENCE = '''\
"""What a chain of multiplications by one and additions of zero leaves of x."""

import torch


def setup(*, N, seed, device):
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, generator=generator, device=device)
    inputs = {"x": x, "y": torch.empty_like(x), "N": N, "a": 1.0, "b": 0.0}
    return {"inputs": inputs, "outputs": ["y"]}


def reference(*, x, y, N, a, b):
    y.copy_(x * a + b)
'''
SOURCES = {
    "cpp": (
        "chain.cpp",
        """\
extern "C" void solve(const float* x, float* y, int N, float a, float b) {
  for (int i = 0; i < N; ++i) {
    float value = x[i];
    for (int step = 0; step < $steps; ++step) value = value * a + b;
    y[i] = value;
  }
}
""",
    ),
    "cuda": (
        "chain.cu",
        """\
__global__ void chain(const float* x, float* y, int N, float a, float b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float value = x[i];
#pragma unroll 4
  for (int step = 0; step < $steps; ++step) value = value * a + b;
  y[i] = value;
}
extern "C" void solve(const float* x, float* y, int N, float a, float b) {
  chain<<<(N + 255) / 256, 256>>>(x, y, N, a, b);
}
""",
    ),
    "triton": (
        "chain.py",
        """\
import triton
import triton.language as tl


@triton.jit
def chain(x_ptr, y_ptr, N, a, b, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + at, mask=at < N)
    for _ in range($steps):
        value = value * a + b
    tl.store(y_ptr + at, value, mask=at < N)


def run_kernel(x, y, N, a, b):
    chain[(triton.cdiv(N, 256),)](x, y, N, a, b, BLOCK=256)
""",
    ),
}


def write_problem(folder: Path) -> Path:
    """Write the problem of these kernels below `folder`; where it is then."""
    problem = folder / "chain"
    problem.mkdir()
    (problem / "problem.toml").write_text(PROBLEM)
    (problem / "ref.py").write_text(REFERENCE)
    (problem / "chain.cpp").write_text(_source("cpp", STEPS).text)
    return problem


def chain_job(
    device: Device, problem: Path, backend: str, scratch: Path, protocol: Protocol, steps: int
) -> Job:
    """The kernel with chains of so many steps against itself."""
    source = _source(backend, steps)
    return Job(
        job_id=scratch.name,
        problem=problem,
        backend=backend,
        device=device.device,
        target=device.target,
        cases=(Case(f"{steps} steps", {"N": VALUES[device.kind]}),),
        candidate=source,
        incumbent=source,
        scratch=scratch,
        protocol=protocol,
    )


def known_job(
    device: Device, problem: Path, backend: str, scratch: Path, protocol: Protocol
) -> Job:
    """The kernel against the one with a longer chain."""
    job = chain_job(device, problem, backend, scratch, protocol, STEPS)
    return replace(job, incumbent=_source(backend, round(STEPS * (1 + GAIN))))


def _source(backend: str, steps: int) -> Source:
    name, text = SOURCES[backend]
    return Source(name, Template(text).substitute(steps=steps))
