"""Questions: asked from a search without a hit, answered, closed."""

import pytest

from knowledge.experience.lessons.gaps import NewGap, ask_gap
from knowledge.models import Gap

pytestmark = pytest.mark.django_db

GAPS = "/x/gaps/"
QUESTION = "Does a persistent kernel pay for skinny matmuls?"


@pytest.fixture
def gap(engineer):
    return ask_gap(NewGap(QUESTION, query="persistent skinny"), engineer)


@pytest.fixture
def asker(as_, engineer):
    return as_(engineer)


def state():
    return Gap.objects.get().state


def test_a_search_without_a_hit_fills_the_form(asker):
    text = asker.get(f"{GAPS}?q=persistent+skinny&op=matmul").content.decode()
    assert 'name="query" value="persistent skinny"' in text
    assert 'name="op" value="matmul"' in text
    answer = asker.post(GAPS, {"question": QUESTION, "query": "persistent skinny", "op": "matmul"})
    gap = Gap.objects.get()
    assert (answer.status_code, gap.query, gap.op) == (302, "persistent skinny", "matmul")
    text = asker.get(GAPS).content.decode()
    assert QUESTION in text
    assert "/search/?q=persistent%20skinny" in text


def test_near_ones_are_shown_before_it_is_stored(asker, gap):
    again = {"question": QUESTION.upper()}
    answer = asker.post(GAPS, again)
    assert "Nearly the same was asked" in answer.content.decode()
    assert Gap.objects.count() == 1
    assert asker.post(GAPS, again | {"do": "anyway"}).status_code == 302
    assert Gap.objects.count() == 2


def test_an_empty_question_is_told_at_its_field(asker):
    answer = asker.post(GAPS, {"question": " "})
    assert answer.status_code == 422
    assert "gap-question_error" in answer.content.decode()


def test_a_lesson_answers(asker, gap, active):
    address = f"{GAPS}{gap.pk}/answer/"
    answer = asker.post(address, {"answer": active.get_absolute_url(), "why": "yes, it does"})
    assert (answer.status_code, state()) == (302, "answered")
    text = asker.get(f"{GAPS}?state=answered").content.decode()
    assert active.get_absolute_url() in text
    assert "yes, it does" in text
    assert asker.post(address, {"answer": active.get_absolute_url()}).status_code == 409


def test_an_attempt_answers(asker, gap, entry):
    asker.post(f"{GAPS}{gap.pk}/answer/", {"answer": str(entry.uuid)})
    assert Gap.objects.get().entry == entry
    assert entry.get_absolute_url() in asker.get(f"{GAPS}?state=answered").content.decode()


@pytest.mark.parametrize("text", ["", "a lesson", "a\0b", "0" * 8 + "-0000" * 3 + "-" + "0" * 12])
def test_what_is_no_answer_is_told_at_its_field(asker, gap, text):
    answer = asker.post(f"{GAPS}{gap.pk}/answer/", {"answer": text})
    assert (answer.status_code, state()) == (422, "open")
    assert f"answer-{gap.pk}-answer_error" in answer.content.decode()


def test_a_proposed_lesson_is_no_answer(asker, gap, lesson):
    answer = asker.post(f"{GAPS}{gap.pk}/answer/", {"answer": str(lesson.uuid)})
    assert answer.status_code == 422
    assert "the lesson is proposed; accepted: one that is approved" in answer.content.decode()


def test_who_asked_closes_it_with_a_reason(asker, gap):
    address = f"{GAPS}{gap.pk}/close/"
    assert asker.post(address, {"why": ""}).status_code == 422
    assert asker.post(address, {"why": "nobody needs it"}).status_code == 302
    assert "nobody needs it" in asker.get(f"{GAPS}?state=closed").content.decode()


def test_a_viewer_reads(viewer, gap):
    text = viewer.get(GAPS).content.decode()
    assert QUESTION in text
    assert "gap-form" not in text
    assert viewer.post(GAPS, {"question": "Why?"}).status_code == 403
    for word in ("answer", "close"):
        assert viewer.post(f"{GAPS}{gap.pk}/{word}/", {"why": "x"}).status_code == 403
    assert state() == "open"


@pytest.mark.parametrize("query", ["state=bogus", "q=a%00b", "op=%22%3E%3Cscript%3E", "page=x"])
def test_a_hostile_address(asker, gap, query):
    answer = asker.get(f"{GAPS}?{query}")
    assert answer.status_code == 200
    assert "<script>" not in answer.content.decode()


def test_an_empty_list_teaches(viewer):
    text = viewer.get(GAPS).content.decode()
    assert "No question is open" in text
    assert 'class="cli"' in text
