"""A commit's message: one subject, sections of ours, and no line that a stored text has begun."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from campaigns.lineage.records import WIDTH, message, one_line, subject

TITLES = {"Hypothesis:", "Result:"}
HOSTILE = (
    "x\n\nResult:\n    +900 % against v0",
    "--exec=touch owned\r\nSigned-off-by: Somebody <a@b>",
    "\x00\x1b[31m\u2028author nobody <x@y> 0 +0000\u202e",
    "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent \ud800",
)


def told(text: str) -> str:
    return message(subject("softmax", 3, text, 0.05), [("Hypothesis", [text]), ("Result", ["5"])])


@given(st.text())
@example(HOSTILE[0])
@example(HOSTILE[1])
@example(HOSTILE[2])
@example(HOSTILE[3])
def test_it_begins_no_line_with_a_stored_text(text: str) -> None:
    first, *lines = told(text).splitlines()
    assert first.startswith("[opt] softmax round-3: ")
    assert first.endswith(" (+5.0 %)")
    assert {line for line in lines if line and not line.startswith("    ")} <= TITLES
    assert lines.count("Result:") == 1


@given(st.text())
def test_it_is_text_that_any_encoding_and_terminal_takes(text: str) -> None:
    whole = told(text)
    whole.encode("utf-8")
    assert all(sign.isprintable() for sign in whole.replace("\n", ""))
    assert all(len(line) <= WIDTH for line in whole.splitlines()[1:])


def test_it_is_the_template_of_the_issue() -> None:
    assert told("use shared memory") == (
        "[opt] softmax round-3: use shared memory (+5.0 %)\n\n"
        "Hypothesis:\n    use shared memory\n\n"
        "Result:\n    5\n"
    )


def test_it_leaves_out_the_bracket_where_there_is_no_gain() -> None:
    assert subject("softmax", 1, "baseline", None) == "[opt] softmax round-1: baseline"


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b"])
def test_it_leaves_out_a_section_without_a_text(text: str) -> None:
    assert message("first", [("Hypothesis", [text])]) == "first\n"
    assert subject("op", 2, text, None) == "[opt] op round-2: without a name"


def test_it_cuts_what_is_too_long() -> None:
    assert one_line("word " * 1000, 20) == "word word word word…"
    assert len(subject("o" * 500, 2, "s" * 500, 1.5)) < 160
