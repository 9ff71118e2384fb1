"""A line that reads as it did has changed where what stands above it reads otherwise."""

import pytest

from knowledge.specs.citation import CitationLine, CitationState, split_lines
from knowledge.specs.tracking.anchoring import Reanchor
from knowledge.specs.tracking.context import ContextPart, change, plain
from knowledge.specs.tracking.sections import LineSpan, Text
from tests.knowledge.effort import no_hang

ROW = "| bf16 | 989 |"


def fate(old, change, quote=ROW, shown="989"):
    """The anchor of the one line that reads `quote`, after a replacement in the text."""
    before, after = change
    assert before in old
    line = split_lines(old).index(quote) + 1
    found = Reanchor(old, old.replace(before, after)).anchor(
        CitationLine("m", shown, "a.md", line, line), quote
    )
    assert found.quote == quote
    return found


def said(found):
    return found.note.removeprefix("the text is unchanged; ")


TABLE = (
    f"# H200\n\n## Peaks\n\nAll values with 2:4 sparsity:\n\n| dense | TFLOPS |\n|---|--:|\n{ROW}\n"
)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (("| dense |", "| sparse |"), "head row of the table was 'dense | TFLOPS' and is 'sparse"),
        (
            ("TFLOPS", "PFLOPS"),
            "head row of the table was 'dense | TFLOPS' and is 'dense | PFLOPS'",
        ),
        (("TFLOPS |", "TFLOPS* |"), "head row of the table was 'dense | TFLOPS' and is"),
        (("| dense | TFLOPS |\n", ""), "head row of the table is gone: 'dense | TFLOPS'"),
        (("| dense | TFLOPS |\n|---|--:|\n", ""), "head row of the table is gone"),
        (("|---|--:|\n", ""), "head row of the table is gone"),
        (("# H200", "# H20"), "title was 'H200' and is 'H20'"),
        (("# H200\n", ""), "title is gone: 'H200'"),
        (("# H200\n", "# GPUs\n\n# H200\n"), "title was 'H200' and is 'GPUs'"),
        (("## Peaks", "## Peaks with sparsity"), "heading above was 'Peaks' and is 'Peaks with"),
        (("## Peaks", "## Peaks\n\n### Sparse"), "heading above is new: 'Sparse'"),
        (("## Peaks\n", ""), "heading above is gone: 'Peaks'"),
        (
            ("All values with", "No value with"),
            "lead-in was 'All values with 2:4 sparsity:' and is",
        ),
        (("sparsity:\n", "sparsity.\n"), "lead-in is gone: 'All values with 2:4 sparsity:'"),
        (("All values with 2:4 sparsity:\n\n", ""), "lead-in is gone"),
        (("2:4 sparsity:\n", "2:4 sparsity:\n\nMore.\n"), "lead-in is gone"),
    ],
)
def test_it_says_which_part_changed_from_what_to_what(change, note):
    found = fate(TABLE, change)
    assert found.state is CitationState.CHANGED
    assert said(found).removeprefix("from L9 to ").partition("the ")[2].startswith(note)


@pytest.mark.parametrize(
    "change",
    [
        ("## Peaks", "## Memory\n\n| sparse | W |\n|---|---|\n| a | 1 |\n\n## Peaks"),
        ("# H200", "#  H200"),
        ("## Peaks", "## **PEAKS** ##"),
        ("## Peaks", "Peaks\n-----"),
        ("# H200", "H200\n===="),
        ("|---|--:|", "| :-: | --- |"),
        ("| dense | TFLOPS |", "|Dense|  _TFLOPS_"),
        ("All values", "Dear reader.\n\n*All*  values"),
        ("\n", "\r\n"),
        (ROW, f"| fp8 | 1979 |\n{ROW}"),
        (ROW, f"text in a row\n{ROW}"),
        (ROW, f"{ROW}\n\n### Sparse\n"),
    ],
)
def test_it_is_content_where_nothing_above_says_another_thing(change):
    assert fate(TABLE, change).state in (CitationState.OK, CitationState.MOVED)


