"""The document viewer."""

from html import unescape

import pytest

from knowledge.importer import import_wiki
from knowledge.models import Document
from tests.knowledge.conftest import BANDWIDTH, TDP

X1 = "/w/docs/docs/hardware/x-1.md"


def lines(page):
    return [row.split("</tr>")[0] for row in unescape(page).split("<tr id=")[1:]]


def test_it_numbers_every_source_line(viewer, wiki):
    rows = lines(viewer.get(X1).content.decode())
    assert len(rows) == 17
    assert rows[14].startswith('"L15"')
    assert '<a href="#L15">15</a>' in rows[14]
    assert BANDWIDTH in rows[14]


def test_it_shows_the_citation_beside_its_line(viewer, wiki):
    rows = lines(viewer.get(X1).content.decode())
    cited = "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/x-1.md:L15"
    assert [number for number, row in enumerate(rows, 1) if cited in row] == [15]
    assert [n for n, row in enumerate(rows, 1) if 'class="citation"' in row] == [15, 16, 17]


def test_it_opens_the_pinned_revision_after_a_change(viewer, wiki, page_text):
    first = Document.objects.get(path="docs/hardware/x-1.md").latest
    (wiki / "docs/hardware/x-1.md").write_text(page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP))
    import_wiki(wiki, vouched=True)
    old = viewer.get(f"{X1}?rev={first.short}").content.decode()
    assert "4.8 TB/s" in lines(old)[14]
    assert "older revision" in old
    assert "memory_bandwidth (retired)" in old
    new = viewer.get(X1).content.decode()
    assert "4.9 TB/s" in lines(new)[15]
    assert "older revision" not in new
    assert f'href="{X1}?rev={first.short}"' in new


@pytest.mark.parametrize("rev", ["0" * 12, "abc", "zzzzzzzz", "' OR 1=1", "0" * 65])
def test_it_does_not_know_other_revisions(viewer, wiki, rev):
    assert viewer.get(X1, {"rev": rev}).status_code == 404


def test_it_takes_no_hash_too_short_to_name_a_revision(viewer, wiki):
    short = Document.objects.get(path="docs/hardware/x-1.md").latest.short
    assert viewer.get(X1, {"rev": short[:7]}).status_code == 200
    assert viewer.get(X1, {"rev": short[:6]}).status_code == 404


@pytest.mark.parametrize("path", ["docs/hardware/x-2.md", "docs", "../settings.py", "README"])
def test_it_does_not_know_other_documents(viewer, wiki, path):
    assert viewer.get(f"/w/docs/{path}").status_code == 404


def test_it_renders_the_document_with_links_that_work(viewer, wiki):
    page = viewer.get("/w/docs/README.md", {"view": "rendered"}).content.decode()
    assert "<h1>Index</h1>" in page
    assert 'href="docs/hardware/x-1.md"' in page
    assert viewer.get("/w/docs/docs/hardware/x-1.md").status_code == 200


@pytest.mark.parametrize("view", ["", "rendered"])
def test_it_has_one_first_heading(viewer, wiki, view):
    page = viewer.get(X1, {"view": view}).content.decode()
    assert page.count("<h1>") == 1
    assert "<h1>X 1</h1>" in page


def test_it_shows_a_hostile_document_as_text(viewer, wiki):
    (wiki / "docs/evil.md").write_text("# <b>E</b>\n\n<script>alert(1)</script>\n")
    import_wiki(wiki)
    for view in ("", "rendered"):
        page = viewer.get("/w/docs/docs/evil.md", {"view": view}).content.decode()
        assert "<script>alert" not in page
        assert "<b>E" not in page


def test_it_needs_the_same_queries_for_any_number_of_lines(
    viewer, shipped, django_assert_num_queries
):
    # session, user, document, revision, newest, revisions, citations
    with django_assert_num_queries(7):
        viewer.get("/w/docs/docs/hardware/h100-sxm5-80gb.md")
