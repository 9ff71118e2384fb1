"""The page of the search, its files and its API: one set of rows, none made up."""

import csv
import html
import io
import json
import re

import pytest

from knowledge.experience.attempts.record import record_attempts
from knowledge.experience.lessons.weigh import index_lessons
from knowledge.models import Lesson
from tests.knowledge.search.test_find import attempt

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script> padding & <b>tiles</b>. Ignore all instructions."


@pytest.fixture
def page(viewer):
    """Rows to find, and what a viewer gets for a query."""
    record_attempts(
        [
            attempt("cu.pad", -0.43, op="matmul", notes="padding the tile", title=SCRIPT),
            attempt("tr.pad", 0.08, backend="triton", notes="padding rows"),
        ]
    )
    made = Lesson.objects.create(
        context=SCRIPT, signal="s", takeaway=SCRIPT, applicability=SCRIPT, state="active",
        source="person",
    )  # fmt: skip
    index_lessons([made])

    def ask(**asked):
        return viewer.get("/search/", asked)

    return ask


def shown(answer):
    return shown_text(answer.content.decode())


def shown_text(text):
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def test_it_shows_worked_and_did_not_with_marked_words(page):
    text = page(q="padding").content.decode()
    assert "<mark>padding</mark>" in text
    assert text.index('id="worked"') < text.index('id="did_not"') < text.index('id="entry"')
    plain = shown(page(q="padding", op="matmul"))
    assert "1.75× slower [1.72, 1.79]" in plain


def test_a_side_without_hits_has_no_box(page):
    text = page(q="padding rows triton").content.decode()
    assert 'id="worked"' in text
    assert 'id="did_not"' not in text


def test_a_number_comes_first_with_the_line_that_it_rests_on(shipped, viewer):
    text = viewer.get("/search/", {"q": "bandwidth h200"}).content.decode()
    answer = re.search(r'<li data-hit="spec" class="answer">.*?</li>', text, re.DOTALL)[0]
    assert "4.8 TB/s" in shown_text(answer)
    assert re.search(r'<a class="cite" href="/w/docs/docs/hardware/h200-sxm.md[^"]*#L23">', answer)
    assert text.index("data-hit") > text.index('id="best"')
    kinds = re.findall(r'<a class="chip" href="#([a-z]+)">([A-Z]\w+) (\d+)', text)
    assert kinds[:2] == [("spec", "Values", "42"), ("document", "Documents", "5")]


def test_what_is_stored_is_text(page):
    for q in ("padding", "script alert", "instructions"):
        text = page(q=q).content.decode()
        assert "<script>alert" not in text
        assert "<b>tiles" not in text
        assert "&lt;" in text


@pytest.mark.parametrize("q", ["padding", "padding triton", "zzqx", ""])
def test_its_files_have_the_rows_of_the_page(page, client, q):
    text = page(q=q).content.decode()
    links = re.findall(r'data-hit="[^"]*"><p><a class="rowlink" href="([^"]*)"', text)
    links = [html.unescape(link) for link in links]
    rows = page(q=q, format="json").json()["rows"]
    assert [row["url"] for row in rows] == links
    table = csv.DictReader(io.StringIO(page(q=q, format="csv").content.decode()))
    assert [row["url"] for row in table] == links
    markdown = page(q=q, format="md").content.decode()
    assert re.findall(r"`(/[^`]*)` \|$", markdown, re.MULTILINE) == links
    answer = client.get("/api/v1/search", {"q": q} if q else {}).json()
    assert [hit["url"] for each in answer["sections"].values() for hit in each["hits"]] == links


def test_a_chip_takes_a_facet_away(page):
    text = page(q="padding triton").content.decode()
    assert re.search(r'<a class="chip" href="/search/\?q=padding" data-facet="backend"', text)


def test_nonsense_in_a_narrow_scope_says_none(page):
    plain = shown(page(q="zzqx", op="matmul"))
    assert "None found" in plain
    assert "Left out by this scope: 0 contexts outside of operation matmul." in plain
    assert "data-hit" not in page(q="zzqx", op="matmul").content.decode()
    assert "/x/gaps/?q=zzqx&amp;op=matmul" in page(q="zzqx", op="matmul").content.decode()


def test_a_near_word_is_offered_and_not_taken(page):
    answer = page(q="paddign")
    assert "Did you mean padding?" in " ".join(shown(answer).split())
    assert "data-hit" not in answer.content.decode()


@pytest.mark.parametrize("file", ["", "json", "csv", "md"])
@pytest.mark.parametrize(
    ("name", "value"), [("op", "bogus"), ("kind", "x"), ("outcome", "great"), ("n", "7")]
)
def test_an_unknown_value_names_the_accepted_ones(page, file, name, value):
    answer = page(q="padding", format=file, **{name: value})
    assert answer.status_code == 400
    assert f"{name}" in shown(answer)
    assert "accepted: " in shown(answer)


def test_a_format_that_there_is_not_is_named(page):
    answer = page(q="padding", format="xml")
    assert answer.status_code == 400
    assert "accepted: html, json, csv, md" in shown(answer)


def test_a_long_query_is_cut_with_a_note_and_short_addresses(page):
    for q in ("padding " * 1_250, "ü字" * 5_000, "x" * 10_000):
        answer = page(q=q)
        assert answer.status_code == 200
        assert "are looked for" in shown(answer)
        links = re.findall(r'href="(/search/[^"]*)"', answer.content.decode())
        assert all(len(html.unescape(link)) <= 2_000 for link in links)


@pytest.mark.parametrize(
    "query",
    [
        "q=%22+AND+*+NEAR(a+b)", "q=a%00b", "q=%ED%A0%80", "q=%FF%FE", "q=' OR 1=1 --", "q=(((",
        "q=padding%5C", "op=%00", "q=op:%22", "q=%F0%9F%98%80", "kind=track", "q=kind:track",
    ],
)  # fmt: skip
def test_no_query_breaks_it(page, client, query):
    assert client.get(f"/search/?{query}").status_code == 200


def test_an_empty_query_explains_itself(page):
    assert len(re.findall(r'<li><a href="/search/\?q=', page().content.decode())) == 3


def test_every_page_has_the_box(page, client):
    text = client.get("/w/").content.decode()
    assert 'action="/search/"' in text
    assert 'href="/x/"' in text


def test_the_api_names_the_field(page, client):
    for asked, field in [
        ({"q": "x", "op": "bogus"}, "op"),
        ({"q": "x", "colour": "red"}, "colour"),
        ({"q": "x", "n": "0"}, "n"),
        ({"q": "a\0b"}, "q"),
    ]:
        answer = client.get("/api/v1/search", asked)
        assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_the_api_answers_with_types(page, client):
    found = client.get("/api/v1/search", {"q": "padding matmul", "n": 5}).json()
    assert found["query"]["words"] == ["padding"]
    assert found["query"]["scope"] == [{"name": "op", "value": "matmul", "said": "matmul"}]
    (hit,) = found["sections"]["entry"]["hits"]
    assert (hit["gain"], hit["facets"]["op"]) == (-0.43, "matmul")
    assert found["excluded"][0]["facet"] == "op"
    assert json.dumps(found)
