"""Operands that come packed: weights of 4 bits, two in a byte, which the reference unpacks."""

import pytest
import torch

from campaigns.evaluator.contract import Case, Outcome, Source
from campaigns.problems.import_.draft import Given
from campaigns.problems.import_.propose import propose
from campaigns.steps.problems import written_files
from campaigns.steps.propose_problem import propose_problem
from tests.evaluator import small

pytestmark = pytest.mark.sentinel

KERNEL = """
extern "C" void solve(const float* x, const unsigned char* w, const float* scale, float* out,
                      int M, int N, int K) {
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float sum = 0;
      for (int k = 0; k < K; ++k) {
        int pair = w[n * K + k];
        sum += x[m * 2 * K + 2 * k] * ((pair & 15) - 8);
        sum += x[m * 2 * K + 2 * k + 1] * ((pair >> 4) - 8);
      }
      out[m * N + n] = sum * scale[n];
    }
}
"""
SWAPPED = KERNEL.replace("2 * k] *", "2 * k + 1] *", 1).replace(
    "2 * k + 1] * ((pair >>", "2 * k] * ((pair >>"
)
REFERENCE = """
import torch


def int4_linear(x, w, scale):
    low, high = (w & 15).int() - 8, (w >> 4).int() - 8
    return x @ torch.stack([low, high], -1).flatten(1).to(x.dtype).T * scale
"""
CALL = (
    "M, N, K = 16, 32, 24; int4_linear(torch.randn(M, 2 * K), "
    "torch.randint(0, 256, (N, K), dtype=torch.uint8), torch.rand(N))"
)
SIZES = {"K": 24, "M": 16, "N": 32}


def test_packed_weights_are_an_input_that_is_judged(service, tmp_path):
    given = Given("int4.cpp", KERNEL, "ref.py", REFERENCE, calls=(CALL,))
    found = propose_problem(propose(given))
    scope = {}
    exec(found.files["ref.py"], scope)
    packed = scope["setup"](**SIZES, seed=1, device="cpu")["inputs"]["w"]
    assert (packed.dtype, packed.shape) == (torch.uint8, (32, 24))
    assert int(packed.max()) > 200  # both halves of a byte are drawn

    folder = written_files(found.files, tmp_path)
    case = Case(next(iter(found.draft.cases)), SIZES)
    for text, outcome in ((KERNEL, Outcome.PASSED), (SWAPPED, Outcome.WRONG_RESULT)):
        job = small.job(folder, tmp_path, Source("k.cpp", text), cases=(case,))
        report = service.evaluate(job)
        assert report.outcome is outcome, report.reason
