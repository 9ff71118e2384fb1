"""Entries are merged by a pointer that can be taken back; nothing is renumbered (R39)."""

import pytest

from knowledge.curation.errors import CurationError, Forbidden
from knowledge.experience.attempts.merging import candidates, mask, merge, unmask, unmerge
from knowledge.experience.attempts.record import record_attempts
from knowledge.experience.terms import AttemptLabel
from knowledge.models import EntryStanding, Experience, ExperienceChange, SearchRow, TrackRecord
from tests.knowledge.experience.test_record import attempt

pytestmark = pytest.mark.django_db


@pytest.fixture
def three():
    """Two successes and a small gain of one idea."""
    labels = [AttemptLabel.SUCCESS, AttemptLabel.SUCCESS, AttemptLabel.SMALL]
    gains = [0.10, 0.08, 0.03]
    return record_attempts(attempt(label, gain) for label, gain in zip(labels, gains, strict=True))


def facts():
    """Every stored column of every entry."""
    return list(Experience.objects.order_by("pk").values())


def counted():
    names = ("tried", "successes", "smalls", "gain_median", "gain_low", "gain_high", "last_at")
    return TrackRecord.objects.values(*names).get()


def test_r39_a_merged_entry_counts_no_longer_and_points_to_the_other(three, curator):
    first, second, _ = three
    (merged,) = merge([second], first, curator, "the same run, recorded twice")
    assert (merged.standing, merged.merged_into) == ("merged", first)
    assert counted()["tried"] == 2
    change = ExperienceChange.objects.get()
    assert (change.entry, change.other, change.by) == (second, first, curator)
    assert SearchRow.objects.get(kind="entry", key=str(second.pk)).facets["standing"] == "merged"


def test_r39_undoing_a_merge_restores_everything(three, curator):
    before, record = facts(), counted()
    merge(three[1:], three[0], curator, "one run")
    for entry in three[1:]:
        unmerge(entry, curator, "they were two runs after all")
    assert facts() == before
    assert counted() == record
    assert "standing" not in SearchRow.objects.get(kind="entry", key=str(three[1].pk)).facets


def test_what_cannot_be_merged_is_refused_by_name(three, curator):
    first, second, third = three
    merge([third], second, curator, "one run")
    refusals = [
        ([first], first, "into", first),
        ([third], first, "entries", third),
        ([second], first, "entries", second),
        ([first], third, "into", third),
    ]
    for entries, into, field, named in refusals:
        with pytest.raises(CurationError) as error:
            merge(entries, into, curator, "why")
        assert error.value.field == field
        assert str(named.uuid) in error.value.message
    with pytest.raises(CurationError, match="at least one"):
        merge([], first, curator, "why")
    assert Experience.objects.filter(standing="merged").count() == 1


def test_one_refused_entry_leaves_the_others_as_they_were(three, curator):
    first, second, third = three
    mask(third, None, "of a masked campaign")
    with pytest.raises(CurationError, match=str(third.uuid)):
        merge([second, third], first, curator, "one run")
    assert Experience.objects.get(pk=second.pk).standing == "counts"


def test_r39_opposite_outcomes_need_a_decision(three, curator):
    (worse,) = record_attempts([attempt(AttemptLabel.REGRESSION, -0.2)])
    with pytest.raises(CurationError, match=str(worse.uuid)) as error:
        merge([worse], three[0], curator, "one run")
    assert error.value.field == "decision"
    merge([worse], three[0], curator, "one run", decision="the log had the sign wrong")
    assert "the sign wrong" in ExperienceChange.objects.get().why


def test_candidates_are_of_one_idea_in_one_context(three):
    other = attempt(AttemptLabel.SUCCESS, 0.1, params={"BLOCK": 64})
    record_attempts([other, attempt(AttemptLabel.TIE, 0.0, dtype="float16")])
    (group,) = candidates()
    assert [entry.pk for entry in group.entries] == [entry.pk for entry in three]
    assert (group.count, group.needs_decision) == (3, False)


def test_only_curators_and_commands_decide(three, engineer):
    for step in (
        lambda: merge([three[1]], three[0], engineer, "why"),
        lambda: mask(three[0], engineer, "why"),
    ):
        with pytest.raises(Forbidden):
            step()
    merge([three[1]], three[0], None, "by a command")
    with pytest.raises(CurationError, match="a reason"):
        unmerge(three[1], None, "  ")


def test_masked_entries_leave_the_record_and_stay_stored(three, curator):
    masked = mask(three, curator, "measured on a broken card")
    assert {entry.standing for entry in masked} == {EntryStanding.MASKED}
    assert counted()["tried"] == 0
    with pytest.raises(CurationError, match=str(three[0].uuid)):
        mask(three[0], curator, "again")
    unmask(three, curator, "the card was fine")
    assert counted()["tried"] == 3
    assert ExperienceChange.objects.filter(why="measured on a broken card").count() == 3
