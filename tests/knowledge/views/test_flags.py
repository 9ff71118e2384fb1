"""Answers to flags."""

from html import unescape

import pytest

from knowledge.curation.propose import CitedLines, propose
from knowledge.exchange.importer import ImportOptions, import_wiki, take_files
from knowledge.models import Document, Flag, Spec
from tests.knowledge.conftest import TDP, facts

X1 = "docs/hardware/x-1.md"


@pytest.fixture
def lost(wiki, page_text):
    """The flag of a bandwidth whose line went; line 17 holds its number in other words."""
    (wiki / X1).write_text(page_text("", TDP) + "\nIts memory moves 4.8 TB/s.\n")
    import_wiki(wiki)
    return Flag.objects.get(spec__metric="memory_bandwidth")


def recite(client, flag, **data):
    document = Document.objects.get(path=X1)
    known = {"doc": X1, "rev": document.latest.short, "first": 18, "last": 18, "why": "reworded"}
    return client.post(f"/w/flags/{flag.pk}/recite/", known | data)


def test_it_cites_other_lines(as_, lost, curator):
    answer = recite(as_(curator), lost)
    assert (answer.status_code, answer.url) == (302, f"/w/s/{lost.spec_id}/")
    lost.refresh_from_db()
    assert (lost.answer, lost.answered_by, lost.why) == ("recited", curator, "reworded")
    assert lost.spec.citation.first_line == 18


def test_it_refuses_lines_without_the_value_at_the_field(as_, lost, curator):
    answer = recite(as_(curator), lost, first=1, last=2)
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert f'id="recite-{lost.pk}-first_error"' in page
    assert "does not stand in the quoted lines" in page
    assert 'name="last" value="2"' in page
    assert "reworded</textarea>" in page
    lost.refresh_from_db()
    assert lost.answered_at is None


@pytest.mark.parametrize(
    ("field", "value"), [("first", 999), ("doc", "docs/none.md"), ("doc", "../x.md"), ("last", "x")]
)
def test_it_refuses_places_that_are_not_there(as_, lost, curator, field, value):
    data = {field: value} | ({"last": 999} if value == 999 else {})
    answer = recite(as_(curator), lost, **data)
    assert answer.status_code == 422
    assert f'id="recite-{lost.pk}-{field}_error"' in answer.content.decode()


def test_it_refuses_a_text_that_is_no_longer_the_newest(as_, wiki, lost, curator, page_text):
    shown = Document.objects.get(path=X1).latest.short
    (wiki / X1).write_text(page_text("", TDP) + "\n\nIts memory moves 4.8 TB/s.\n")
    import_wiki(wiki)
    answer = recite(as_(curator), lost, rev=shown)
    assert answer.status_code == 422
    assert "is not the newest text" in answer.content.decode()


def test_whoever_brought_the_text_in_does_not_answer(as_, wiki, page_text, curator, second_curator):
    texts = {X1: page_text("", TDP) + "\nIts memory moves 4.8 TB/s.\n", "README.md": "# Index\n"}
    take_files(texts, ImportOptions(origin="wiki", by=curator))
    flag = Flag.objects.get(spec__metric="memory_bandwidth")
    assert recite(as_(curator), flag).status_code == 403
    assert f"/w/flags/{flag.pk}/" not in client_page(as_(curator), flag)
    assert recite(as_(second_curator), flag).status_code == 302


def client_page(client, flag):
    return client.get(f"/w/s/{flag.spec_id}/").content.decode()


@pytest.mark.parametrize("who", ["engineer", "viewer"])
def test_it_needs_a_curator(as_, lost, who, request, client):
    if who == "engineer":
        as_(request.getfixturevalue(who))
    else:
        request.getfixturevalue("viewer")
    assert recite(client, lost).status_code == 403


def test_the_second_is_told_who_answered(as_, lost, curator, second_curator):
    recite(as_(curator), lost)
    answer = recite(as_(second_curator), lost)
    assert answer.status_code == 409
    assert "cora was first: answered ‘cited again’" in answer.content.decode()


@pytest.fixture
def kept(x1, note, engineer):
    first = propose(
        x1,
        facts("4.8 TB/s", metric="infinity_fabric_bandwidth"),
        CitedLines(note, 6, 6),
        engineer,
        "a",
    )
    Spec.objects.filter(pk=first.pk).update(state="approved")
    first.refresh_from_db()
    again = facts("5.1 TB/s", metric="infinity_fabric_bandwidth")
    spec = propose(x1, again, CitedLines(note, 6, 6), engineer, "b", replaces=first)
    return spec.flags.get()


def test_it_explains_a_kept_citation(as_, kept, engineer):
    path = f"/w/flags/{kept.pk}/explain/"
    answer = as_(engineer).post(path, {"answer": "misread", "why": "the other number"})
    assert answer.status_code == 302
    kept.refresh_from_db()
    assert (kept.answer, kept.answered_by) == ("misread", engineer)


@pytest.mark.parametrize(
    ("data", "field"),
    [({"answer": "typo_fix"}, "why"), ({"why": "x"}, "answer"),
     ({"answer": "recited", "why": "x"}, "answer")],
)  # fmt: skip
def test_it_needs_an_answer_and_a_reason(as_, kept, engineer, data, field):
    answer = as_(engineer).post(f"/w/flags/{kept.pk}/explain/", data)
    assert answer.status_code == 422
    assert f'id="explain-{kept.pk}-{field}_error"' in answer.content.decode()
    kept.refresh_from_db()
    assert kept.answered_at is None


def test_it_offers_to_propose_again_with_other_lines(as_, kept, engineer):
    page = unescape(client_page(as_(engineer), kept))
    spec = kept.spec
    assert f"/w/propose/?like={spec.pk}&replaces={spec.replaces_id}" in page


def test_a_viewer_explains_nothing(viewer, kept):
    path = f"/w/flags/{kept.pk}/explain/"
    assert viewer.post(path, {"answer": "misread", "why": "x"}).status_code == 403


def test_each_flag_has_its_answers(as_, kept, lost, curator):
    assert as_(curator).post(f"/w/flags/{kept.pk}/recite/").status_code == 409
    assert as_(curator).post(f"/w/flags/{lost.pk}/explain/").status_code == 409
    assert as_(curator).post("/w/flags/999999/explain/").status_code == 404
    assert as_(curator).get(f"/w/flags/{kept.pk}/explain/").status_code == 405
