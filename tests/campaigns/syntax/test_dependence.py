"""Which C loops may run in any order."""

from __future__ import annotations

import pytest

from campaigns.syntax.c_family import counted_loop, parse, walk
from campaigns.syntax.dependence import examine


def finding(loop: str):
    root = parse(f"void solve(float* a, float* b, float* c, float s, int n) {{ {loop} }}")
    node = next(walk(root, "for_statement"))
    return examine(counted_loop(node), {"helper": ("const float*", "float*")})


@pytest.mark.parametrize(
    "body",
    [
        "c[i] = a[i] + b[i];",
        "float* row = c + i * n; for (int j = 0; j < n; ++j) { row[j] = a[j]; }",
        "float* row = c + i * n; helper(a, row);",
        "float t = a[i]; t += 1.0f; c[i] = expf(t);",
    ],
)
def test_it_accepts_turns_that_write_their_own_places(body):
    found = finding(f"for (int i = 0; i < n; ++i) {{ {body} }}")
    assert found.independent
    assert found.clauses == ""


@pytest.mark.parametrize(
    ("body", "clauses"),
    [
        ("s += a[i];", " reduction(+ : s)"),
        ("if (a[i] > s) s = a[i];", " reduction(max : s)"),
    ],
)
def test_it_names_sums_and_maxima_as_reductions(body, clauses):
    assert finding(f"for (int i = 0; i < n; ++i) {{ {body} }}").clauses == clauses


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = a[i - 1] + b[i];",
        "a[0] = b[i];",
        "a[i / 2] = b[i];",
        "s += a[i]; c[i] = s;",
        "s = a[i] * s;",
        "if (a[i] < s) s = a[i];",
        "unknown(a);",
        "helper(a, c);",
        "if (a[i] > s) break; c[i] = s;",
        "float* row = c + i * n; row[0] = c[0];",
        "float* row = c + i * n; float* next = c + (i + 1) * n; next[0] = row[0];",
    ],
)
def test_it_refuses_turns_that_depend_on_each_other(body):
    assert not finding(f"for (int i = 0; i < n; ++i) {{ {body} }}").independent
