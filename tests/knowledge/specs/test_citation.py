"""The citation line reads and writes exactly, and notices what happens to its document."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.specs.citation import (
    CitationError,
    CitationLine,
    CitationState,
    check_path,
    contains,
    parse_citation,
    quoted,
    resolve,
)

H200 = "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23"

names = st.from_regex(r"[a-z][a-z0-9_]{0,30}", fullmatch=True)
shown = st.one_of(
    st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,4})? (TB/s|GiB|TFLOPS|MHz|SM)", fullmatch=True),
    st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=20),
)
paths = st.from_regex(r"([a-z0-9][a-z0-9.-]{0,9}/){0,3}[a-z0-9][a-z0-9-]{0,9}\.md", fullmatch=True)


@given(names, shown, paths, st.integers(1, 10**6), st.integers(0, 50))
def test_it_round_trips_every_citation(metric, value, path, first, more):
    citation = CitationLine(metric, value, path, first, first + more)
    assert parse_citation(str(citation)) == citation
    assert str(parse_citation(str(citation))) == str(citation)


def test_it_reads_the_line_of_the_design_exactly():
    citation = parse_citation(H200)
    assert citation == CitationLine(
        "memory_bandwidth", "4.8 TB/s", "docs/hardware/h200-sxm.md", 23, 23
    )
    assert str(citation) == H200
    assert parse_citation(f"{H200}-L25").last_line == 25


@pytest.mark.parametrize(
    "text",
    [
        "",
        H200.replace(":L23", ""),
        H200.replace(":L23", ":23"),
        H200.replace("L23", "L0"),
        H200.replace("L23", "L023"),
        f"{H200}-L23",
        f"{H200}-L22",
        H200.replace("<-", "←"),
        H200.replace("<gpu-wiki>/", ""),
        H200.replace("docs/", "../"),
        H200.replace("docs/", "/docs/"),
        H200.replace(".md", ".txt"),
        f"{H200}\n",
        f" {H200}",
        H200.replace("4.8 TB/s ", ""),
    ],
)
def test_it_refuses_what_it_would_not_write_itself(text):
    with pytest.raises(CitationError):
        parse_citation(text)


@pytest.mark.parametrize("path", ["a/../b.md", ".git/x.md", "a//b.md", "a.md/", "a b.md", "a"])
def test_it_refuses_paths_that_leave_the_wiki(path):
    with pytest.raises(CitationError, match=re.escape(path)):
        check_path(path)


@pytest.mark.parametrize("text", ["14.8 TB/s", "4.85 TB/s", "4.8.1", "x4.8", "TB/s", "4.8e3", "48"])
def test_it_finds_a_number_only_as_a_whole_word(text):
    assert not contains(text, "4.8 TB/s")
    assert contains(f"{text} or 4.8 TB/s.", "4.8 TB/s")
    assert contains("HBM | 4.8", "4.8 TB/s")


@pytest.mark.parametrize(
    ("text", "shown", "held"),
    [
        ("65,536 registers", "65536 register", True),
        ("65,536 registers", "65 register", False),
        ("65,536 registers", "536 register", False),
        ("1,065,536", "65536", False),
        ("1,234.5 TFLOPS", "1234.5 TFLOPS", True),
        ("4,8 TB/s", "4.8 TB/s", False),
        ("4,8 TB/s", "8 TB/s", False),
        ("cores, 132, and more", "132 SM", True),
        ("with 4.8TB/s", "4.8 TB/s", True),
        ("with 4.8TB/sec", "4.8 TB/s", False),
        ("with 4.8GB/s", "4.8 TB/s", False),
        ("132 SMs", "132 SM", True),
        ("1.5-2.2 times", "2.2 ratio", True),
        ("1.5e12 op/s", "1.5e12 op/s", True),
        ("1.5e12 op/s", "1.5 op/s", False),
        ("PCIe Gen4 x16", "PCIe Gen5 x16", False),
        ("a PCIe  Gen5 x16 slot", "PCIe Gen5 x16", True),
        ("HBM3e", "HBM3", False),
        ("HBM3.", "HBM3", True),
    ],
)
def test_it_reads_numbers_as_people_print_them_and_names_as_a_whole(text, shown, held):
    assert contains(text, shown) is held


def test_it_quotes_lines_counted_from_one():
    assert quoted("a\r\nb\nc\n", 1, 2) == "a\nb"
    assert quoted("a\nb\nc\n", 3, 3) == "c"
    assert quoted("a\nb\nc\n", 3, 4) is None
    assert quoted("a\u2028b\x0cc", 1, 1) == "a\u2028b\x0cc"


def test_it_says_ok_changed_or_lost():
    citation = CitationLine("memory_bandwidth", "4.8 TB/s", "a.md", 2, 2)
    quote = "bandwidth 4.8 TB/s"
    assert resolve(citation, quote, f"head\n{quote}\n") is CitationState.OK
    assert resolve(citation, quote, "head\nbandwidth 4.9 TB/s\n") is CitationState.CHANGED
    assert resolve(citation, quote, "head\n") is CitationState.LOST
    assert resolve(citation, quote, None) is CitationState.LOST
    assert resolve(citation, "bandwidth", "head\nbandwidth\n") is CitationState.CHANGED


@pytest.mark.parametrize("shown", ["UNKNOWN", "NONE"])
def test_lines_that_were_searched_need_no_number(shown):
    citation = CitationLine("nvlink_bandwidth", shown, "a.md", 2, 2)
    quote = "links: not supported"
    assert not citation.known
    assert citation.proven_by(quote)
    assert resolve(citation, quote, f"head\n{quote}\n") is CitationState.OK
    assert resolve(citation, quote, "head\nlinks: 18\n") is CitationState.CHANGED
    assert resolve(citation, quote, "head\n") is CitationState.LOST


def test_a_value_is_proven_by_lines_that_hold_it():
    citation = CitationLine("memory_bandwidth", "4.8 TB/s", "a.md", 2, 2)
    assert citation.known
    assert citation.proven_by("| bandwidth | 4.8 |")
    assert not citation.proven_by("| bandwidth | 4.85 |")
