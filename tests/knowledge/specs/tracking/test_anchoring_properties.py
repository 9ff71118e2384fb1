"""Over all shipped documents and made-up plain ones: a change flags what it touches, no more."""

import re
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.specs.citation import CitationLine, CitationState, quoted, split_lines
from knowledge.specs.reader import read_page
from knowledge.specs.tracking.anchoring import Reanchor
from tests.architecture.source_tree import ROOT

OK, MOVED, CHANGED, LOST = (
    CitationState.OK,
    CitationState.MOVED,
    CitationState.CHANGED,
    CitationState.LOST,
)


@cache
def shipped():
    """Path and text of each shipped document, with the citations of its lines."""
    found = []
    for path in sorted((ROOT / "knowledge" / "wiki").rglob("*.md")):
        name, text = str(path.relative_to(ROOT / "knowledge" / "wiki")), path.read_text("utf-8")
        specs = read_page(name, text).specs if "## Specs\n" in text else ()
        if specs:
            found.append((name, text, [(spec.citation(name), spec.quote) for spec in specs]))
    return found


@st.composite
def documents(draw):
    """A plain document: its lines, and of each line to cite the lines that give it its meaning."""
    rows = st.sampled_from([f"metric {n % 7} | {n % 5}.{n}" for n in range(12)])
    lines, cited, chain = ["# NVIDIA H200", "", "Read 2 times.", ""], {}, []
    for level, name in draw(st.lists(st.tuples(st.sampled_from([2, 3]), NAMES), max_size=4)):
        lines += [f"{'#' * level} {name}", ""]
        chain = [above for above in chain if above[0] < level] + [(level, len(lines) - 1)]
        for block in draw(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=3)):
            headings = {1, *(number for _, number in chain)}
            cited |= block(lines, headings, draw(st.lists(rows, min_size=1, max_size=4)))
    return "r.md", "\n".join(lines) + "\n", cited


NAMES = st.sampled_from(["Dense", "With sparsity", "Peaks 2", "Memory"])


def table(lines, above, rows):
    lines += ["| name | 1 GB/s |", "|---|--:|"]
    above = above | {len(lines) - 1}
    lines += [f"| {row} |" for row in rows] + [""]
    return {len(lines) - n: above for n in range(1, len(rows) + 1)}


def table_after_a_lead_in(lines, above, rows):
    lines += ["All values with **2:4** sparsity:", ""]
    return table(lines, above | {len(lines) - 1}, rows)


def headless(lines, above, rows):
    lines += [f"| {row} |" for row in rows] + [""]
    return {len(lines) - n: above for n in range(1, len(rows) + 1)}


def nested_list(lines, above, rows):
    lines += ["Measured at 1830 MHz:"]
    above = above | {len(lines)}
    lines += ["- bf16"]
    item = len(lines)
    lines += [f"  - {row}" for row in rows] + ["- fp8", ""]
    return {item + n: above | {item} for n in range(1, len(rows) + 1)} | {
        item: above,
        len(lines) - 1: above,
    }


def prose(lines, above, rows):
    lines += [f"The {row}." for row in rows] + [""]
    return {len(lines) - n: above for n in range(1, len(rows) + 1)}


def code(lines, above, rows):
    lines += ["```", "# no heading 1", *rows, "```", ""]
    return {len(lines) - 1 - n: above for n in range(1, len(rows) + 1)}


BLOCKS = [table, table_after_a_lead_in, headless, nested_list, prose, code]


def citations(document):
    """The citations of a document, each with its quote and the lines that it is read under."""
    name, text, cited = document
    lines = split_lines(text)
    if not isinstance(cited, dict):
        says_of_what = ("## Platform", "- platform:", "## Specs")
        above = {n for n, line in enumerate(lines, start=1) if line.startswith(says_of_what)}
        return [(citation_, quote, frozenset(above)) for citation_, quote in cited]
    return [
        (CitationLine("m", word_of(lines[n - 1]), name, n, n), lines[n - 1], frozenset(above))
        for n, above in sorted(cited.items())
    ]


def word_of(line):
    return line.strip("|. ").split()[-1]


@st.composite
def everything(draw):
    """A shipped document or a made-up one; drawn alike before and after the wiki was read."""
    return draw(st.sampled_from(shipped()) if draw(st.booleans()) else documents())


@settings(deadline=None)  # the first case reads the whole wiki
@given(everything(), st.data())
def test_it_shows_exactly_the_citations_of_the_line_in_which_a_digit_changed(document, data):
    _, text, _ = document
    place = data.draw(
        st.sampled_from([n for n, sign in enumerate(text) if sign in "0123456789"] or [0])
    )
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != text[place]]))
    now = text[:place] + digit + text[place + 1 :]
    line = text[:place].count("\n") + 1
    reanchor = Reanchor(text, now)
    for citation_, quote, above in citations(document):
        found = reanchor.anchor(citation_, quote)
        wanted = CHANGED if line in {citation_.first_line, *above} else OK
        assert (found.state, found.first_line) == (wanted, citation_.first_line)


