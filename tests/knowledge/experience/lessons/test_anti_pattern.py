"""A refused trick becomes one anti-pattern by itself, and gathers evidence (R41; W2, W3)."""

import pytest

from knowledge.curation.errors import CurationError
from knowledge.experience.lessons.decide import record_anti_pattern, retract_lesson
from knowledge.models import Lesson
from tests.knowledge.experience.lessons.conftest import attempt, new_lesson
from tests.knowledge.racing import at_once, several_connections

__all__ = ["several_connections"]

pytestmark = pytest.mark.django_db


def trick(*entries, **more):
    return new_lesson(
        takeaway="Do not cache outputs by the address of an input.",
        strategy="cache.by_address",
        evidence=[str(entry.uuid) for entry in entries],
        **more,
    )


def bad(**more):
    return attempt("incorrect", None, strategy="cache.by_address", **more)


def test_the_flow_records_it_once(db):
    first = record_anti_pattern(trick(bad()), "W2: fresh inputs")
    again = record_anti_pattern(trick(bad()), "W2: fresh inputs")
    elsewhere = record_anti_pattern(trick(bad(op="softmax"), op="softmax"), "W2: fresh inputs")
    assert first == again != elsewhere
    first.refresh_from_db()
    assert (first.state, first.avoid, first.source) == ("anti_pattern", True, "refused_trick")
    assert first.confirmed == 2
    assert [(c.who, c.done, c.why) for c in first.changes.all()] == [
        ("a command", "found", "W2: fresh inputs")
    ]


def test_what_a_person_retracted_stays_retracted(curator):
    found = record_anti_pattern(trick(bad()), "W3")
    retract_lesson(found, curator, "a false alarm")
    assert record_anti_pattern(trick(bad()), "W3").state == "retracted"


def test_it_needs_a_reason_and_four_fields(db):
    with pytest.raises(CurationError):
        record_anti_pattern(trick(), "")
    with pytest.raises(CurationError):
        record_anti_pattern(new_lesson(signal=""), "W2")
    assert not Lesson.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("several_connections")
def test_two_workers_find_it_at_once():
    one, other = bad(), bad()
    found = at_once(
        lambda: record_anti_pattern(trick(one), "W2"),
        lambda: record_anti_pattern(trick(other), "W2"),
    )
    assert not [each for each in found if isinstance(each, Exception)], found
    lesson = Lesson.objects.get()
    assert (lesson.confirmed, lesson.evidence.count()) == (2, 2)
