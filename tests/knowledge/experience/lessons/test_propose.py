"""A lesson has four fields and rests on attempts; until it is approved its author edits it."""

import uuid

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.experience.lessons.decide import (
    approve_lesson,
    edit_lesson,
    propose_lesson,
    resubmit,
    return_lesson,
)
from knowledge.experience.lessons.new import LONGEST
from knowledge.models import Lesson, LessonEvidence, LessonSource, SearchRow
from tests.knowledge.experience.lessons.conftest import attempt, new_lesson

pytestmark = pytest.mark.django_db


def test_a_proposal_is_stored_with_its_evidence_its_history_and_its_words(lesson, entry, engineer):
    assert (lesson.state, lesson.proposed_by, lesson.confirmed) == ("proposed", engineer, 1)
    assert [(change.who, change.done) for change in lesson.changes.all()] == [("enzo", "proposed")]
    row = SearchRow.objects.get(kind="lesson", key=str(lesson.pk))
    assert row.facets["standing"] == "proposed"
    assert "outcome" not in row.facets
    assert "8 warps" in row.title


@pytest.mark.parametrize("field", LONGEST)
@pytest.mark.parametrize("text", ["", " \n ", "x\0y", "\ud800", "x" * 5000])
def test_each_of_the_four_fields_is_mandatory_and_bounded(engineer, field, text):
    with pytest.raises(CurationError) as refused:
        propose_lesson(new_lesson(**{field: text}), engineer)
    assert refused.value.field == field
    assert "accepted" in refused.value.message
    assert not Lesson.objects.exists()


@pytest.mark.parametrize("name", Lesson.SCOPE)
@pytest.mark.parametrize("text", ["x\0y", "x" * 500])
def test_a_scope_is_text_of_its_column(engineer, name, text):
    with pytest.raises(CurationError) as refused:
        propose_lesson(new_lesson(**{name: text}), engineer)
    assert refused.value.field == name


def test_an_architecture_follows_from_the_platform(shipped, engineer):
    lesson = propose_lesson(new_lesson(platform="h200-sxm", arch="sm_90"), engineer)
    assert lesson.arch == attempt(platform="h200-sxm").track.arch == "sm_90a"
    assert propose_lesson(new_lesson(platform="h200-sxm", arch=""), engineer).arch == ""


@pytest.mark.parametrize("text", ["", "no id", str(uuid.UUID(int=7))])
def test_evidence_is_an_attempt_that_there_is(engineer, text):
    with pytest.raises(CurationError, match="accepted: the id of an attempt"):
        propose_lesson(new_lesson(evidence=[text]), engineer)
    assert not Lesson.objects.exists()


def test_evidence_counts(engineer, entry):
    hidden = attempt(masked=True)
    with pytest.raises(CurationError, match="is masked; accepted: attempts that count"):
        propose_lesson(new_lesson(evidence=[str(hidden.uuid)]), engineer)
    type(hidden).objects.filter(pk=hidden.pk).update(standing="merged", merged_into=entry)
    lesson = propose_lesson(new_lesson(evidence=[str(hidden.uuid)]), engineer)
    assert lesson.evidence.get().entry == entry


def test_a_viewer_proposes_nothing(viewer):
    with pytest.raises(Forbidden):
        propose_lesson(new_lesson(), viewer)


def test_a_campaign_has_five_lessons(db):
    """R41: at most five tips a campaign."""
    new = new_lesson(source=LessonSource.CAMPAIGN, campaign=4)
    made = [propose_lesson(new, None) for _ in range(5)]
    with pytest.raises(CurationError, match="campaign 4 has 5 lessons"):
        propose_lesson(new, None)
    Lesson.objects.filter(pk=made[0].pk).update(state="retracted")
    propose_lesson(new, None)


def test_an_edit_is_kept_with_what_was_before(lesson, engineer):
    more = attempt()
    edit = new_lesson(takeaway="Use 8 warps.", evidence=[str(more.uuid)])
    edit_lesson(lesson, edit, engineer, "shorter")
    change = lesson.changes.first()
    assert change.before == {"takeaway": "Use 8 warps for tiles of 128 by 128."}
    assert change.after == {"takeaway": "Use 8 warps.", "evidence": str(more.uuid)}
    assert (change.done, change.why) == ("edited", "shorter")
    lesson.refresh_from_db()
    assert (lesson.takeaway, lesson.confirmed) == ("Use 8 warps.", 2)
    assert SearchRow.objects.get(kind="lesson").title == "Use 8 warps."


def test_an_edit_changes_something(lesson, entry, engineer):
    with pytest.raises(CurationError, match="nothing was changed"):
        edit_lesson(lesson, new_lesson(evidence=[str(entry.uuid)]), engineer)
    assert lesson.changes.count() == 1


def test_only_the_author_edits_and_only_before_the_approval(lesson, curator, engineer):
    with pytest.raises(Forbidden):
        edit_lesson(lesson, new_lesson(takeaway="Other."), curator)
    approve_lesson(lesson, curator)
    with pytest.raises(Conflict, match="active; accepted: proposed, returned"):
        edit_lesson(lesson, new_lesson(takeaway="Other."), engineer)


def test_a_returned_lesson_is_proposed_again_by_its_author(lesson, engineer, curator):
    return_lesson(lesson, curator, "which shapes?")
    with pytest.raises(Forbidden):
        resubmit(lesson, curator, "mine")
    resubmit(lesson, engineer, "said now")
    assert [change.done for change in lesson.changes.all()] == [
        "proposed again",
        "returned",
        "proposed",
    ]
    approve_lesson(lesson, curator)


def test_evidence_is_never_rewritten(lesson):
    with pytest.raises(Exception, match="recorded and cannot be"):
        LessonEvidence.objects.all().delete()
