"""Propose a value: lines on the left, the value on the right."""

import re
from html import unescape

import pytest

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Document, Spec, SpecState
from tests.knowledge.conftest import BANDWIDTH

X1 = "docs/hardware/x-1.md"
NOTES = "docs/notes.md"


def filled(rev, **other):
    return {
        "platform": "x-1",
        "metric": "memory_bandwidth",
        "value": "4.9 TB/s",
        "qualifiers": "",
        "evidence": "documented",
        "source_kind": "vendor",
        "source": "sheet",
        "source_url": "https://example.org/sheet",
        "note": "",
        "rank": "",
        "why": "the sheet says so",
        "doc": NOTES,
        "rev": rev.short,
        "first": "5",
        "last": "5",
        "do": "propose",
    } | other


def proposals():
    return Spec.objects.filter(state=SpecState.PROPOSED)


def body(answer):
    return unescape(answer.content.decode())


def test_it_stores_a_proposal_and_shows_it(as_, engineer, note):
    answer = as_(engineer).post("/w/propose/", filled(note))
    spec = proposals().get()
    assert (answer.status_code, answer.url) == (302, f"/w/s/{spec.pk}/")
    assert (spec.shown, spec.proposed_by, spec.rank) == ("4.9 TB/s", engineer, "normal")
    assert str(spec.citation) == f"memory_bandwidth: 4.9 TB/s <- <gpu-wiki>/{NOTES}:L5"
    assert spec.changes.get().why == "the sheet says so"


def test_it_takes_a_range(as_, engineer, note):
    as_(engineer).post("/w/propose/", filled(note, last="6"))
    assert proposals().get().citation.line.locator == "L5-L6"


def test_it_takes_one_picked_line_for_both_ends(as_, engineer, note):
    data = filled(note)
    del data["last"]
    as_(engineer).post("/w/propose/", data)
    assert proposals().get().citation.line.locator == "L5"


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({"doc": ""}, "doc", "no source is open; accepted"),
        ({"doc": "docs/none.md"}, "doc", f"accepted: README.md, {X1}, {NOTES}"),
        ({"first": "", "last": ""}, "first", "no lines are picked; accepted"),
        ({"first": "6", "last": "5"}, "first", "not after the last"),
        ({"first": "5", "last": "99"}, "first", "accepted: L1 to L6"),
        ({"first": "3", "last": "3"}, "first", "does not stand in the quoted lines"),
        ({"value": "4.9 parsec"}, "value", "unknown unit 'parsec'; accepted: B,"),
        ({"value": "about 4.9 TB/s"}, "value", "'about'"),
        ({"value": "4.9 GiB"}, "value", "kept in B/s"),
        ({"value": ""}, "value", "required"),
        ({"metric": "memory_width"}, "metric", "accepted: memory_bandwidth"),
        ({"platform": "h200"}, "platform", "'h200' is no platform; accepted: x-1"),
        ({"qualifiers": "type=float16"}, "qualifiers", "accepted: key=value once each, of dtype"),
        ({"evidence": "heard"}, "evidence", "accepted: documented, derived, measured"),
        ({"source_kind": ""}, "source_kind", "accepted: vendor, vendor-docs"),
        ({"source_url": "javascript:alert(1)"}, "source_url", "is no valid URL"),
        ({"source": "a | b"}, "source", "one line without '|'"),
        ({"rank": "best"}, "rank", "accepted: preferred, normal, deprecated"),
        ({"rank": "deprecated"}, "note", "Needed for UNKNOWN"),
        ({"value": "UNKNOWN"}, "note", "Needed for UNKNOWN"),
        ({"why": " "}, "why", "a reason is needed"),
    ],
)
def test_it_says_at_the_field_what_is_accepted(as_, engineer, note, data, field, words):
    answer = as_(engineer).post("/w/propose/", filled(note, **data))
    page = body(answer)
    assert answer.status_code == 422
    error = page.split(f'id="propose-{field}_error"')[1].split("</ul>")[0]
    assert words in error
    assert re.search(rf'aria-describedby="[^"]*propose-{field}_error"', page)
    assert f'href="#propose-{field}"' in page
    assert not proposals().exists()


