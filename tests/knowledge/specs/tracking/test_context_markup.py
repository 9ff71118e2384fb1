"""What gives a line its meaning stands in other places than headings: each is looked at."""

import pytest

from knowledge.specs.citation import CitationLine, CitationState, split_lines
from knowledge.specs.tracking.anchoring import Reanchor
from knowledge.specs.tracking.sections import Text
from tests.knowledge.effort import no_hang

OK, MOVED, CHANGED = CitationState.OK, CitationState.MOVED, CitationState.CHANGED
TITLE = "# Accelerators\n\n"
HEAD = "| x | v |\n|---|---|\n"


def anchor(old, new, holds, platform=None):
    """The anchor of the last line of `old` that holds these words."""
    lines = split_lines(old)
    line = max(n for n, words in enumerate(lines, start=1) if holds in words)
    cited = CitationLine("m", holds, "a.md", line, line)
    return Reanchor(old, new).anchor(cited, lines[line - 1], platform)


@pytest.mark.parametrize(
    ("old", "change", "note"),
    [
        pytest.param(
            f"{HEAD}| **H200** | |\n| bandwidth | 4.8 |\n",
            ("H200", "H100"),
            "the group row of the table was '**H200**' and is '**H100**'",
            id="group row",
        ),
        pytest.param(
            f"**Dense**\n\n{HEAD}| fp8 | 4.8 |\n",
            ("Dense", "Sparse"),
            "the heading above was 'Dense' and is 'Sparse'",
            id="bold line",
        ),
        pytest.param(
            f"<h2>H200</h2>\n\n{HEAD}| bw | 4.8 |\n",
            ("H200", "H100"),
            "the heading above was 'H200' and is 'H100'",
            id="h2",
        ),
        pytest.param(
            "<table>\n<tr><th>H200</th></tr>\n<tr><td>4.8</td></tr>\n</table>\n",
            ("H200", "H100"),
            "the head row of the table was 'H200' and is 'H100'",
            id="th of a column",
        ),
        pytest.param(
            "<table>\n<tr>\n<td>1</td>\n</tr><tr>\n<th>bw</th>\n<td>4.8</td>\n</table>\n",
            ("bw", "size"),
            "the head row of the table was 'bw' and is 'size'",
            id="th of a row",
        ),
        pytest.param(
            "| | H200 | H200 |\n|---|---|---|\n| | dense | sparse |\n| fp8 | 4.8 | 9.6 |\n",
            ("| dense | sparse |", "| sparse | dense |"),
            "the head row of the table was ' | dense | sparse' and is ' | sparse | dense'",
            id="second head row",
        ),
        pytest.param(
            f"{HEAD}| fp8 | 4.8 [^a] |\n\n[^a]: dense\n  only\n",
            ("only", "and sparse"),
            "the note that it refers to was 'dense only' and is 'dense and sparse'",
            id="footnote",
        ),
        pytest.param(
            f"{HEAD}| fp8 | 4.8\\* |\n\n\\* dense\n",
            ("dense", "sparse"),
            "the note that it refers to was 'dense' and is 'sparse'",
            id="asterisk",
        ),
        pytest.param(
            "| x | TFLOPS* |\n|---|---|\n| fp8 | 4.8 |\n\n*dense\n",
            ("dense", "sparse"),
            "the note that it refers to was 'dense' and is 'sparse'",
            id="asterisk in the head",
        ),
        pytest.param(
            f"{HEAD}| fp8 | 4.8 ¹ |\n\n<sup>1</sup> dense\n",
            ("dense", "sparse"),
            "the note that it refers to was 'dense' and is 'sparse'",
            id="raised number",
        ),
        pytest.param(
            f"Read on. All values with\nstructured sparsity:\n\n{HEAD}| fp8 | 4.8 |\n",
            ("All values with", "No value with"),
            "the lead-in was 'All values with structured sparsity:' and is 'No value with",
            id="wrapped lead-in",
        ),
        pytest.param(
            "It is fast. The H200 reaches a\nbandwidth of 4.8 TB/s.\n",
            ("H200", "H100"),
            "the beginning of the sentence was 'The H200 reaches a' and is 'The H100",
            id="wrapped sentence",
        ),
    ],
)
def test_it_sees_what_changes_the_meaning_of_a_line(old, change, note):
    found = anchor(TITLE + old, TITLE + old.replace(*change), "4.8")
    assert found.state is CHANGED
    assert note in found.note