def test_it_names_every_part_that_changed_and_where_the_line_is_now():
    found = fate(TABLE, ("# H200\n", "# H20\n\n"))
    assert found.note == (
        "the text is unchanged; from L9 to L10; the title was 'H200' and is 'H20'"
    )
    both = fate(TABLE.replace("H200", "y1").replace("Peaks", "x1"), ("1\n", "2\n"))
    assert both.note.endswith(
        "the title was 'y1' and is 'y2'; the heading above was 'x1' and is 'x2'"
    )


def test_it_does_not_look_above_for_what_the_quote_holds_itself():
    old, new = TABLE, TABLE.replace("# H200", "#   h200")
    whole = "\n".join(split_lines(TABLE))
    line = CitationLine("m", "989", "a.md", 1, 9)
    assert Reanchor(old, f"new\n{old}").anchor(line, whole).state is CitationState.MOVED
    assert Text(old).context(LineSpan(0, 9)) == {part: [] for part in ContextPart}
    assert Reanchor(old, new).anchor(line, whole).state is CitationState.CHANGED


NESTED = """\
# H200

With sparsity:

1. bf16
   - tensor: 989
     and more
   - vector: 133

   | clock | W |
   |---|---|
   | boost | 700 |
2. fp8

Dense:
- int8: 1979
"""


@pytest.mark.parametrize(
    ("quote", "shown", "above"),
    [
        ("1. bf16", "bf16", ["With sparsity:"]),
        ("   - tensor: 989", "989", ["With sparsity:", "1. bf16"]),
        ("     and more", "more", ["With sparsity:", "1. bf16", "- tensor: 989"]),
        ("   - vector: 133", "133", ["With sparsity:", "1. bf16"]),
        ("   | boost | 700 |", "700", ["With sparsity:", "1. bf16"]),
        ("2. fp8", "fp8", ["With sparsity:"]),
        ("- int8: 1979", "1979", ["Dense:"]),
    ],
)
def test_it_reads_an_item_under_the_items_that_it_is_nested_in(quote, shown, above):
    number = split_lines(NESTED).index(quote)
    assert Text(NESTED).context(LineSpan(number, number + 1))[ContextPart.LEAD] == above
    for line in {"With sparsity:", "1. bf16", "- tensor: 989", "Dense:"} - {quote.strip()}:
        other = line.replace("s", "z").replace("b", "z")
        wanted = CitationState.CHANGED if line in above else CitationState.OK
        assert fate(NESTED, (line, other), quote, shown).state is wanted


