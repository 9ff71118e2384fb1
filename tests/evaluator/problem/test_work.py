"""The least work that is counted where a problem does not say: never more than a call must do."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.problem_code.check import described, works_of
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.problem_code.operations import count_operations
from tests.evaluator import small

CASE = Case("n4096", {"N": 4096})
COUNTED = small.REF[: small.REF.index("def work")]
TABLE = COUNTED.replace('"N": N}', '"N": N, "table": table, "at": at}').replace(
    "    return {",
    "    table = torch.randn(9 * N, generator=g, device=device)\n"
    "    at = torch.randint(9 * N, (N,), generator=g, device=device)\n    return {",
)
PICKS = TABLE.replace("def reference(x, y, N)", "def reference(x, y, N, table, at)").replace(
    "torch.mul(x, 2, out=y)", "y.copy_(table[at] + x)"
)
STARTS = COUNTED.replace("torch.empty_like(x)", "torch.zeros_like(x)")
N4 = 4 * 4096


@pytest.mark.parametrize(
    ("ref", "moved"),
    [
        (COUNTED, 2 * N4),
        (PICKS, N4 + N4 + N4 + 2 * N4),
        (STARTS.replace("torch.mul(x, 2, out=y)", "y[5:9] = 1 + x[5:9].abs()"), N4 + 4 * 4),
        (STARTS.replace("torch.mul(x, 2, out=y)", "y.sub_(1)"), N4 + N4),
    ],
    ids=["everything once", "a part of a table", "a part of its output", "all of its output"],
)
def test_it_counts_bytes_that_a_call_must_move(tmp_path, ref, moved):
    code = ProblemCode(small.write_problem(tmp_path, ref=ref))
    assert works_of(code, CASE, [CASE])["n4096"][1] == moved


def test_what_the_problem_says_counts(tmp_path):
    code = ProblemCode(small.write_problem(tmp_path))
    assert works_of(code, CASE, [CASE]) == {"n4096": (4096.0, 8.0 * 4096)}


@pytest.mark.parametrize("said", ["-1, 8", "1", "float('nan'), 8", "None, 8"])
def test_what_the_problem_says_has_to_be_two_amounts(tmp_path, said):
    ref = small.REF.replace("return N, 8 * N", f"return {said},")
    code = ProblemCode(small.write_problem(tmp_path, ref=ref))
    with pytest.raises(BadReference, match=r"double/ref.py: work\(n4096\)"):
        works_of(code, CASE, [CASE])


def test_the_reference_runs_on_the_smallest_case_alone(tmp_path, monkeypatch):
    code = ProblemCode(small.write_problem(tmp_path, ref=COUNTED))
    drawn, made = [], code.examples
    monkeypatch.setattr(code, "examples", lambda draw: (drawn.append(draw.case), made(draw))[1])
    # More than any memory holds.
    huge = Case("huge", {"N": 1 << 40})
    assert described(code, tmp_path / "double", CASE, huge)["work"]["bytes"] == 8 << 40
    assert works_of(code, CASE, [CASE, huge])["huge"] == (1 << 40, 8 << 40)
    assert drawn == ["n4096"] * 3 + ["huge", "n4096", "n4096", "huge"]


def test_what_is_made_on_a_cpu_whatever_is_asked_for_needs_no_contents(tmp_path):
    ref = COUNTED.replace("    g =", "    torch.ones(N >> 4, device='cpu')\n    g =")
    code = ProblemCode(small.write_problem(tmp_path, ref=ref))
    huge = Case("huge", {"N": 1 << 34})
    assert works_of(code, CASE, [huge])["huge"] == (1 << 34, 8 << 34)


def test_what_asks_for_contents_is_run(tmp_path):
    ref = COUNTED.replace("torch.mul(x, 2, out=y)", "y.copy_(x * (1 if x[0].item() else 2))")
    code = ProblemCode(small.write_problem(tmp_path, ref=ref))
    assert works_of(code, CASE, [CASE])["n4096"] == (4096, 2 * N4)


def test_operators_that_nobody_can_count_are_named(tmp_path):
    square = "torch.linalg.inv(x.view(64, 64)).reshape(-1)"
    ref = COUNTED.replace("torch.mul(x, 2, out=y)", f"y.copy_({square})")
    code = ProblemCode(small.write_problem(tmp_path, ref=ref))
    assert (
        "aten.linalg_inv_ex" in described(code, tmp_path / "double", CASE, CASE)["work"]["unknown"]
    )
    with pytest.raises(BadReference, match=r"operations UNKNOWN: .* aten.linalg_inv_ex; accepted"):
        works_of(code, CASE, [CASE])


X = torch.empty(6, 8, device="meta")
HEADS = torch.empty(2, 3, 16, 8, device="meta")


@pytest.mark.parametrize(
    ("run", "least"),
    [
        (lambda: X @ X.T, 2 * 6 * 6 * 8),
        (lambda: torch.relu(X + 1), 2 * 48),
        (lambda: X.transpose(0, 1).reshape(48), 0),
        (lambda: functional.layer_norm(X, (8,)), 48),
        (lambda: torch.linalg.vector_norm(X, dim=1), 48),
        (lambda: functional.embedding(torch.empty(5, dtype=torch.int64, device="meta"), X), 40),
        (lambda: functional.scaled_dot_product_attention(HEADS, HEADS, HEADS), 6 * 256 * 32),
        (
            lambda: functional.scaled_dot_product_attention(HEADS, HEADS, HEADS, is_causal=True),
            6 * 136 * 32,
        ),
    ],
    ids=[
        "product",
        "elements",
        "moves",
        "a norm",
        "a length",
        "a table",
        "attention",
        "causal attention",
    ],
)
def test_it_counts_operations_at_the_least(run, least):
    assert count_operations(run) == (least, ())
