"""The document viewer."""

import re
from html import unescape

import pytest

from knowledge.exchange.importer import ImportOptions, import_wiki, take_files
from knowledge.models import Document
from tests.knowledge.conftest import BANDWIDTH, TDP, UNKNOWN_CORES

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
    assert f'<option value="{first.short}">' in new


@pytest.mark.parametrize("rev", ["0" * 12, "abc", "zzzzzzzz", "' OR 1=1", "0" * 65])
def test_it_does_not_know_other_revisions(viewer, wiki, rev):
    assert viewer.get(X1, {"rev": rev}).status_code == 404


def test_it_takes_no_hash_too_short_to_name_a_revision(viewer, wiki):
    short = Document.objects.get(path="docs/hardware/x-1.md").latest.short
    assert viewer.get(X1, {"rev": short[:7]}).status_code == 200
    assert viewer.get(X1, {"rev": short[:6]}).status_code == 404


@pytest.mark.parametrize(
    "path", ["docs/hardware/x-2.md", "docs", "../settings.py", "README", "%00"]
)
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


def change(viewer, page_text, *lines):
    """Bring in another text; the first one's hash and the new page."""
    first = Document.objects.get(path="docs/hardware/x-1.md").latest.short
    text = page_text(*lines)
    take_files({"docs/hardware/x-1.md": text, "README.md": "# Index\n"}, ImportOptions())
    return first, unescape(viewer.get(X1).content.decode())


def test_each_citation_shows_its_state(viewer, wiki, page_text):
    _, page = change(viewer, page_text, "", BANDWIDTH, TDP.replace("700", "750"), UNKNOWN_CORES)
    assert 'data-cite-state="moved"' in lines(page)[15]
    assert 'data-cite-state="changed"' in lines(page)[16]
    assert "700 W" in lines(page)[16].split('class="text"')[0]
    flags = page[page.index('id="open-flags"') :].split("</section>")[0]
    assert "1 open flag on values that cite it" in flags
    assert "tdp of X 1" in flags
    assert 'data-cite-state="changed"' in flags


def test_it_shows_what_differs_and_which_citations_that_affects(viewer, wiki, page_text):
    first, _ = change(viewer, page_text, "", BANDWIDTH, TDP.replace("700", "750"))
    page = unescape(viewer.get(X1, {"against": first}).content.decode())
    assert "Citations affected: 3" in page
    affected = page[page.index('id="affected"') :].split("</section>")[0]
    states = re.findall(r'data-cite-state="(\w+)"', affected)
    assert states == ["changed", "lost", "moved"]
    diff = page[page.index('id="diff-title"') :]
    assert diff.count('<tr class="add">') == 2
    assert diff.count('<tr class="del">') == 2
    assert "750 W" in diff


def test_a_text_against_itself_is_identical(viewer, wiki):
    short = Document.objects.get(path="docs/hardware/x-1.md").latest.short
    page = viewer.get(X1, {"against": short}).content.decode()
    assert "Citations affected: 0" in page
    assert "The two texts are identical" in page


def test_a_withdrawn_document_says_so(viewer, wiki):
    take_files({"README.md": "# Index\n"}, ImportOptions(origin="wiki"))
    page = viewer.get(X1).content.decode()
    assert 'id="withdrawn"' in page
    assert 'data-cite-state="source_missing"' in page


def marked(page):
    return [n for n, row in enumerate(lines(page), 1) if 'class="marked"' in row]


def test_it_marks_a_range_of_lines(viewer, wiki):
    assert marked(viewer.get(X1, {"lines": "15-16"}).content.decode()) == [15, 16]
    assert marked(viewer.get(X1, {"lines": "3"}).content.decode()) == [3]
    assert marked(viewer.get(X1).content.decode()) == []


@pytest.mark.parametrize("asked", ["16-15", "0", "15-18", "L15", "15-", "9" * 30, "\0"])
def test_it_says_which_lines_there_are(viewer, wiki, asked):
    page = viewer.get(X1, {"lines": asked}).content.decode()
    assert "accepted: 1 to 17, as 23 or 23-25" in page
    assert marked(page) == []


def test_who_may_propose_does_so_from_a_line_of_the_newest_text(
    viewer, admin_client, wiki, page_text
):
    short = Document.objects.get(path="docs/hardware/x-1.md").latest.short
    page = unescape(admin_client.get(X1).content.decode())
    link = f"/w/propose/?doc=docs%2Fhardware%2Fx-1.md&rev={short}&first=15&last=15"
    assert link in page
    assert admin_client.get(link).status_code == 200
    assert "/w/propose/" not in viewer.get(X1).content.decode()
    change(viewer, page_text, BANDWIDTH, TDP)
    assert "/w/propose/" not in admin_client.get(X1, {"rev": short}).content.decode()


def test_a_long_document_stays_usable(admin_client, db, page_text):
    facts = [
        TDP.replace("700", str(n)).replace("rank=preferred", "rank=normal") for n in range(11, 300)
    ]
    text = page_text(TDP, *facts) + "".join(f"line {n}\n" for n in range(5000))
    take_files({"docs/hardware/x-1.md": text}, ImportOptions())
    page = admin_client.get(X1).content
    assert page.count(b"<tr id=") > 5000
    assert len(page) < 3_000_000


def test_it_needs_the_same_queries_for_any_number_of_lines(
    viewer, shipped, django_assert_num_queries
):
    # session, user, document, newest, no flags, two for permissions, citations with their specs,
    # specs, their citations, drift, newest texts, revisions
    with django_assert_num_queries(13):
        viewer.get("/w/docs/docs/hardware/h100-sxm5-80gb.md")
