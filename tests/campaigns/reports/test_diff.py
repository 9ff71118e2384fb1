"""Diffs and highlighting: pure functions of text."""

import re
import time
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.reports.diff import DiffMark, diff, highlighted, source_lines

TEXTS = st.text(alphabet="ab {};<>&\"'/*#\n\r\t\x00é", max_size=120)
FILES = st.sampled_from(["k.py", "k.cpp", "k.cu", "k.unknown", "noending"])


def plain(html):
    return unescape(re.sub(r"</?span[^>]*>", "", html))


@given(TEXTS, FILES)
def test_it_colours_without_losing_or_adding_a_character(text, name):
    assert [plain(line) for line in highlighted(text, name)] == source_lines(text)


@pytest.mark.parametrize("made_of", ["\n", "/", "("])
def test_it_shows_without_colours_what_takes_too_long(made_of):
    text = made_of * 60_000
    begun = time.thread_time()
    assert [plain(line) for line in highlighted(text, "k.cpp")] == source_lines(text)
    assert time.thread_time() - begun < 10


def test_it_compares_lines_that_all_occur_often():
    begun = time.thread_time()
    found = diff("\n" * 30_000, "\n" * 29_999 + "x\n", "k.txt")
    assert found.added > 0
    assert time.thread_time() - begun < 10


@given(TEXTS, FILES)
def test_it_lets_no_markup_through(text, name):
    for line in highlighted(text, name):
        assert not re.search(r"<(?!/?span)", line)


@given(TEXTS, TEXTS)
def test_it_can_be_put_back_together(old, new):
    rows = diff(old, new, "k.cu", context=10_000).rows
    if rows:
        kept = [plain(r.html) for r in rows if r.mark is not DiffMark.REMOVED]
        gone = [plain(r.html) for r in rows if r.mark is not DiffMark.ADDED]
        assert (kept, gone) == (source_lines(new), source_lines(old))
    else:
        assert source_lines(old) == source_lines(new)


@given(TEXTS, TEXTS, st.integers(0, 4))
def test_it_hides_lines_but_never_forgets_them(old, new, context):
    found = diff(old, new, "k.py", context=context)
    hidden = sum(row.hidden for row in found.rows)
    shown = sum(row.mark is not DiffMark.ADDED and not row.hidden for row in found.rows)
    if not found.is_empty:
        assert hidden + shown == len(source_lines(old))
    sides = [side for row in found.split if not row.hidden for side in (row.left, row.right)]
    assert sum(s is not None and s.mark is DiffMark.REMOVED for s in sides) == found.removed
    assert sum(s is not None and s.mark is DiffMark.ADDED for s in sides) == found.added


@pytest.mark.parametrize(("space", "added"), [(True, 1), (False, 0)])
def test_it_can_look_past_blanks(space, added):
    assert diff("a = 1\nb\n", "a  =  1\nb\n", "k.py", space=space).added == added