@given(documents(), st.data())
def test_it_shows_exactly_the_citations_below_a_line_in_which_a_word_changed(document, data):
    _, text, _ = document
    lines, cited = split_lines(text), citations(document)
    line = data.draw(st.sampled_from(sorted({n for _, _, above in cited for n in above} or {1})))
    words = lines[line - 1].split(" ")
    sign = st.sampled_from([n for n, word in enumerate(words) if word.strip("#|-:")])
    words[data.draw(sign)] = data.draw(st.sampled_from(["zzz", "Dense", "TB/s"]))
    if (now := " ".join(words)) == lines[line - 1]:
        return
    lead_in_lost = lines[line - 1].endswith(":") and not now.endswith(":")
    reanchor = Reanchor(text, "\n".join([*lines[: line - 1], now, *lines[line:]]) + "\n")
    for citation_, quote, above in cited:
        found = reanchor.anchor(citation_, quote)
        wanted = CHANGED if line in {citation_.first_line, *above} else OK
        assert (found.state, found.first_line) == (wanted, citation_.first_line)
        if line in above:
            said = lines[line - 1].strip("#| ").split(" |")[0]
            assert "the text is unchanged" in found.note
            assert said in found.note
            assert ("is gone" in found.note) == lead_in_lost


@settings(deadline=None)  # the first case reads the whole wiki
@given(everything(), st.data())
def test_it_is_not_troubled_by_emphasis_case_and_blanks_above(document, data):
    _, text, made_up = document
    lines, cited = split_lines(text), citations(document)
    # What says of which device a shipped document speaks is a record, not prose.
    every = {n for _, _, above in cited for n in above if isinstance(made_up, dict)}
    line = data.draw(st.sampled_from(sorted(every - {c.first_line for c, _, _ in cited} or {1})))
    start, blank, rest = lines[line - 1].partition(" ")
    other = [f"{start} {blank}{rest}", f"{start}{blank}{rest.upper()}"]
    other += [lines[line - 1].replace(rest, f"*{rest}*")] if start.startswith("#") else []
    now = data.draw(st.sampled_from(other))
    reanchor = Reanchor(text, "\r\n".join([*lines[: line - 1], now, *lines[line:]]) + "\r\n")
    assert {reanchor.anchor(c, quote).state for c, quote, _ in cited} <= {OK}


@settings(deadline=None)  # the first case reads the whole wiki
@given(everything(), st.data())
def test_it_follows_every_citation_past_lines_that_come_in(document, data):
    _, text, cited = document
    lines = split_lines(text)
    places, lead = range(len(lines) + 1), []
    if isinstance(cited, dict):  # not into a table or a list, nor below what leads in to one
        places = [n for n, line in enumerate(lines) if not (line or lines[n - 1].endswith(":"))]
        lead = [""]
    at = data.draw(st.sampled_from(places))
    more = data.draw(st.lists(st.sampled_from(["", "new text", "- added: 7 W"]), max_size=4))
    more = [*lead, *more]
    reanchor = Reanchor(text, "\n".join(lines[:at] + more + lines[at:]) + "\n")
    for citation_, quote, _ in citations(document):
        found = reanchor.anchor(citation_, quote)
        down = len(more) if citation_.first_line > at else 0
        assert (found.first_line, found.quote) == (citation_.first_line + down, quote)
        assert found.state is (MOVED if down else OK)


@given(documents(), st.randoms(use_true_random=False))
def test_it_follows_sections_that_change_places(document, draw):
    _, text, _ = document
    head, *sections = re.split(r"(?m)^(?=## )", text)
    if len({section.partition("\n")[0] for section in sections}) < len(sections):
        return  # two of one name, of which either may be the other
    draw.shuffle(sections)
    now = head + "".join(sections)
    reanchor = Reanchor(text, now)
    for citation_, quote, _ in citations(document):
        found = reanchor.anchor(citation_, quote)
        alike = [n for n, line in enumerate(split_lines(text), start=1) if line == quote]
        if len(alike) == 1:
            assert found.state in (OK, MOVED)
        if found.state in (OK, MOVED):
            assert quoted(now, found.first_line, found.first_line) == quote
            assert headings_of(now, found.first_line) == headings_of(text, citation_.first_line)


def headings_of(text, line):
    """The nearest heading of level 2 above a line of a generated document."""
    above = [row for row in split_lines(text)[: line - 1] if row.startswith("## ")]
    return above[-1:]


@settings(deadline=None)  # the first case reads the whole wiki
@given(everything(), st.data())
def test_it_misses_exactly_the_citations_of_a_deleted_line(document, data):
    _, text, _ = document
    lines = split_lines(text)
    gone = data.draw(st.integers(1, len(lines)))
    lost = lines[gone - 1]
    if isinstance(document[2], dict) and (not lost or lost in ("```", "|---|--:|")):
        return  # which joins or parts what stands around it
    alike = lines.count(lost) > 1  # which of equal lines went is not always to be seen
    reanchor = Reanchor(text, "\n".join(lines[: gone - 1] + lines[gone:]) + "\n")
    for citation_, quote, above in citations(document):
        found = reanchor.anchor(citation_, quote)
        up = int(citation_.first_line > gone)
        if found.state in (OK, MOVED):
            assert found.quote == quote
        if citation_.first_line == gone or gone in above:
            assert alike or found.state in (LOST, CHANGED)
        elif quote != lost and not (alike and lost.startswith("#")):
            assert (found.state, found.first_line) == (
                (MOVED if up else OK),
                citation_.first_line - up,
            )
