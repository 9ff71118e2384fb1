"""The least work that is counted where a problem does not say: never more than a call must do."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.problem_code.check import described, works_of
from campaigns.evaluator.problem_code.code import ProblemCode
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
    assert works_of(code, [CASE])["n4096"][1] == moved


def test_what_the_problem_says_counts(tmp_path):
    code = ProblemCode(small.write_problem(tmp_path))
    assert works_of(code, [CASE]) == {"n4096": (4096.0, 8.0 * 4096)}


@pytest.mark.parametrize("said", ["-1, 8", "1", "float('nan'), 8", "None, 8"])
def test_what_the_problem_says_has_to_be_two_amounts(tmp_path, said):
    ref = small.REF.replace("return N, 8 * N", f"return {said},")
    code = ProblemCode(small.write_problem(tmp_path, ref=ref))
    with pytest.raises(BadReference, match=r"double/ref.py: work\(n4096\)"):
        works_of(code, [CASE])


def test_an_example_is_drawn_once(tmp_path, monkeypatch):
    code = ProblemCode(small.write_problem(tmp_path, ref=COUNTED))
    drawn, made = [], code.examples
    monkeypatch.setattr(code, "examples", lambda draw: (drawn.append(draw.marked), made(draw))[1])
    described(code, CASE)
    works_of(code, [CASE])
    # The marked ones are drawn to see which outputs are updated in place.
    assert drawn.count(False) == 2
