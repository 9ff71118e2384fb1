"""Two attempts of one idea with opposite effects are a question for a person."""

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.experience.attempts.disagreements import (
    Consequence,
    consequences_of,
    decide_disagreement,
    find_disagreements,
)
from knowledge.models import Disagreement, Experience, Lesson
from tests.knowledge.experience.lessons.conftest import active, attempt, entry, lesson
from tests.knowledge.racing import at_once, several_connections, slow

__all__ = ["active", "entry", "lesson", "several_connections"]

pytestmark = pytest.mark.django_db


def test_opposite_effects_of_one_idea_in_one_place(entry):
    worse = attempt("regression", -0.07, dtype="float32")
    found = Disagreement.objects.get()
    assert (found.first, found.second, found.lesson) == (entry, worse, None)
    attempt("incorrect", None)
    assert Disagreement.objects.count() == 1, "one question for one idea"


def test_no_question_is_kept_twice(entry, active):
    worse = attempt("regression", -0.07)
    Disagreement.objects.get_or_create(first=entry, lesson=active)
    for other in ({"second": worse}, {"lesson": active}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Disagreement.objects.create(first=entry, **other)


def test_the_database_makes_every_constraint():
    call_command("check", databases=["default"], fail_level="WARNING")


@pytest.mark.parametrize(
    "other",
    [
        {"label": "tie", "gain": 0.0},
        {"params": {"num_warps": 16}},
        {"strategy": "tr.other"},
        {"platform": "y-1"},
        {"op": "softmax"},
        {"masked": True},
    ],
)
def test_what_is_no_opposite(entry, other):
    attempt(**({"label": "regression", "gain": -0.07} | other))
    assert not Disagreement.objects.exists()


def test_where_the_place_is_unknown_only_one_context_is_compared(db):
    attempt(platform="", arch="", dtype="float16")
    attempt("regression", -0.1, platform="", arch="", dtype="float32")
    assert not Disagreement.objects.exists()
    attempt("regression", -0.1, platform="", arch="", dtype="float16")
    assert Disagreement.objects.count() == 1


def test_what_both_stand_is_not_asked_again(entry, curator):
    attempt("regression", -0.07)
    decide_disagreement(Disagreement.objects.get(), "one is float32", curator)
    attempt("regression", -0.09)
    find_disagreements(Experience.objects.all())
    assert Disagreement.objects.get().decision == "both stand: one is float32"


def test_once_a_side_is_masked_a_new_one_is_asked(entry, curator):
    worse = attempt("regression", -0.07)
    item = Disagreement.objects.get()
    decide_disagreement(item, "a busy host", curator, Consequence.MASK_SECOND)
    worse.refresh_from_db()
    assert (worse.standing, item.decision) == (
        "masked",
        "the second attempt is masked: a busy host",
    )
    attempt("regression", -0.07)
    assert Disagreement.objects.filter(state="open").count() == 1


def test_a_lesson_that_does_not_hold_is_retracted(active, curator, second_curator):
    attempt("regression", -0.07, params={"num_warps": 8})
    item = Disagreement.objects.get(lesson=active)
    decide_disagreement(item, "only once", second_curator, Consequence.RETRACT_LESSON)
    assert Lesson.objects.get().state == "retracted"
    assert active.changes.first().who == "carl"
    assert (item.state, item.who) == ("decided", "carl")


def test_who_may_not_decide(active, engineer, viewer):
    attempt("regression", -0.07, params={"num_warps": 8})
    item = Disagreement.objects.get()
    for nobody in (None, engineer, viewer):
        with pytest.raises(Forbidden):
            decide_disagreement(item, "so", nobody)


def test_nobody_decides_about_an_own_lesson(active, curator):
    attempt("regression", -0.07, params={"num_warps": 8})
    Lesson.objects.update(proposed_by=curator)
    with pytest.raises(Forbidden, match="the lesson is yours"):
        decide_disagreement(Disagreement.objects.get(), "so", curator)


def test_a_decision_has_words_and_fits(entry, curator):
    attempt("regression", -0.07)
    item = Disagreement.objects.get()
    with pytest.raises(CurationError, match="reason"):
        decide_disagreement(item, " ", curator)
    with pytest.raises(CurationError, match="accepted: both_stand, mask_first, mask_second"):
        decide_disagreement(item, "so", curator, Consequence.RETRACT_LESSON)
    Experience.objects.filter(pk=item.first_id).update(standing="masked")
    item = Disagreement.objects.get()
    assert consequences_of(item) == ["both_stand", "mask_second"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("several_connections")
def test_two_curators_decide_at_once(entry, curator, second_curator, monkeypatch):
    attempt("regression", -0.07)
    mine, yours = Disagreement.objects.get(), Disagreement.objects.get()
    with slow(monkeypatch, "knowledge.experience.attempts.disagreements.consequences_of"):
        found = at_once(
            lambda: decide_disagreement(mine, "one", curator, Consequence.MASK_FIRST),
            lambda: decide_disagreement(yours, "other", second_curator, Consequence.MASK_SECOND),
        )
    (refused,) = [each for each in found if isinstance(each, Exception)]
    assert isinstance(refused, Conflict), repr(refused)
    assert "was first: the " in str(refused)
    assert Experience.objects.filter(standing="masked").count() == 1
