"""Of two people who act at the same moment one wins, and the other is told who was first."""

import threading

import pytest
from django.db import connection

from knowledge.curation import turn as turns
from knowledge.curation.errors import Conflict
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, retire, set_rank
from knowledge.curation.turn import turn
from knowledge.exchange.batches import confirm, undo
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import import_wiki
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Batch, Document, Platform, Revision, Spec, SpecChange
from knowledge.specs.facts import Rank
from tests.knowledge.conftest import BANDWIDTH, TDP, X1, facts
from tests.knowledge.racing import at_once, several_connections, slow

__all__ = ["several_connections"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.storage,
    pytest.mark.usefixtures("several_connections"),
]


def again(row):
    """As another person's request reads it."""
    return type(row).objects.get(pk=row.pk)


def one_won(found, *, told):
    """Exactly one step was done; the other one was told this."""
    (refused,) = [each for each in found if isinstance(each, Exception)]
    assert isinstance(refused, Conflict), repr(refused)
    assert told in str(refused)


def test_two_curators_decide_on_one_proposal(proposal, curator, second_curator, monkeypatch):
    mine, yours = again(proposal), again(proposal)
    with slow(monkeypatch, "knowledge.curation.review.require_second_person"):
        found = at_once(
            lambda: approve(mine, curator, "yes"), lambda: retire(yours, second_curator, "no")
        )
    one_won(found, told="in the meantime")
    assert proposal.changes.count() == 2


def test_two_curators_approve_two_rivals(proposal, x1, note, curator, second_curator, monkeypatch):
    rival = propose(x1, facts("4.8 TB/s"), CitedLines(note, 6, 6), proposal.proposed_by, "?")
    with slow(monkeypatch, "knowledge.curation.review._make_room"):
        found = at_once(
            lambda: approve(again(proposal), curator, "yes"),
            lambda: approve(again(rival), second_curator, "yes"),
        )
    one_won(found, told="in the meantime and is preferred; look again")
    preferred = Spec.objects.preferred().get(metric="memory_bandwidth")
    assert preferred == next(each for each in found if isinstance(each, Spec))
    assert SpecChange.objects.filter(action="approved", spec__in=[proposal, rival]).count() == 1


def test_one_prefers_what_another_retires(proposal, curator, second_curator, monkeypatch):
    approve(proposal, curator)
    old = Spec.objects.get(shown="4.8 TB/s")
    now = again(proposal)
    with slow(monkeypatch, "knowledge.curation.review.require_second_person"):
        found = at_once(
            lambda: set_rank(again(old), Rank.PREFERRED, second_curator, "the sheet"),
            lambda: retire(now, second_curator, "wrong", successor=Spec.objects.get(pk=old.pk)),
        )
    one_won(found, told="by carl in the meantime")
    assert Spec.objects.preferred().get(metric="memory_bandwidth") == old


def test_an_import_comes_between_a_review(proposal, wiki, curator, monkeypatch):
    """Whoever comes second sees what the first one did: no approved value has an open flag."""
    mine = again(proposal)
    text = Document.objects.get(path="docs/notes.md").latest.text.replace("4.9", "5.9")
    with slow(monkeypatch, "knowledge.curation.review._require_sound"):
        reviewed, _ = at_once(
            lambda: approve(mine, curator, "yes"),
            lambda: take_at_once(WikiFiles("notes", {"docs/notes.md": text})),
        )
    proposal.refresh_from_db()
    flag = proposal.flags.get()
    if isinstance(reviewed, Exception):
        assert isinstance(reviewed, Conflict), repr(reviewed)
        assert proposal.state == "proposed"
    else:
        last = [change.action for change in proposal.changes.all()][:2]
        assert (proposal.state, last) == ("approved", ["flagged", "approved"])
    assert flag.answered_at is None


def test_an_import_comes_between_a_proposal(note, x1, engineer, monkeypatch):
    text = note.text.replace("bandwidth 4.9", "bandwidth 5.9")
    with slow(monkeypatch, "knowledge.curation.propose.proof"):
        proposed, _ = at_once(
            lambda: propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), engineer, "read"),
            lambda: take_at_once(WikiFiles("notes", {"docs/notes.md": text})),
        )
    if isinstance(proposed, Exception):
        assert "is not the newest text" in str(proposed)
        assert not Spec.objects.filter(shown="4.9 TB/s").exists()
    else:
        assert proposed.flags.get().kind == "changed"


