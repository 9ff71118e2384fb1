"""Which line of a problem.toml an error speaks of."""

import pytest

from campaigns.evaluator.contract.problem_reader import with_line

TEXT = """schema = 1
name = "a"

[tolerance]
atol = 1
rtol = -1

[[case]]
name = "one"
params = { N = 1 }

[[case]]
name = "two"
params = { N = [] }
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("name: 'a b'; accepted", 2),
        ("[tolerance] rtol: found -1", 6),
        ("[[case]] 2: params.N: is not a number", 14),
        ("[[case]] 2: on: unknown", 12),
        ("[[case]]: the name is used twice", 8),
    ],
)
def test_it_names_the_line_of_the_key_else_of_its_table(place, line):
    for folder in ("", "mine/"):
        told = with_line(f"{folder}problem.toml: {place}", TEXT)
        assert told == f"{folder}problem.toml, line {line}: {place}"


@pytest.mark.parametrize(
    "message",
    ["problem.toml: dtype: needed", "problem.toml: [[case]] 3: on: x", "ref.py:3: setup: x"],
)
def test_it_leaves_alone_what_the_text_does_not_have(message):
    assert with_line(message, TEXT) == message
