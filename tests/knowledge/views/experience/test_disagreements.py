"""Two sides on one page, and a curator's decision between them."""

from html import unescape

import pytest

from knowledge.models import Disagreement, Experience, Lesson
from tests.knowledge.experience.lessons.conftest import attempt

pytestmark = pytest.mark.django_db


@pytest.fixture
def item(entry):
    attempt("regression", -0.07, dtype="float32", gain_low=-0.09, gain_high=-0.05)
    return Disagreement.objects.get()


@pytest.fixture
def against(active):
    attempt("regression", -0.07, params={"num_warps": 8})
    return Disagreement.objects.get()


def show(client, address):
    answer = client.get(address)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def decide(client, item, **data):
    return client.post(item.get_absolute_url(), data)


def test_both_sides_stand_on_one_page(as_, curator, item):
    text = show(as_(curator), item.get_absolute_url())
    assert 'data-side="success"' in text
    assert 'data-side="regression"' in text
    assert '"its incumbent" data-n=""><strong>1.075× slower [1.053, 1.099]</strong>' in text
    differs = text.split('id="compared"')[1]
    assert "float16" in differs
    assert "float32" in differs
    assert differs.count("data-differs") == 1, "the dtype alone"
    assert "Mask the right attempt" in text
    assert "Retract the lesson" not in text


def test_it_is_listed_and_waits_for_a_review(as_, curator, item):
    client = as_(curator)
    for address in ("/x/disagreements/", "/w/review/", "/"):
        assert item.get_absolute_url() in show(client, address)
    decide(client, item, consequence="both_stand", why="one is float32")
    assert item.get_absolute_url() not in show(client, "/x/disagreements/")
    assert "one is float32" in show(client, "/x/disagreements/?state=decided")
    assert "Nothing needs you" in show(client, "/")
    assert "Nothing waits" in show(client, "/w/review/")


def test_a_side_is_masked(as_, curator, item):
    answer = decide(as_(curator), item, consequence="mask_second", why="a busy host")
    assert answer.status_code == 302
    assert Experience.objects.get(pk=item.second_id).standing == "masked"
    text = show(as_(curator), item.get_absolute_url())
    assert "no longer counted" in text
    assert "the second attempt is masked: a busy host" in text


def test_a_lesson_is_retracted(as_, second_curator, against):
    client = as_(second_curator)
    assert 'data-side="lesson"' in show(client, against.get_absolute_url())
    assert decide(client, against, consequence="retract_lesson", why="no").status_code == 302
    assert Lesson.objects.get().state == "retracted"


def test_its_author_and_others_without_the_role_are_refused(as_, engineer, curator, against):
    Lesson.objects.update(proposed_by=curator)
    for person, words in ((engineer, "role curator or lead"), (curator, "The lesson is yours")):
        client = as_(person)
        assert words in show(client, against.get_absolute_url())
        answer = decide(client, against, consequence="both_stand", why="mine")
        assert answer.status_code == 403
    assert Disagreement.objects.get().state == "open"


def test_what_is_missing_is_told_at_its_field(as_, curator, item):
    answer = decide(as_(curator), item, consequence="retract_lesson", why=" ")
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "decide-why_error" in text
    assert "decide-consequence_error" in text


def test_the_second_is_told_who_was_first(as_, curator, second_curator, item):
    decide(as_(curator), item, consequence="both_stand", why="one is float32")
    answer = decide(as_(second_curator), item, consequence="mask_first", why="no")
    assert answer.status_code == 409
    assert "cora was first: both stand" in answer.content.decode()


def test_an_empty_list_teaches(viewer):
    assert "Nothing is open" in show(viewer, "/x/disagreements/")
    assert "has been decided" in show(viewer, "/x/disagreements/?state=decided")
    assert viewer.get("/x/disagreements/99999999999999999999/").status_code == 404