def test_it_keeps_everything_that_was_typed(as_, engineer, note):
    data = filled(note, value="about 4.9 TB/s", qualifiers="dtype=float16", note="n", rank="normal")
    page = body(as_(engineer).post("/w/propose/", data))
    for text in ("memory_bandwidth", "about 4.9 TB/s", "dtype=float16", "sheet", NOTES):
        assert f'value="{text}"' in page
    assert "the sheet says so</textarea>" in page
    assert '<option value="x-1" selected>' in page
    assert '<option value="normal" selected>' in page
    assert page.count(" checked") == 2


def test_it_looks_at_lines_without_storing_anything(as_, engineer, note):
    answer = as_(engineer).post("/w/propose/", filled(note, do="look", value="about"))
    page = body(answer)
    assert answer.status_code == 200
    assert '<pre class="quote" data-locator="L5">bandwidth 4.9 TB/s</pre>' in page
    assert 'value="about"' in page
    assert "_error" not in page
    assert not proposals().exists()


def test_it_starts_at_the_lines_of_the_address(as_, engineer, wiki):
    rev = Document.objects.get(path=X1).latest.short
    query = {"doc": X1, "rev": rev, "first": "15", "last": "15"}
    page = body(as_(engineer).get("/w/propose/", query))
    assert f'data-locator="L15">{BANDWIDTH}</pre>' in page
    assert 'value="4.8 TB/s"' in page
    assert '<option value="x-1" selected>' in page
    assert '<option value="documented" selected>' in page


def test_it_starts_from_the_value_to_replace(as_, engineer, wiki):
    old = Spec.objects.get(metric="tdp")
    page = body(as_(engineer).get("/w/propose/", {"replaces": old.pk}))
    assert f'name="replaces" value="{old.pk}"' in page
    assert f'<a href="/w/s/{old.pk}/">x-1 tdp: 700 W</a>' in page
    assert 'value="tdp"' in page
    assert f'value="{X1}"' in page


def test_it_replaces_only_the_same_question(as_, engineer, note):
    other = Spec.objects.get(metric="tdp")
    answer = as_(engineer).post("/w/propose/", filled(note, replaces=other.pk))
    assert answer.status_code == 422
    assert "answers another question" in body(answer)


def test_a_value_no_longer_in_use_is_a_conflict_that_keeps_the_input(as_, engineer, note):
    old = Spec.objects.get(metric="memory_bandwidth")
    Spec.objects.filter(pk=old.pk).update(state="retired")
    answer = as_(engineer).post("/w/propose/", filled(note, replaces=old.pk))
    assert answer.status_code == 409
    assert "only a value in use can be replaced" in body(answer)
    assert 'value="4.9 TB/s"' in body(answer)


def test_a_kept_citation_is_flagged(as_, engineer, note):
    first = as_(engineer).post("/w/propose/", filled(note, value="4.8 TB/s", first="6", last="6"))
    spec = Spec.objects.get(pk=first.url.split("/")[-2])
    Spec.objects.filter(pk=spec.pk).update(state="approved")
    data = filled(note, value="5.1 TB/s", first="6", last="6", replaces=spec.pk)
    as_(engineer).post("/w/propose/", data)
    assert proposals().get().flags.get().kind == "same_citation"


def test_a_text_that_changed_meanwhile_is_refused(as_, engineer, note):
    take_files({NOTES: "# Notes\n\nbandwidth 4.9 TB/s\n\n\n"}, ImportOptions(origin="notes"))
    answer = as_(engineer).post("/w/propose/", filled(note))
    assert answer.status_code == 422
    assert "the document has changed since" in body(answer)
    assert "older revision" in body(answer)


