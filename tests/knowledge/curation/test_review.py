"""Two pairs of eyes, exactly one preferred value, and a history that keeps everything."""

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from knowledge.curation.answer import explain
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, give_back, restore, resubmit, retire, set_rank
from knowledge.curation.store import NewSpec, store_specs
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Document, Flag, FlagAnswer, Immutable, Revision, Spec, SpecState
from knowledge.specs.facts import Rank
from tests.knowledge.conftest import facts

pytestmark = pytest.mark.django_db


def history(spec):
    return [(c.action, c.by and c.by.username, c.state, c.rank) for c in spec.changes.all()][::-1]


def old_bandwidth():
    return Spec.objects.get(shown="4.8 TB/s", metric="memory_bandwidth")


def test_a_second_person_puts_a_value_into_use(proposal, curator):
    approve(proposal, curator, "read the sheet")
    assert Spec.objects.preferred().get(metric="memory_bandwidth") == proposal
    before = old_bandwidth()
    assert (before.state, before.rank) == ("approved", "normal")
    assert history(proposal) == [
        ("proposed", "enzo", "proposed", "preferred"),
        ("approved", "cora", "approved", "preferred"),
    ]
    assert history(before)[-1] == ("ranked", "cora", "approved", "normal")


def test_nobody_decides_on_an_own_value(x1, note, curator):
    mine = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), curator, "measured")
    for step in (approve, give_back):
        with pytest.raises(Forbidden, match="you proposed this value"):
            step(mine, curator, "good")
    mine.refresh_from_db()
    assert mine.state == SpecState.PROPOSED


@pytest.mark.parametrize("role", ["viewer", "engineer"])
def test_only_curators_decide(role, proposal, request):
    who = request.getfixturevalue(role)
    with pytest.raises(Forbidden, match="curator or lead"):
        approve(proposal, who, "yes")


def test_a_viewer_proposes_nothing(x1, note, viewer):
    with pytest.raises(Forbidden, match="engineer"):
        propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), viewer, "why not")
    assert not Spec.objects.filter(state=SpecState.PROPOSED).exists()


def test_the_second_of_two_curators_is_told_who_was_first(proposal, curator, second_curator):
    stale = Spec.objects.get(pk=proposal.pk)
    approve(proposal, curator, "yes")
    with pytest.raises(Conflict, match="approved by cora in the meantime"):
        give_back(stale, second_curator, "no")
    assert [c.action for c in stale.changes.all()] == ["approved", "proposed"]


def test_a_returned_value_goes_back_and_forth(proposal, curator, engineer):
    give_back(proposal, curator, "which sheet?")
    resubmit(proposal, engineer, "the newest")
    approve(proposal, curator)
    assert [c.action for c in proposal.changes.all()][::-1] == [
        "proposed",
        "returned",
        "proposed",
        "approved",
    ]


def test_a_return_needs_a_reason(proposal, curator):
    with pytest.raises(CurationError, match=r"^why: a reason"):
        give_back(proposal, curator, "  ")


def test_a_replacement_retires_what_it_replaces(x1, note, engineer, curator):
    old = old_bandwidth()
    new = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), engineer, "newer", replaces=old)
    approve(new, curator, "yes")
    old.refresh_from_db()
    assert old.state == SpecState.RETIRED
    assert old.changes.first().after == "4.9 TB/s"


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (facts("4.9 TB/s", qualifiers={"clock": "base"}), 5),
        (facts("5.1 GiB", metric="memory_capacity"), 6),
    ],
)
def test_it_replaces_no_answer_to_another_question(x1, note, curator, other, line):
    old = old_bandwidth()
    quote = note.quoted(line, line)
    row = NewSpec(other, x1, note, line, line, quote, SpecState.PROPOSED, "", replaces=old)
    (new,) = store_specs([row], None)
    with pytest.raises(CurationError, match=r"4\.8 TB/s answers another question; accepted"):
        approve(new, curator, "yes")
    old.refresh_from_db()
    assert (old.state, old.rank) == (SpecState.APPROVED, Rank.PREFERRED)


