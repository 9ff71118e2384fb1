"""A typed query as words and scope; nothing in it is a search language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search import engine
from knowledge.search.query import (
    LONGEST_ENCODED,
    MOST_CHARACTERS,
    MOST_WORDS,
    QueryFacet,
    parse_query,
)

KNOWN = {
    "op": ("matmul", "softmax", "layer_norm", "copy"),
    "dtype": ("bfloat16",),
    "backend": ("triton", "cpp"),
    "platform": ("h200-sxm", "h100-pcie", "h100-sxm5-80gb"),
    "arch": ("sm_90a",),
    "symptom": ("memory_dram",),
    "outcome": ("worked", "failed"),
    "kind": ("track",),
}


def read(text, **facets):
    return parse_query(text, facets, KNOWN)


@pytest.mark.parametrize(
    ("text", "words", "scope"),
    [
        ("softmax triton h200", (), {"op": "softmax", "backend": "triton", "platform": "h200-sxm"}),
        ("gemm spills in bf16", ("spills",), {"op": "matmul", "dtype": "bfloat16"}),
        ("layer norm on hopper", (), {"op": "layer_norm", "arch": "hopper"}),
        ("slower after padding", ("after", "padding"), {"outcome": "failed"}),
        ("memory-bound matmul", (), {"symptom": "memory", "op": "matmul"}),
        ("shared memory stride", ("shared", "memory", "stride"), {}),
        ("h100 tiles", ("h100", "tiles"), {}),
        ("h100 pcie tiles", ("tiles",), {"platform": "h100-pcie"}),
        ("C++ vectors", ("vectors",), {"backend": "cpp"}),
        ("op:matmul tiles", ("tiles",), {"op": "matmul"}),
        ("op:nonsense tiles", ("op", "nonsense", "tiles"), {}),
        ("Has anyone tried swizzling?", ("swizzling",), {}),
        ("has anyone", ("has", "anyone"), {}),
        ("async copy", ("async", "copy"), {}),
        ("op:copy tiles", ("tiles",), {"op": "copy"}),
    ],
)
def test_words_become_the_scope_where_they_can_only_mean_that(text, words, scope):
    query = read(text)
    assert (query.words, query.scope) == (words, scope)


def test_what_is_chosen_wins_over_what_is_written():
    query = read("matmul tiles", op="softmax")
    assert query.facets == (QueryFacet("op", "softmax"),)
    assert query.words == ("matmul", "tiles")


def test_without_known_values_the_aliases_decide():
    assert parse_query("gemm spills", {}).scope == {"op": "matmul"}


@pytest.mark.parametrize(
    "text",
    ['"tile" AND * NEAR(a b) (x OR y)', "a:b:c", "tile* ^title -tile", "' | & ! <-> :*", '""""'],
)
def test_signs_of_search_languages_only_part_words(text):
    assert all(word.isalnum() for word in read(text).words)


def test_a_long_text_is_cut_with_a_note():
    for text in ("x" * 10_000, "wort " * 3_000, "字" * 10_000, "é😀" * 2_000):
        query = read(text)
        assert len(query.text) <= MOST_CHARACTERS
        assert len(query.text.encode()) * 3 <= 3 * LONGEST_ENCODED
        assert len(query.words) <= MOST_WORDS
        assert query.notes


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_text_is_read_into_what_both_databases_take(text):
    query = read(text)
    assert not any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in query.text)
    assert all(word.isalnum() and word == word.strip() for word in query.words)


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("Layer-Norm tiles", "op", "tiles"),
        ("fast op:matmul tiles", "op", "fast tiles"),
        ("C++ tiles", "backend", "tiles"),
    ],
)
def test_a_facet_goes_with_the_words_that_it_was_read_from(text, name, rest):
    query = read(text)
    facet = next(each for each in query.facets if each.name == name)
    assert query.text_without(facet) == rest


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        (engine.FTS5, '(("op=matmul" AND ("a""b" OR "it\'s")) NOT "\\")'),
        (engine.TSQUERY, "(('op=matmul' & ('a\"b' | 'it''s')) & !'\\\\')"),
    ],
)
def test_conditions_quote_every_word(dialect, written, monkeypatch):
    monkeypatch.setattr(engine, "dialect", lambda: dialect)
    wanted = engine.all_of((engine.holds("op=matmul"), engine.holds_any(('a"b', "it's"))))
    assert engine.but_not(wanted, engine.holds("\\")) == written
