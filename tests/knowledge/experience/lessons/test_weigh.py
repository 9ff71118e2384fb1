"""What is measured later confirms or contradicts a lesson by itself."""

import pytest

from knowledge.experience.attempts.merging import mask, unmask
from knowledge.experience.lessons.decide import approve_lesson, propose_lesson, retract_lesson
from knowledge.experience.lessons.weigh import weigh_lessons
from knowledge.models import Disagreement, Experience, Lesson, SearchRow
from tests.knowledge.experience.lessons.conftest import attempt, new_lesson

pytestmark = pytest.mark.django_db


def counts(lesson):
    lesson.refresh_from_db()
    return lesson.confirmed, lesson.contradicted


def test_a_new_attempt_confirms(active):
    later = attempt("micro", 0.01)
    assert counts(active) == (2, 0)
    assert active.evidence.get(entry=later).by is None
    assert SearchRow.objects.get(kind="lesson").weight == 2.0
    assert not Disagreement.objects.exists()


def test_a_new_attempt_contradicts_and_asks_for_a_review_once(active):
    first = attempt("regression", -0.08, params={"num_warps": 8})
    attempt("incorrect", None, params={"num_warps": 16})
    assert counts(active) == (1, 2)
    assert (Disagreement.objects.get().first, Disagreement.objects.get().lesson) == (first, active)


def test_no_change_says_nothing_about_what_to_do(active):
    attempt("tie", 0.0)
    assert counts(active) == (1, 0)


@pytest.mark.parametrize(
    ("label", "expected"), [("success", (1, 1)), ("tie", (2, 0)), ("incorrect", (2, 0))]
)
def test_what_to_avoid_is_contradicted_by_what_works(engineer, curator, label, expected):
    bad = attempt("regression", -0.1)
    new = new_lesson(avoid=True, evidence=[str(bad.uuid)])
    lesson = approve_lesson(propose_lesson(new, engineer), curator)
    attempt(label, 0.2 if label == "success" else None, params={"other": 1})
    assert counts(lesson) == expected


@pytest.mark.parametrize(
    "other", [{"op": "softmax"}, {"platform": "y-1"}, {"backend": "cuda"}, {"strategy": "tr.other"}]
)
def test_what_is_out_of_scope_says_nothing(active, other):
    attempt("regression", -0.1, **other)
    assert counts(active) == (1, 0)


def test_only_lessons_in_use_are_weighed(lesson, active, curator):
    retract_lesson(active, curator, "old")
    attempt()
    assert counts(active) == (1, 0)


def test_weighing_again_changes_nothing(active):
    later = attempt("regression", -0.1)
    Disagreement.objects.update(state="decided")
    weigh_lessons([later])
    assert counts(active) == (1, 1)
    assert Disagreement.objects.filter(lesson=active).count() == 1


def test_what_is_masked_counts_no_longer_until_it_is_shown_again(active, curator):
    later = attempt()
    mask(later, curator, "a busy host")
    assert counts(active) == (1, 0)
    unmask(later, curator, "it was quiet")
    assert counts(active) == (2, 0)
    mask(later, curator, "it was not")
    weigh_lessons([Experience.objects.get(pk=later.pk)])
    assert counts(active) == (1, 0)
    assert Lesson.objects.count() == 1