def test_a_replacement_of_the_preferred_value_leaves_a_preferred_one(x1, note, engineer, curator):
    beside = propose(x1, facts("5.1 TB/s", rank=Rank.NORMAL), CitedLines(note, 6, 6), engineer, "b")
    approve(beside, curator)
    low = facts("4.9 TB/s", rank=Rank.NORMAL)
    new = propose(x1, low, CitedLines(note, 5, 5), engineer, "newer", replaces=old_bandwidth())
    with pytest.raises(CurationError, match="no value of memory_bandwidth would be preferred"):
        approve(new, curator, "yes")
    assert old_bandwidth().state == SpecState.APPROVED


def test_a_first_value_has_to_be_preferred_and_answers_the_unknown(x1, wiki, engineer, curator):
    take_files({"docs/c.md": "# C\n\nIt has 4096 cores.\n"}, ImportOptions(origin="c"))
    place = CitedLines(Document.objects.get(path="docs/c.md").latest, 3, 3)
    plain = facts("4096", metric="cuda_cores", rank=Rank.NORMAL)
    with pytest.raises(CurationError, match="accepted: rank preferred"):
        approve(propose(x1, plain, place, engineer, "counted"), curator)
    best = facts("4096", metric="cuda_cores")
    approve(propose(x1, best, place, engineer, "counted"), curator)
    assert Spec.objects.get(metric="cuda_cores", shown="UNKNOWN").state == SpecState.RETIRED


def test_retiring_the_preferred_value_names_its_successor(proposal, curator, second_curator):
    approve(proposal, curator)
    with pytest.raises(CurationError, match=r"^successor: .*accepted: 4.8 TB/s"):
        retire(proposal, second_curator, "wrong")
    proposal.refresh_from_db()
    assert proposal.state == SpecState.APPROVED
    retire(proposal, second_curator, "wrong", successor=old_bandwidth())
    assert Spec.objects.preferred().get(metric="memory_bandwidth").shown == "4.8 TB/s"


def test_a_retired_value_comes_back_only_through_a_review(proposal, curator, second_curator):
    approve(proposal, curator)
    retire(proposal, second_curator, "doubt", successor=old_bandwidth())
    with pytest.raises(Conflict, match="restore it as a proposal first"):
        approve(proposal, second_curator)
    restore(proposal, curator, "it was right")
    with pytest.raises(Forbidden):
        approve(proposal, curator)
    approve(proposal, second_curator)
    assert Spec.objects.preferred().get(metric="memory_bandwidth") == proposal


def test_a_preferred_value_is_exchanged_never_lost(proposal, curator, second_curator):
    approve(proposal, curator)
    with pytest.raises(CurationError, match="exactly one"):
        set_rank(proposal, Rank.NORMAL, second_curator, "tidy")
    set_rank(old_bandwidth(), Rank.PREFERRED, second_curator, "the sheet says so")
    proposal.refresh_from_db()
    assert proposal.rank == Rank.NORMAL


def test_the_value_has_to_stand_in_the_lines(x1, note, engineer):
    with pytest.raises(CurationError, match=r"^lines: '4.9 TB/s' does not stand"):
        propose(x1, facts("4.9 TB/s"), CitedLines(note, 6, 6), engineer, "?")
    with pytest.raises(CurationError, match=r"accepted: L1 to L6"):
        propose(x1, facts("4.9 TB/s"), CitedLines(note, 6, 7), engineer, "?")
    assert not Spec.objects.filter(state=SpecState.PROPOSED).exists()


def test_a_changed_value_on_the_same_lines_waits_for_an_answer(x1, note, engineer, curator):
    first = propose(x1, facts("4.8 TB/s"), CitedLines(note, 6, 6), engineer, "read")
    approve(first, curator)
    second = propose(
        x1, facts("5.1 TB/s"), CitedLines(note, 6, 6), engineer, "reread", replaces=first
    )
    flag = Flag.objects.open().get(spec=second)
    assert flag.kind == "same_citation"
    with pytest.raises(Conflict, match="flag 'value changed, citation kept' is open"):
        approve(second, curator)
    explain(flag, FlagAnswer.MISREAD, engineer, "the line names both")
    approve(second, curator)
    assert (flag.answer, flag.answered_by) == ("misread", engineer)


