"""Counts of the wiki, and what happened last."""

import pytest

from knowledge.curation.review import approve
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.lookup.needs import happenings, health, never_reviewed
from knowledge.models import FlagKind, Spec
from tests.knowledge.conftest import BANDWIDTH, X1

pytestmark = pytest.mark.django_db


def test_it_counts_by_state(wiki, proposal):
    found = health()
    assert (found.approved, found.in_review, found.returned) == (3, 1, 0)
    assert set(found.flags.values()) == {0}


def test_it_counts_values_with_an_open_flag_by_kind(wiki, page_text, engineer):
    text = page_text("", BANDWIDTH.replace("4.8", "4.9"))
    take_files({X1: text, "README.md": "# Index\n"}, ImportOptions(by=engineer))
    flags = health().flags
    assert flags[FlagKind.CHANGED] + flags[FlagKind.LOST] == 3
    assert flags[FlagKind.CHANGED] >= 1


def test_what_a_person_has_approved_is_reviewed(wiki, proposal, curator):
    assert never_reviewed(Spec.objects.all()).count() == 3
    approve(proposal, curator, "seen")
    left = never_reviewed(Spec.objects.all())
    assert proposal not in left
    assert left.count() == 3


def test_one_import_is_one_entry_and_each_review_is_its_own(wiki, proposal, curator):
    approve(proposal, curator, "seen")
    found = happenings(10)
    last = found[-1]
    assert (last.first.action, len(last.changes), last.platforms) == ("approved", 3, ["X 1"])
    assert ("approved", "cora", "seen") in [
        (h.first.action, h.first.by and h.first.by.username, h.first.why) for h in found
    ]
    assert len(happenings(1)) == 1


def test_it_does_not_count_what_it_has_not_read(shipped):
    (whole,) = happenings(10)
    assert whole.open_end
    assert len(whole.changes) < Spec.objects.count()
