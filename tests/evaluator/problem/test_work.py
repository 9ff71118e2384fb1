"""The least work that is counted where a problem does not say: never more than a call must do."""

from __future__ import annotations

import json

import pytest

from campaigns.evaluator.problem import work
from tests.evaluator import small

CASE = {"name": "n4096", "params": {"N": 4096}}
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
def test_it_counts_bytes_that_a_call_must_move(tmp_path, capsys, ref, moved):
    assert work.main(small.write_problem(tmp_path, ref=ref), [CASE]) == 0
    assert json.loads(capsys.readouterr().out)["n4096"][1] == moved


def test_what_the_problem_says_counts(tmp_path, capsys):
    assert work.main(small.write_problem(tmp_path), [CASE]) == 0
    assert json.loads(capsys.readouterr().out) == {"n4096": [4096.0, 8 * 4096.0]}
