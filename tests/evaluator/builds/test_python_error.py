"""Where in a candidate's Python an error arose."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from campaigns.evaluator.builds.python_error import FILE, place_of
from campaigns.evaluator.contract import Source

TEXT = """import math


def half(n):
    return 1 / n


def run_kernel(n):
    return half(n) + math.nothing
"""
SOURCE = Source("add.py", TEXT)


def raised(act):
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever a candidate raises
        act()
    return caught.value


def loaded(tmp_path):
    space = {}
    exec(compile(TEXT, str(tmp_path / FILE), "exec"), space)
    return space["run_kernel"]


def test_it_names_the_innermost_line_of_the_candidate(tmp_path):
    run = loaded(tmp_path)
    divided = raised(lambda: run(0))
    assert place_of(divided, SOURCE) == "add.py:5: error: ZeroDivisionError: division by zero"
    missing = place_of(raised(lambda: run(1)), SOURCE)
    assert missing.startswith("add.py:9: error: AttributeError: module 'math' has no attribute")


def test_what_led_to_others_counts(tmp_path):
    run = loaded(tmp_path)

    def wrapped():
        try:
            run(0)
        except ZeroDivisionError as error:
            raise RuntimeError("a launch failed") from error

    assert place_of(raised(wrapped), SOURCE).startswith("add.py:5: error: ZeroDivisionError")


class NotCompiled(Exception):
    """As Triton's own: a place within the text of a function."""

    def __init__(self, src, line, message):
        super().__init__("at …")
        self.src, self.node, self.error_message = src, ast.Name("x", lineno=line), message


def test_a_line_that_only_points_is_no_message(tmp_path):
    space = {}
    text = "class Odd(Exception): pass\ndef run(): raise Odd('no axis\\n   v = f(v)\\n    ^')\n"
    exec(compile(text, str(tmp_path / FILE), "exec"), space)
    assert place_of(raised(space["run"]), SOURCE) == "add.py:2: error: v = f(v)"


def test_it_finds_what_triton_can_not_compile():
    error = NotCompiled("def run_kernel(n):\n    return half(n)", 2, "no such name\nmore")
    assert place_of(error, SOURCE) == "add.py:9: error: no such name"
    assert place_of(NotCompiled("def other():\n    pass", 1, "x"), SOURCE) == ""


def test_what_arose_elsewhere_has_no_place():
    assert place_of(raised(lambda: [][1]), SOURCE) == ""


class Unspeakable(Exception):
    """Hostile code may raise what can not even be told."""

    def __str__(self):
        raise SystemExit


def test_it_does_not_fall_over_what_a_candidate_raises(tmp_path):
    space = {"Unspeakable": Unspeakable}
    exec(compile("def run():\n    raise Unspeakable", str(tmp_path / FILE), "exec"), space)
    assert place_of(raised(space["run"]), SOURCE).startswith("add.py:2: error: ")


def test_errors_in_a_ring_end():
    first, second = ValueError("one"), ValueError("two")
    first.__cause__, second.__cause__ = second, first
    first.node = SimpleNamespace(lineno="no number")
    assert place_of(first, SOURCE) == ""


def test_an_error_that_only_points_at_a_line_is_told_by_its_cause():
    pointing = NotCompiled("def run_kernel(n):\n    return half(n)", 2, None)
    pointing.__cause__ = NotCompiled("def flip(x):\n    pass", 1, "no dim was given")
    assert place_of(pointing, SOURCE) == "add.py:9: error: no dim was given"
    pointing.__cause__ = None
    assert place_of(pointing, SOURCE) == "add.py:9: error: NotCompiled"


def test_the_line_is_that_of_the_file_that_was_put_in():
    text = "import math\n# line 30 of norm.py\nroot = math.sqrt(-1)\n"
    with pytest.raises(ValueError, match="math domain") as raised:
        exec(compile(text, FILE, "exec"), {})
    assert place_of(raised.value, Source("v0.py", text)) == (
        "norm.py:30: error: ValueError: math domain error"
    )