def test_one_plan_is_confirmed_once(wiki, engineer, curator, second_curator, monkeypatch):
    batch = plan_import(WikiFiles("team", {"docs/n.md": "# N\n"}), engineer)
    mine, yours = again(batch), again(batch)
    with slow(monkeypatch, "knowledge.exchange.batches.require_may_decide"):
        found = at_once(lambda: confirm(mine, curator), lambda: confirm(yours, second_curator))
    one_won(found, told="was confirmed by c")
    assert Revision.objects.filter(batch=batch).count() == 1


def test_two_plans_of_one_new_document_are_not_both_confirmed(
    wiki, engineer, curator, second_curator, monkeypatch
):
    plans = [
        plan_import(WikiFiles("team", {"docs/n.md": text}, whole=False), engineer)
        for text in ("# N\n", "# M\n")
    ]
    with slow(monkeypatch, "knowledge.exchange.confirm.bases"):
        found = at_once(
            lambda: confirm(again(plans[0]), curator),
            lambda: confirm(again(plans[1]), second_curator),
        )
    one_won(found, told="docs/n.md changed since this plan was made")
    assert Document.objects.get(path="docs/n.md").revisions.count() == 1
    assert sorted(Batch.objects.values_list("state", flat=True)) == ["confirmed", "planned"]


def test_two_imports_of_one_new_document(wiki, monkeypatch):
    with slow(monkeypatch, "knowledge.exchange.confirm.bases"):
        found = at_once(
            lambda: take_at_once(WikiFiles("team", {"docs/n.md": "# N\n"})),
            lambda: take_at_once(WikiFiles("team", {"docs/n.md": "# N\n"})),
        )
    assert not [each for each in found if isinstance(each, Exception)], found
    assert sorted(summary.new_revisions for _, summary in found) == [0, 1]
    assert Document.objects.get(path="docs/n.md").revisions.count() == 1


def test_two_platforms_want_one_driver_name(wiki, page_text, monkeypatch):
    def sheet(slug):
        text = page_text(TDP).replace("x-1", slug).replace("X 1; X1", "Y")
        return {f"docs/{slug}.md": text}

    with slow(monkeypatch, "knowledge.exchange.take_documents.platform_columns"):
        found = at_once(
            lambda: take_at_once(WikiFiles("team", sheet("y-1"), whole=False)),
            lambda: take_at_once(WikiFiles("other", sheet("y-2"), whole=False)),
        )
    (refused,) = [each for each in found if isinstance(each, Exception)]
    assert "drivers report 'Maker Y' of y-" in str(refused)
    assert Platform.objects.filter(slug__startswith="y-").count() == 1


def test_an_import_is_undone_once(wiki, curator, second_curator, monkeypatch):
    batch, _ = take_at_once(WikiFiles("team", {"docs/n.md": "# N\n"}))
    mine, yours = again(batch), again(batch)
    with slow(monkeypatch, "knowledge.exchange.confirm._decided_since"):
        found = at_once(
            lambda: undo(mine, curator, "no"), lambda: undo(yours, second_curator, "no")
        )
    one_won(found, told="was undone by c")


def test_who_only_reads_does_not_wait(wiki, page_text):
    inside, done = threading.Event(), threading.Event()

    def write():
        with turn():
            import_wiki(wiki)
            inside.set()
            return done.wait(20)

    def read():
        inside.wait(20)
        try:
            return Spec.objects.approved().count()
        finally:
            done.set()

    (wiki / X1).write_text(page_text(BANDWIDTH.replace("4.8", "4.9"), TDP))
    assert at_once(write, read) == [True, 3]


def test_whose_turn_does_not_come_is_told_so(wiki, monkeypatch):
    monkeypatch.setattr(turns, "WAIT_S", 1)
    inside, done = threading.Event(), threading.Event()

    def hold():
        with turn():
            inside.set()
            return done.wait(20)

    def wait():
        inside.wait(20)
        try:
            if connection.vendor == "sqlite":
                with connection.cursor() as cursor:
                    cursor.execute("PRAGMA busy_timeout = 1000")
            with turn():
                return None
        finally:
            done.set()

    held, told = at_once(hold, wait)
    assert held is True
    assert isinstance(told, Conflict)
    assert "try again" in str(told)


def test_turns_nest_and_fall_together(wiki):
    def fail():
        with turn():
            with turn():
                Document.objects.update(title="x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not Document.objects.filter(title="x").exists()
