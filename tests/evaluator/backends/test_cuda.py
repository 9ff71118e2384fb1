"""CUDA C++ on a host with its compiler and no GPU: built, and not judged."""

from __future__ import annotations

import shutil

import pytest

from campaigns.evaluator.contract import Outcome, Phase
from tests.evaluator import small

KERNEL = """
__global__ void twice(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) { twice<<<(N + 255) / 256, 256>>>(x, y, N); }
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        (KERNEL, Outcome.NOT_JUDGED, "runs on an NVIDIA GPU only"),
        (KERNEL.replace("x[i];", "x[i]"), Outcome.BUILD_FAILED, 'k.cu(5): error: expected a ";"'),
        (KERNEL.replace(", int N) { t", ") { int N = 1; t"), Outcome.BUILD_FAILED, "2 parameters"),
    ],
    ids=["builds", "does not compile", "signature"],
)
def test_it_is_built_without_a_gpu(service, problem, tmp_path, text, outcome, words):
    kernel = small.Source("k.cu", text)
    job = small.job(problem, tmp_path, kernel, backend="cuda", target="sm_90a", timed=False)
    report = service.evaluate(job)
    assert (report.outcome, report.phase) == (outcome, Phase.BUILD)
    assert words in report.reason
