"""Warnings about stored values, and their reasoned exceptions."""

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import Place, propose
from knowledge.curation.warn import waive, warnings_before, warnings_of
from knowledge.models import Spec, Waiver
from tests.knowledge.curation.conftest import facts

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


@pytest.fixture
def odd(x1, note, engineer):
    return propose(x1, facts("5.1 kB", metric="l2_size"), Place(note, 6, 6), engineer, "why not")


def said(spec):
    return [(w.constraint, w.waived) for w in warnings_of([spec])[spec.pk]]


def test_it_warns_with_both_numbers(odd):
    (warning,) = warnings_of([odd])[odd.pk]
    assert warning.constraint == "range"
    assert "5.1 kB" in warning.message
    assert "131.07 kB" in warning.message


def test_it_sees_a_value_beside_the_approved_ones_but_not_beside_itself(x1, note, engineer):
    tdp = Spec.objects.get(metric="tdp")
    assert said(tdp) == []
    twin = Spec(platform=x1, metric="tdp", shown="0.7 kW", source=tdp.source,
                source_url=tdp.source_url)  # fmt: skip
    assert [w.constraint for w in warnings_before(twin)] == ["duplicate"]
    twin.replaces = tdp
    assert warnings_before(twin) == []


def test_it_keeps_a_waived_warning_and_says_why(odd, curator):
    waive(odd, "range", "a toy", curator)
    assert said(odd) == [("range", "a toy")]
    change = odd.changes.first()
    assert (change.action, change.by, change.why) == ("waived", curator, "a toy")


def test_only_a_second_curator_waives(x1, note, odd, curator, engineer):
    with pytest.raises(Forbidden, match="curator or lead"):
        waive(odd, "range", "a toy", engineer)
    own = facts("5.1 kB", metric="l2_size", note="again")
    mine = propose(x1, own, Place(note, 6, 6), curator, "mine")
    with pytest.raises(Forbidden, match="author"):
        waive(mine, "range", "a toy", curator)
    assert not Waiver.objects.exists()


@pytest.mark.parametrize(
    ("constraint", "reason", "field"),
    [("duplicate", "a toy", "constraint"), ("nonsense", "a toy", "constraint"),
     ("range", "  ", "reason")],
)  # fmt: skip
def test_it_refuses_what_does_not_warn_and_no_reason(odd, curator, constraint, reason, field):
    with pytest.raises(CurationError) as refused:
        waive(odd, constraint, reason, curator)
    assert refused.value.field == field


def test_the_second_waiver_is_told_who_was_first(odd, curator, second_curator):
    waive(odd, "range", "a toy", curator)
    with pytest.raises(Conflict, match="cora was first"):
        waive(odd, "range", "a toy too", second_curator)
    assert odd.changes.filter(action="waived").count() == 1


def test_it_needs_the_same_queries_for_any_number(shipped, django_assert_num_queries):
    specs = list(Spec.objects.filter(platform__slug="h200-sxm").for_sheet())
    assert len(specs) > 20
    with django_assert_num_queries(3):  # waivers, platform, siblings
        warnings_of(specs)
