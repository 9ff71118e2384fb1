"""Outputs with few values: poison may look like an answer, and honest kernels still pass."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Outcome, Source
from tests.evaluator import small

REF = """
import torch

def setup(*, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, generator=g, device=device)
    return {"inputs": {"x": x, "y": torch.empty(N, dtype=torch.DTYPE, device=device), "N": N},
            "outputs": ["y"]}

def reference(x, y, N):
    y.copy_(EXPRESSION)
"""
KERNEL = """
extern "C" void solve(const float* x, TYPE* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = EXPRESSION;
}
"""


@pytest.mark.parametrize(
    ("dtype", "expression", "type_name", "code"),
    [
        ("bool", "x > -1.5", "bool", "x[i] > -1.5f"),
        ("int8", "torch.full_like(y, 127)", "signed char", "127"),
        ("uint8", "torch.full_like(y, 200)", "unsigned char", "200"),
    ],
)
def test_it_passes_honest_kernels_with_few_values(
    service, tmp_path, dtype, expression, type_name, code
):
    ref = REF.replace("DTYPE", dtype).replace("EXPRESSION", expression)
    problem = small.write_problem(tmp_path, ref=ref)
    text = KERNEL.replace("TYPE", type_name).replace("EXPRESSION", code)
    report = service.evaluate(small.job(problem, tmp_path, Source("k.cpp", text)))
    assert report.outcome is Outcome.PASSED, report.reason


@pytest.mark.parametrize(
    ("own", "code", "outcome"),
    [
        ("", "roundf(v + 0.003f)", Outcome.WRONG_RESULT),
        ("[tolerance.outputs.y]\nsteps = 1\n", "roundf(v + 0.003f)", Outcome.PASSED),
        ("[tolerance.outputs.y]\nsteps = 1\n", "truncf(v)", Outcome.WRONG_RESULT),
    ],
)
def test_a_quantiser_may_be_off_by_a_step_in_few_elements(service, tmp_path, own, code, outcome):
    ref = REF.replace("DTYPE", "int8")
    ref = ref.replace("EXPRESSION", "torch.round(x * 20).clamp(-127, 127)")
    toml = small.TOML.replace("[[case]]", own + "[[case]]", 1)
    problem = small.write_problem(tmp_path, toml, ref)
    text = KERNEL.replace("TYPE", "signed char").replace("EXPRESSION", "q(x[i] * 20)")
    clamped = f"fminf(fmaxf({code}, -127), 127)"
    text = f"#include <cmath>\nstatic float q(float v) {{ return {clamped}; }}\n" + text
    report = service.evaluate(small.job(problem, tmp_path, Source("k.cpp", text)))
    assert report.outcome is outcome, report.reason
