"""Another person with the role decides on a lesson; nothing is deleted (R41)."""

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.experience.lessons.decide import (
    approve_lesson,
    edit_lesson,
    propose_lesson,
    restore,
    retract_lesson,
    return_lesson,
)
from knowledge.models import Lesson, LessonSource, SearchRow
from tests.knowledge.experience.lessons.conftest import new_lesson
from tests.knowledge.racing import at_once, several_connections, slow

__all__ = ["several_connections"]

pytestmark = pytest.mark.django_db


def again(lesson):
    return Lesson.objects.get(pk=lesson.pk)


def test_another_person_approves(lesson, curator):
    approve_lesson(lesson, curator, "seen it too")
    assert again(lesson).state == "active"
    change = lesson.changes.first()
    assert (change.who, change.done, change.why) == ("cora", "approved", "seen it too")
    row = SearchRow.objects.get(kind="lesson")
    assert (row.facets["outcome"], "standing" in row.facets) == ("worked", False)


def test_what_says_what_to_avoid_becomes_an_anti_pattern(entry, engineer, curator):
    new = new_lesson(avoid=True, evidence=[str(entry.uuid)])
    lesson = approve_lesson(propose_lesson(new, engineer), curator)
    assert lesson.state == "anti_pattern"
    assert SearchRow.objects.get(kind="lesson").facets["outcome"] == "failed"


@pytest.mark.parametrize("step", [approve_lesson, return_lesson])
def test_nobody_decides_on_an_own_lesson(entry, curator, second_curator, step):
    own = propose_lesson(new_lesson(evidence=[str(entry.uuid)]), curator)
    with pytest.raises(Forbidden, match="another curator decides"):
        step(own, curator, "mine")
    retract_lesson(own, second_curator, "no")
    restore(own, second_curator, "yes, after all")
    for person in (curator, second_curator):
        with pytest.raises(Forbidden, match="another curator decides"):
            step(own, person, "mine")
    assert again(own).state == "proposed"


@pytest.mark.parametrize("step", [approve_lesson, return_lesson])
def test_no_command_and_no_agent_decides(lesson, engineer, viewer, step):
    for nobody in (None, engineer, viewer):
        with pytest.raises(Forbidden):
            step(lesson, nobody, "so be it")
    assert again(lesson).state == "proposed"


def test_what_rests_on_no_attempt_is_not_approved(engineer, curator):
    """R41: a tip links rounds. What an archive brought rests on the archive."""
    bare = propose_lesson(new_lesson(), engineer)
    with pytest.raises(Conflict, match="rests on no attempt"):
        approve_lesson(bare, curator)
    imported = propose_lesson(new_lesson(source=LessonSource.IMPORTED), None)
    approve_lesson(imported, curator)


def test_a_retracted_lesson_stays_and_is_marked(active, curator, engineer):
    with pytest.raises(CurationError, match="reason"):
        retract_lesson(active, curator, " ")
    with pytest.raises(Forbidden):
        retract_lesson(active, engineer, "I was wrong")
    retract_lesson(active, curator, "only on the old compiler")
    row = SearchRow.objects.get(kind="lesson")
    assert row.facets["standing"] == "retracted"
    assert active.changes.first().before == {"state": "active"}
    with pytest.raises(Conflict):
        retract_lesson(active, curator, "again")


def test_an_author_takes_a_proposal_back(lesson, engineer):
    retract_lesson(lesson, engineer, "I was wrong")
    assert again(lesson).state == "retracted"


def test_what_was_edited_meanwhile_is_read_again(lesson, engineer, curator):
    seen = lesson.changes.first().pk
    mine = again(lesson)
    edit_lesson(lesson, new_lesson(takeaway="Use 4 warps."), engineer)
    with pytest.raises(Conflict, match="enzo was first: edited at"):
        approve_lesson(mine, curator, seen=seen)


def test_the_second_is_told_who_was_first(lesson, curator, second_curator):
    mine, yours = again(lesson), again(lesson)
    approve_lesson(mine, curator)
    with pytest.raises(Conflict, match="cora was first: approved at"):
        return_lesson(yours, second_curator, "no")
    assert again(lesson).changes.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("several_connections")
def test_two_curators_decide_at_once(lesson, curator, second_curator, monkeypatch):
    mine, yours = again(lesson), again(lesson)
    with slow(monkeypatch, "knowledge.experience.lessons.decide.require_state"):
        found = at_once(
            lambda: approve_lesson(mine, curator, "yes"),
            lambda: return_lesson(yours, second_curator, "no"),
        )
    (refused,) = [each for each in found if isinstance(each, Exception)]
    assert isinstance(refused, Conflict), repr(refused)
    assert "was first: " in str(refused)
    assert lesson.changes.count() == 2