@pytest.mark.parametrize(
    ("old", "change"),
    [
        (f"{HEAD}| **H200** | |\n| a | 4.8 |\n| **H100** | |\n", ("H100", "H20")),
        (f"{HEAD}| a | 4.8 |\n\n\\* dense\n", ("dense", "sparse")),
        (f"{HEAD}| a | 4.8\\*\\* |\n\n\\* b\n\\*\\* c\n", ("* b", "* d")),
        ("Read this. All\nwith sparsity:\n\n- 4.8\n", ("Read this.", "Dear reader.")),
        ("It is fast.\nIt has 4.8 TB/s.\n", ("fast", "quick")),
        ("- **a**\n- 4.8\n", ("**a**", "**b**")),
        ("text\n**a**\n4.8\n", ("**a**", "**b**")),
        ("```\n<h2>a</h2>\n<!--\n```\n4.8\n", ("h2>a", "h2>b")),
        ("<!-- a -->\n\n4.8\n", ("a -->", "b -->")),
        ("Write `<!--` first.\n\n4.8\n", ("first", "at once")),
        ("| x | v |\n|---|---|\n| vendor | NVIDIA |\n| a | 4.8 |\n", ("NVIDIA", "AMD")),
        ("a\n\n| 1 | |\n\n4.8\n", ("| 1 |", "| 2 |")),
    ],
)
def test_it_holds_where_another_thing_changed(old, change):
    assert anchor(TITLE + old, TITLE + old.replace(*change), "4.8").state is OK


@pytest.mark.parametrize(
    "new",
    [
        *("<!--\n- bw 4.8\n-->\n", "<!-- - bw 4.8 -->\n", "<!--\n\n- bw 4.8\n"),
        "a <!-- b\n- bw 4.8\n-->\n",
    ],
)
def test_a_line_that_a_comment_hides_is_lost(new):
    found = anchor(f"{TITLE}- bw 4.8\n", TITLE + new, "4.8")
    assert (found.state, found.first_line, found.quote) == (CitationState.LOST, None, "")


@pytest.mark.parametrize("line", ["<!--" * 50_000, "**" * 100_000, "<th>" * 50_000, "†" * 200_000])
def test_it_reads_a_line_of_hundreds_of_kilobytes_in_no_time(line):
    with no_hang():
        for text in (
            f"{line}\n\n1\n",
            f"<table>\n{line}\n1\n",
            f"| {line} | |\n|---|---|\n| 1 | |\n",
        ):
            anchor(text, f"new\n{text}", "1")
            Text(text)


OWN = "- tdp: 700 W | evidence=documented | kind=vendor | rank=preferred | source=sheet"
PAGE = f"# X 1\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n{OWN}\n"


@pytest.mark.parametrize(
    ("new", "note"),
    [
        (PAGE.replace("x-1", "x-2"), "the document speaks of x-2 now"),
        (PAGE.replace("## Platform", "### Platform"), "no longer says that it speaks of x-1"),
        (PAGE.replace("- platform: x-1\n", ""), "no longer says that it speaks of x-1"),
        (PAGE.replace("## Specs", "## Wrong figures"), "no longer stands under '## Specs'"),
        (PAGE.replace(OWN, f"## Wrong figures\n\n{OWN}"), "no longer stands under '## Specs'"),
    ],
)
def test_a_line_of_our_own_form_holds_only_under_its_product_and_specs(new, note):
    assert anchor(PAGE, PAGE.replace("# X 1", "# X one"), "700 W").state is OK
    found = anchor(PAGE, new, "700 W")
    assert found.state is CHANGED
    assert note in found.note


def test_prose_of_a_document_that_names_another_product_has_changed():
    old = "# X\n\nIt draws 700 W.\n"
    new = f"{old}\n## Platform\n\n- platform: x-2\n"
    assert anchor(old, new, "700 W", "x-2").state is OK
    assert anchor(old, new, "700 W", "x-1").note == "the document speaks of x-2 now"
    moved = anchor(new, new.replace("# X\n", "# X\n\n"), "700 W", "x-1")
    assert moved.state is MOVED  # it never said that it speaks of x-1
