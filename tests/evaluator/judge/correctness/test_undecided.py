"""An exact output may hold any answer that is right; what is wrong stays wrong."""

from __future__ import annotations

import pytest
import torch

from campaigns.evaluator.contract import Case, Outcome
from campaigns.evaluator.judge.correctness.output_comparison import forgiven
from tests.evaluator import small

REF = """
import torch

def setup(*, N, D, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.DRAW(N, D, generator=g, device=device)
    y = torch.empty(SHAPE, dtype=torch.DTYPE, device=device)
    return {"inputs": {"x": x, "y": y, "N": N, "D": D}, "outputs": ["y"]}

def reference(*, x, y, N, D):
    y.copy_(ANSWER)
"""
SORTS = {"DRAW": "randn", "SHAPE": "N, D", "DTYPE": "int64", "ANSWER": "torch.argsort(x, dim=1)"}
SHARES = "torch.softmax(x, dim=1) > 0.02"
MARKS = {"DRAW": "randn", "SHAPE": "N, D", "DTYPE": "bool", "ANSWER": SHARES}
BINS = "torch.stack([torch.bincount((row * 7).long().clamp(0, 6), minlength=7) for row in x])"
COUNTS = {"DRAW": "rand", "SHAPE": "N, 7", "DTYPE": "int64", "ANSWER": BINS}
CASE = {"cases": (Case("n4096", {"N": 20, "D": 90}),)}

SORT = """
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
extern "C" void solve(const float* x, int64_t* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    const float* r = x + n * D;
    std::iota(y + n * D, y + n * D + D, 0);
    std::stable_sort(y + n * D, y + n * D + D, [r](int64_t a, int64_t b) { return LESS; });
    AFTER
  }
}
"""
MARK = """
#include <cmath>
extern "C" void solve(const float* x, bool* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    float sum = 0, peak = x[n * D];
    for (int d = 0; d < D; ++d) peak = fmaxf(peak, x[n * D + d]);
    for (int d = 0; d < D; ++d) sum += expf(x[n * D + d] - peak);
    for (int d = 0; d < D; ++d) y[n * D + d] = expf(x[n * D + d] - peak) > LIMIT * sum;
  }
}
"""
COUNT = """
#include <cstdint>
extern "C" void solve(const float* x, int64_t* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    for (int b = 0; b < 7; ++b) y[n * 7 + b] = 0;
    for (int d = FIRST; d < D; ++d) {
      int b = (int)(x[n * D + d] * 7);
      ++y[n * 7 + (b < 0 ? 0 : b > 6 ? 6 : b)];
    }
  }
}
"""


def outcome(service, tmp_path, problem, text, sets=""):
    ref = REF
    for name, words in problem.items():
        ref = ref.replace(name, words)
    toml = small.TOML.replace('refresh = "shift"', "").replace("N = 4096", "N = 20, D = 90")
    toml = toml.replace("[[case]]", f"[check]\n{sets}\n[[case]]")
    folder = small.write_problem(tmp_path, toml=toml, ref=ref)
    candidate = small.Source("candidate.cpp", text)
    return service.evaluate(small.job(folder, tmp_path, candidate, **CASE))


def test_indices_of_equal_values_come_in_any_order(service, tmp_path):
    text = SORT.replace("LESS", "r[a] < r[b]").replace("AFTER", "")
    report = outcome(service, tmp_path, SORTS, text)
    assert report.outcome is Outcome.PASSED, report.reason


def test_where_the_problem_names_the_set_it_also_says_the_order(service, tmp_path):
    text = SORT.replace("LESS", "r[a] < r[b] || (r[a] == r[b] && a > b)").replace("AFTER", "")
    stable = SORTS | {"ANSWER": "torch.argsort(x, dim=1, stable=True)"}
    report = outcome(service, tmp_path, stable, text, sets='sets = ["zeros"]')
    assert report.outcome is Outcome.WRONG_RESULT
    assert "all inputs zero" in report.reason


@pytest.mark.parametrize(
    ("less", "after"),
    [
        ("r[a] < r[b]", "if (r[0] == r[1]) y[n * D + 3] = y[n * D + 4];"),
        ("r[a] < r[b]", "if (n == 7) std::swap(y[n * D + 3], y[n * D + 4]);"),
        ("std::round(r[a] * 64) < std::round(r[b] * 64)", ""),
    ],
    ids=["one index twice", "two exchanged", "coarse keys"],
)
def test_an_order_that_is_wrong_stays_wrong(service, tmp_path, less, after):
    text = SORT.replace("LESS", less).replace("AFTER", after)
    assert outcome(service, tmp_path, SORTS, text).outcome is Outcome.WRONG_RESULT


@pytest.mark.parametrize(
    ("limit", "expected"), [("0.02f", Outcome.PASSED), ("0.0201f", Outcome.WRONG_RESULT)]
)
def test_a_threshold_is_met_up_to_rounding(service, tmp_path, limit, expected):
    report = outcome(service, tmp_path, MARKS, MARK.replace("LIMIT", limit))
    assert report.outcome is expected, report.reason


@pytest.mark.parametrize(("first", "expected"), [(0, Outcome.PASSED), (1, Outcome.WRONG_RESULT)])
def test_counts_are_right_up_to_what_lies_on_an_edge(service, tmp_path, first, expected):
    report = outcome(service, tmp_path, COUNTS, COUNT.replace("FIRST", str(first)))
    assert report.outcome is expected, report.reason


def test_it_forgives_what_is_among_the_answers_or_little_between_them():
    want = torch.tensor([5, 5, 5, 5])
    also = torch.tensor([[5, 5, 5, 5], [7, 5, 900, 900]])
    found = forgiven(torch.tensor([6, 6, 6, 900]), want, also)
    assert found.tolist() == [5, 6, 6, 5]


def test_a_boolean_that_is_neither_is_never_forgiven():
    want = torch.tensor([True, True])
    also = torch.tensor([[0, 0], [1, 1]], dtype=torch.uint8)
    found = forgiven(torch.tensor([255, 0], dtype=torch.uint8).view(torch.bool), want, also)
    assert found.view(torch.uint8).tolist() == [255, 1]
