"""Arithmetic from sources of strangers: what is understood, and what is refused."""

from __future__ import annotations

import ast
from ast import Name

import pytest

from campaigns.spaces.expressions import (
    c_expression,
    names_of,
    python_expression,
    resolved,
    value_of,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a * (b + 1)", 9),
        ("a % b == 1 and not a > 8", True),
        ("a if a > b else b", 3),
        ("a // 0", None),
        ("a + unknown", None),
    ],
)
def test_it_computes_with_names(text, value):
    assert value_of(text, {"a": 3, "b": 2}) == value


@pytest.mark.parametrize(
    "text",
    ["f(a)", "a.b", "a[0]", "9 ** 9 ** 9", "1 << 99999999999", "'a' * 99", "lambda: 1", "a +", ""],
)
def test_it_refuses_all_but_plain_arithmetic(text):
    assert python_expression(text) is None
    with pytest.raises(ValueError, match="no arithmetic"):
        value_of(text, {"a": 1})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A / 4", 4),
        ("A % 8 == 0 && A >= 16u", True),
        ("A < 8 || (A\n + 1) / 2 == 8", True),
        ("A != 16", False),
    ],
)
def test_it_reads_c_with_its_division(text, value):
    found = c_expression(text)
    assert found is not None
    assert value_of(ast.unparse(found), {"A": 16}) == value


@pytest.mark.parametrize("text", ["!A", "sizeof(float)", "A ? 1 : 2", "A >> 1", "1.5f", "x // y"])
def test_it_leaves_c_alone_that_python_would_read_otherwise(text):
    assert c_expression(text) is None


def test_it_puts_expressions_in_the_place_of_names():
    across = resolved(c_expression("TILE / SIDE"), {n: Name(n) for n in ("TILE", "SIDE")})
    found = resolved(c_expression("ACROSS * ACROSS + 1"), {"ACROSS": across})
    assert names_of(found) == {"TILE", "SIDE"}
    assert value_of(ast.unparse(found), {"TILE": 64, "SIDE": 4}) == 257


def test_one_with_an_unknown_name_or_of_any_size_stands_for_nothing():
    assert resolved(python_expression("a + b"), {"a": Name("a")}) is None
    sums = python_expression(" + ".join(["a"] * 40))
    assert resolved(sums, {"a": Name("a")}) is not None
    assert resolved(sums, {"a": sums}) is None
    assert python_expression(" + ".join(["a"] * 100)) is None
