"""Sheets and comparisons as Markdown: the figures of the page, readable where Markdown is drawn."""

import re
from html import unescape

import pytest
from markdown_it import MarkdownIt

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.exchange.writers.markdown import code, link, plain, table
from knowledge.specs.citation import parse_citation
from knowledge.views.document import render_markdown
from tests.knowledge.conftest import BANDWIDTH, UNKNOWN_CORES

PAIR = {"p": ["h200-sxm", "h100-sxm5-80gb"], "only": "all"}
CELL = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>", re.S)


def rows_of(text):
    """The rows of the one table, as whoever draws the Markdown shows them."""
    html = str(render_markdown(text))
    assert html.count("<table") == 1
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.S)
    words = [[re.sub(r"<[^>]+>", "", cell) for cell in CELL.findall(row)] for row in rows]
    return [[unescape(cell).strip() for cell in row] for row in words[1:]]


@pytest.mark.parametrize("asked", [{}, {"need": "roofline"}, {"evidence": "documented"}])
def test_a_sheet_has_the_figures_of_its_page_and_its_other_files(viewer, shipped, asked):
    path = "/w/p/h100-sxm5-80gb"
    answer = viewer.get(f"{path}.md", asked)
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    text = answer.content.decode()
    data = viewer.get(f"{path}.json", asked).json()["rows"]
    read = [(row[0], row[2].split(":")[0]) for row in rows_of(text)]
    assert read == [(row["metric"], row["shown"]) for row in data]
    page = viewer.get(f"{path}/", asked).context["sheet"]
    assert len(read) == len((*page.rows, *page.waiting))
    lines = re.findall(r"^- `(.*)`$", text, re.M)
    assert set(lines) == {row["citation"]["text"] for row in data if row["citation"]}
    assert all(str(parse_citation(line)) == line for line in lines)


def test_a_comparison_has_the_figures_of_its_page_and_its_other_files(viewer, shipped):
    text = viewer.get("/w/compare.md", PAIR).content.decode()
    data = viewer.get("/w/compare.json", PAIR).json()["rows"]
    read = [(row[0], *(cell.partition(" (")[0] for cell in row[2:4])) for row in rows_of(text)]
    cells = [[c["shown"] if c else "unknown" for c in row["values"].values()] for row in data]
    shown = [
        (row["metric"], *(cell.partition(" (")[0] for cell in two))
        for row, two in zip(data, cells, strict=True)
    ]
    assert read == shown
    context = viewer.get("/w/compare/", PAIR).context
    assert len(shown) == len(context["rows"]) + len(context["sweep"])
    narrow = viewer.get("/w/compare.md", {"p": PAIR["p"]}).content.decode()
    equal = viewer.get("/w/compare/", PAIR).context["comparison"].equal
    assert f"{equal} equal rows are left out." in narrow
    assert len(rows_of(narrow)) == len(data) - equal


def test_it_refuses_what_the_page_refuses(viewer, wiki):
    assert viewer.get("/w/p/x-1.md", {"asof": "yesterday"}).status_code == 400
    assert b"asof" in viewer.get("/w/p/x-1.md", {"asof": "yesterday"}).content
    assert viewer.get("/w/p/x-9.md").status_code == 404
    assert viewer.get("/w/compare.md", {"p": "x-1"}).status_code == 400


def test_what_people_wrote_is_text(viewer, wiki, page_text):
    nasty = "a <b>*c*</b> [d](e) `f` _g_"
    line = UNKNOWN_CORES.replace("ask them", nasty)
    take_files({"docs/hardware/x-1.md": page_text(BANDWIDTH, line)}, ImportOptions(vouched=True))
    text = viewer.get("/w/p/x-1.md").content.decode()
    row = next(row for row in rows_of(text) if row[0] == "cuda_cores")
    assert row[2] == f"UNKNOWN: {nasty}"


def test_a_cell_keeps_to_its_cell():
    assert plain("a|b\nc") == r"a\|b c"
    assert code("a`b|c\n") == r"`a'b\|c`"
    assert code("") == ""
    assert table(("x",), []) == ""


@pytest.mark.parametrize(
    ("stored", "inert"),
    [
        ("ask @octocat", "ask @\u200boctocat"),
        ("@org/team and a@b.example", "@\u200borg/team and a@\u200bb.example"),
        ("fixes #12", "fixes \\#\u200b12"),
        ("org/repo#12 and GH-7", "org/repo\\#\u200b12 and GH\u200b-7"),
        ("see https://evil.example", "see https&#58;//evil.example"),
        ("www.evil.example", "www&#46;evil.example"),
        ("a\n\n# b\n- c", "a \\# b - c"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"),
    ],
)
def test_stored_text_makes_no_mention_issue_or_link(stored, inert):
    assert plain(stored) == inert
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(plain(stored))
    assert "<a " not in rendered
    assert "<img" not in rendered


def test_a_link_holds_whatever_its_text_and_path_are():
    made = link("](http://evil.example) @x", "https://kopt.example.org/w/docs/a (b).md")
    rendered = MarkdownIt().render(made)
    assert rendered.count("<a ") == 1
    assert 'href="https://kopt.example.org/w/docs/a%20%28b%29.md"' in rendered