@pytest.mark.parametrize(
    ("lines", "above"),
    [
        pytest.param(
            ["All:", "", "```", "# no", "x 1", "```"], {ContextPart.LEAD: ["All:"]}, id="code"
        ),
        pytest.param(["```", "# no", "- no:", "- x 1"], {}, id="code that never ends"),
        pytest.param(["````", "```", "## no", "````", "x 1"], {}, id="a longer fence"),
        pytest.param(
            ["```", "|a|b|", "|-|-|", "|x|1|"], {ContextPart.HEAD: ["a | b"]}, id="text table"
        ),
        pytest.param(["|a|b|", "|-|-|", "", "|x|1|"], {}, id="after the table"),
        pytest.param(["|a|b|", "|-|", "|x|1|"], {}, id="no head: other columns"),
        pytest.param(["|a|b|", "|x|1|"], {}, id="no head"),
        pytest.param([r"|a\|b|c|", "|-|-|", "|x|1|"], {ContextPart.HEAD: [r"a\|b | c"]}, id="pipe"),
        pytest.param(
            ["a | b", "- | -", "x | 1"], {ContextPart.HEAD: ["a | b"]}, id="no outer pipes"
        ),
        pytest.param(
            ["> All:", "> |a|", "> |-|", "> |1|"],
            {ContextPart.LEAD: ["> All:"], ContextPart.HEAD: ["a"]},
            id="quotation",
        ),
        pytest.param(["> ```", "> x", "", "## A", "1"], {ContextPart.HEADING: ["A"]}, id="its end"),
        pytest.param(["**All:**", "- 1"], {ContextPart.LEAD: ["**All:**"]}, id="bold"),
        pytest.param(
            ["Alle\uff1a", "- 1"], {ContextPart.LEAD: ["Alle\uff1a"]}, id="full-width colon"
        ),
        pytest.param(
            ["## All:", "- 1"], {ContextPart.HEADING: ["All:"]}, id="a heading leads nothing in"
        ),
        pytest.param(["All:", "", "1"], {}, id="prose"),
        pytest.param(
            ["two", "lines", "---", "1"], {ContextPart.HEADING: ["two lines"]}, id="setext"
        ),
        pytest.param(
            ["A", "===", "B", "---", "1"],
            {ContextPart.TITLE: ["A"], ContextPart.HEADING: ["B"]},
            id="both levels",
        ),
        pytest.param(["- item", "---", "1"], {}, id="a rule below an item"),
        pytest.param(["text", "", "---", "1"], {}, id="a rule"),
        pytest.param(["  ## A ##", "1"], {ContextPart.HEADING: ["A"]}, id="indented, closed"),
        pytest.param(["    ## A", "1"], {}, id="code by indentation"),
        pytest.param(
            ["- a:", "lazy", "1"], {ContextPart.LEAD: ["- a:"]}, id="text goes on below an item"
        ),
        pytest.param(
            ["- a", "All:", "- 1"], {ContextPart.LEAD: ["All:"]}, id="a lead-in ends a list"
        ),
        pytest.param(["- a", "", "1"], {}, id="after a list"),
        pytest.param(["- a", "", "  1"], {ContextPart.LEAD: ["- a"]}, id="in an item"),
    ],
)
def test_it_reads_markdown_as_it_is_rendered(lines, above):
    last = max(n for n, line in enumerate(lines) if "1" in line)
    found = Text("\n".join(lines)).context(LineSpan(last, last + 1))
    assert {part: words for part, words in found.items() if words} == above


OWN = "- tdp: 700 W | evidence=documented | kind=vendor | rank=preferred | source=sheet"


def test_it_asks_nothing_more_of_a_line_in_our_own_form():
    text = f"# X\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n### Power\n\nAll:\n\n{OWN}\n"
    for now in (("# X", "# Y"), ("### Power", "### Heat"), ("All:", "None:")):
        assert fate(text, now, OWN, "700 W").state is CitationState.OK


def test_it_holds_such_a_line_to_the_title_where_no_platform_is_named():
    text = f"# X\n\n## Notes\n\n{OWN}\n"
    assert fate(text, ("## Notes", "## More"), OWN, "700 W").state is CitationState.OK
    assert fate(text, ("# X", "# Y"), OWN, "700 W").state is CitationState.CHANGED


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("**Dense**  peaks", "dense peaks"),
        ("__With__ _2:4_ *Sparsity*", "with 2:4 sparsity"),
        ("TFLOPS*", "tflops*"),
        ("peak_fp16_dense", "peak_fp16_dense"),
        ("a * b * c", "a * b * c"),
    ],
)
def test_it_compares_words_without_case_emphasis_and_blanks(written, words):
    assert plain(written) == words


def test_it_shows_of_long_lines_where_they_differ():
    same = "column | " * 80
    note = change(ContextPart.HEAD, [f"{same}GB/s"], [f"{same}TB/s"])
    assert "GB/s' and is" in note
    assert note.endswith("TB/s'")
    assert len(note) < 200


@pytest.mark.parametrize(
    "line", ["*a " * 100_000, "|" * 200_000, "> " * 100_000, "- " * 100_000, "`" * 200_000]
)
def test_it_reads_a_line_of_hundreds_of_kilobytes_in_no_time(line):
    with no_hang():
        for text in (f"{line}:\n\n- 1\n", f"# {line}\n1\n", f"|{line}\n|-|\n|1|\n"):
            Text(text)