def test_picks_do_not_carry_over_to_another_document(as_, engineer, note):
    page = body(as_(engineer).post("/w/propose/", filled(note, do="look", doc=X1)))
    assert "No lines are picked yet" in page
    assert " checked" not in page


def test_it_tells_a_viewer_who_may(viewer, note):
    answer = viewer.get("/w/propose/")
    assert answer.status_code == 403
    assert "engineer, curator, lead" in body(answer)
    assert viewer.post("/w/propose/", filled(note)).status_code == 403
    assert not proposals().exists()


def test_it_asks_for_a_login(client, db):
    assert client.get("/w/propose/").url == "/login/?next=/w/propose/"


@pytest.mark.parametrize(
    "query",
    [
        {"first": "x", "last": "-1", "doc": X1},
        {"first": "9" * 30, "doc": X1},
        {"first": "999", "last": "1000", "doc": X1},
        {"doc": "../../etc/passwd"},
        {"replaces": "none", "like": "9" * 30},
        {"rev": "zz'", "doc": X1},
        {"platform": "<script>alert(1)</script>", "metric": "<b>"},
    ],
)
def test_it_bears_nonsense_in_the_address(as_, engineer, wiki, query):
    answer = as_(engineer).get("/w/propose/", query)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.content.decode()


def test_it_shows_a_long_document_in_windows(as_, engineer, wiki):
    text = "# Long\n\n" + "\n".join(f"row {n} holds {n} W" for n in range(3, 1001)) + "\n"
    take_files({"docs/long.md": text}, ImportOptions(origin="long"))
    page = body(as_(engineer).get("/w/propose/", {"doc": "docs/long.md", "first": 700}))
    assert 'id="L700"' in page
    assert 'id="L1"' not in page
    assert page.count('name="first"') == 300
    rev = Document.objects.get(path="docs/long.md").latest.short
    far = {"doc": "docs/long.md", "rev": rev, "first": 700, "last": 700, "from": 1, "do": "look"}
    page = body(as_(engineer).post("/w/propose/", far))
    assert 'id="L1"' in page
    assert '<input type="hidden" name="first" value="700">' in page
    assert 'data-locator="L700"' in page


@pytest.mark.parametrize(
    ("value", "warned"), [("4.9 TB/s", []), ("900 TB/s", ["range", "contradiction"])]
)
def test_it_warns_before_anything_is_stored(as_, engineer, note, value, warned):
    page = body(as_(engineer).post("/w/propose/", filled(note, do="look", value=value)))
    assert re.findall('data-warning="([^"]*)"', page) == warned
    assert ("No warnings for" in page) is not bool(warned)
    assert not proposals().exists()


def test_it_says_at_once_what_units_are_accepted(as_, engineer, note):
    page = body(as_(engineer).post("/w/propose/", filled(note, do="look", value="4.9 parsec")))
    assert "unknown unit 'parsec'; accepted: B," in page.split("data-wrong>")[1]


def test_it_says_nothing_of_a_value_that_is_not_there_yet(as_, engineer, note):
    page = body(as_(engineer).get("/w/propose/"))
    assert "No warnings for" not in page
    assert "data-warning" not in page


def test_it_says_everything_that_is_wrong_at_once(as_, engineer, note):
    wrong = filled(note, value="about 4.9 TB/s", qualifiers="x=1", why="", first="", last="")
    page = body(as_(engineer).post("/w/propose/", wrong))
    for field in ("qualifiers", "why", "first"):
        assert f'id="propose-{field}_error"' in page
    wrong["qualifiers"] = ""
    page = body(as_(engineer).post("/w/propose/", wrong))
    for field in ("value", "why", "first"):
        assert f'id="propose-{field}_error"' in page


def test_it_starts_where_lines_are_picked_unless_something_is_wrong(as_, engineer, note):
    page = body(as_(engineer).post("/w/propose/", filled(note, do="look")))
    assert page.count(" autofocus") == 1
    assert " autofocus" not in body(as_(engineer).post("/w/propose/", filled(note, why="")))
