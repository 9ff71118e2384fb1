"""A question that nobody has answered is kept until somebody does."""

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.experience.lessons.gaps import NewGap, answer_gap, ask_gap, close_gap, near_gaps
from knowledge.models import Gap, SearchRow
from tests.knowledge.experience.lessons.conftest import active, attempt, entry, lesson

__all__ = ["active", "entry", "lesson"]

pytestmark = pytest.mark.django_db

QUESTION = "Does a persistent kernel pay for skinny matmuls?"


@pytest.fixture
def gap(engineer):
    return ask_gap(NewGap(QUESTION, query="persistent skinny op:matmul", op="matmul"), engineer)


def test_a_question_is_kept_and_found(gap):
    row = SearchRow.objects.get(kind="gap")
    assert (row.title, row.facets) == (QUESTION, {"op": "matmul"})
    assert {"persistent", "skinny"} <= set(row.words.split())
    assert gap.state == "open"


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "x" * 1001])
def test_a_question_is_text(engineer, text):
    with pytest.raises(CurationError, match=r"question: .*accepted"):
        ask_gap(NewGap(text), engineer)
    assert not Gap.objects.exists()


def test_a_query_and_a_scope_fit_their_columns(engineer):
    for new in (NewGap(QUESTION, query="x" * 501), NewGap(QUESTION, dtype="x" * 21)):
        with pytest.raises(CurationError, match="accepted: at most"):
            ask_gap(new, engineer)


def test_a_viewer_asks_nothing(viewer):
    with pytest.raises(Forbidden):
        ask_gap(NewGap(QUESTION), viewer)


def test_near_ones_are_shown(gap):
    assert near_gaps("does a persistent kernel pay for a skinny matmul?") == [gap]
    assert near_gaps("which swizzle on MI300X?") == []


def test_a_lesson_in_use_answers(gap, active, lesson, curator):
    answer_gap(gap, curator, "this one", lesson=active)
    gap.refresh_from_db()
    assert (gap.state, gap.lesson, gap.closer, gap.why) == ("answered", active, "cora", "this one")


def test_a_proposed_lesson_and_a_masked_attempt_do_not(gap, lesson, curator):
    with pytest.raises(CurationError, match="the lesson is proposed; accepted"):
        answer_gap(gap, curator, lesson=lesson)
    with pytest.raises(CurationError, match="the attempt is masked; accepted"):
        answer_gap(gap, curator, entry=attempt(masked=True))
    for sides in ({}, {"lesson": lesson, "entry": attempt()}):
        with pytest.raises(CurationError, match="one lesson or one attempt"):
            answer_gap(gap, curator, **sides)


def test_an_attempt_answers_once(gap, entry, engineer, curator):
    stale = Gap.objects.get()
    answer_gap(gap, engineer, entry=entry)
    with pytest.raises(Conflict, match="enzo was first: the question is answered"):
        close_gap(stale, curator, "nobody needs it")
    assert Gap.objects.get().entry == entry


def test_it_is_closed_with_a_reason_by_who_asked_or_a_curator(gap, engineer, curator):
    other = type(engineer).objects.create_user("emil")
    other.groups.set(engineer.groups.all())
    with pytest.raises(Forbidden):
        close_gap(gap, other, "no use")
    with pytest.raises(CurationError, match="reason"):
        close_gap(gap, engineer, "")
    close_gap(gap, engineer, "no use")
    assert SearchRow.objects.get(kind="gap").facets["standing"] == "closed"