def test_an_open_answer_is_given_once(x1, note, engineer, curator, second_curator):
    first = propose(x1, facts("4.8 TB/s"), CitedLines(note, 6, 6), engineer, "read")
    approve(first, curator)
    second = propose(
        x1, facts("5.1 TB/s"), CitedLines(note, 6, 6), engineer, "reread", replaces=first
    )
    flag, stale = second.flags.get(), second.flags.get()
    explain(flag, FlagAnswer.MISREAD, curator, "both stand there")
    with pytest.raises(Conflict, match="answered by cora"):
        explain(stale, FlagAnswer.TYPO_FIX, second_curator, "no")
    with pytest.raises(Immutable):
        stale.save()


def test_a_withdrawn_document_is_no_source(x1, note, proposal, engineer, curator):
    Document.objects.filter(pk=note.document_id).update(withdrawn_at=timezone.now())
    note = Revision.objects.get(pk=note.pk)
    with pytest.raises(CurationError, match=r"^document: docs/notes.md was withdrawn"):
        propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), engineer, "again")
    with pytest.raises(Conflict, match=r"docs/notes.md was withdrawn"):
        approve(Spec.objects.get(pk=proposal.pk), curator)


def test_nobody_makes_an_own_value_preferred_by_retiring_another(x1, note, curator, second_curator):
    plain = facts("4.9 TB/s", rank=Rank.NORMAL)
    mine = propose(x1, plain, CitedLines(note, 5, 5), curator, "measured")
    approve(mine, second_curator)
    with pytest.raises(Forbidden, match="you proposed this value"):
        retire(old_bandwidth(), curator, "wrong", successor=mine)
    assert Spec.objects.preferred().get(metric="memory_bandwidth") == old_bandwidth()


def test_the_only_value_does_not_lose_its_preference(wiki, curator):
    for rank in (Rank.NORMAL, Rank.DEPRECATED):
        with pytest.raises(CurationError, match="exactly one"):
            set_rank(old_bandwidth(), rank, curator, "doubt")


def test_a_deprecated_value_says_why_in_its_line(proposal, curator, second_curator):
    approve(proposal, curator)
    set_rank(old_bandwidth(), Rank.DEPRECATED, second_curator, "of another | part")
    assert old_bandwidth().note == "of another / part"


def test_an_unknown_takes_the_place_of_no_value(x1, wiki, engineer, curator):
    take_files({"docs/u.md": "# U\n\nUNKNOWN to us.\n"}, ImportOptions(origin="u"))
    place = CitedLines(Document.objects.get(path="docs/u.md").latest, 3, 3)
    unknown = facts("UNKNOWN", note="ask them", rank=Rank.NORMAL)
    spec = propose(x1, unknown, place, engineer, "nobody says")
    with pytest.raises(Conflict, match="has an answer"):
        approve(spec, curator)


@pytest.mark.parametrize(
    ("shown", "metric"), [("5.1 TiB/s", "memory_bandwidth"), ("5.1 GB", "memory_capacity")]
)
def test_the_lines_have_to_give_the_same_unit(x1, note, engineer, shown, metric):
    with pytest.raises(CurationError, match=r"^lines: they say '5.1 "):
        propose(x1, facts(shown, metric=metric), CitedLines(note, 6, 6), engineer, "?")


@pytest.mark.parametrize(
    "columns", [{"value": 9e9}, {"shown": "9 GB/s"}, {"qualifiers": {"cache": "warm"}}]
)
def test_the_database_refuses_another_value_under_the_same_spec(wiki, columns):
    with pytest.raises(DatabaseError), transaction.atomic():
        Spec.objects.filter(pk=old_bandwidth().pk).update(**columns)


def test_who_brought_a_value_in_stays_its_author_when_somebody_restores_it(
    x1, note, curator, engineer
):
    mine = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), curator, "measured")
    retire(mine, curator, "later")
    restore(mine, engineer, "now")
    with pytest.raises(Forbidden, match="you proposed this value"):
        approve(mine, curator)
