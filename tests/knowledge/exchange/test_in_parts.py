"""An import of many files goes on in parts: as the whole would be, and after a crash from there."""

import pytest

from knowledge.exchange import in_parts
from knowledge.exchange.batches import confirm
from knowledge.exchange.in_parts import begin_import, begin_plan, ring_for_imports, work_on
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import ImportRefused, WikiFiles
from knowledge.models import Batch, Document, Platform, Spec
from tests.knowledge.conftest import BANDWIDTH, PLATFORM, TDP

pytestmark = [pytest.mark.django_db, pytest.mark.storage]

NAMES = [f"docs/team/{n}.md" for n in range(8)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(in_parts, "PART", 3)
    monkeypatch.setattr(in_parts, "PAUSE_S", 0.0)


@pytest.fixture(autouse=True)
def rung(monkeypatch):
    """The imports that a task was asked to go on with; there is no queue."""
    keys = []
    monkeypatch.setattr(in_parts, "_ring", keys.append)
    return keys


def sheet(number, line=BANDWIDTH):
    # The platform is described in the last document alone, and all speak of it.
    platform = PLATFORM if number == 7 else "## Platform\n\n- platform: x-1\n"
    return f"# Sheet {number}\n\n{platform}\n## Specs\n\n{line}\n"


@pytest.fixture
def files():
    return {name: sheet(number) for number, name in enumerate(NAMES)} | {"docs/n.md": "# N\n"}


def planned(files, by, **options):
    batch = begin_plan(WikiFiles("team", files, **options), by)
    work_on(batch.pk)
    batch.refresh_from_db()
    return batch


def comparable(plan):
    rows = {row["path"]: row for row in plan["documents"]}
    # What one plan holds against the constraints has more of the same in it.
    for row in rows.values():
        row["specs"] = [spec["text"] for spec in row["specs"]]
    return plan | {"documents": rows}


def test_it_plans_what_the_whole_plan_says(files, engineer):
    whole = plan_import(WikiFiles("team", files, ("a.png",)), engineer)
    batch = planned(files, engineer, left_out=("a.png",))
    assert batch.state == "planned"
    assert comparable(batch.plan) == comparable(whole.plan)
    assert (Document.objects.count(), Platform.objects.count()) == (0, 0)


def test_it_does_what_the_whole_import_does(files, engineer, curator):
    begun = planned(files, engineer)
    begin_import(begun, curator)
    begun.refresh_from_db()
    assert begun.state == "taking"
    told = []
    work_on(begun.pk, lambda done, of: told.append((done, of)))
    begun.refresh_from_db()
    assert told == [(3, 9), (6, 9), (9, 9)]
    assert (begun.state, begun.files, begun.progress) == ("confirmed", {}, {})
    assert begun.plan["done"] == begun.plan["counts"]
    assert set(Spec.objects.values_list("state", "proposed_by__username")) == {("proposed", "enzo")}
    assert Document.objects.count() == 9


def test_it_withdraws_what_the_folder_no_longer_has(files, engineer, curator):
    confirm(plan_import(WikiFiles("team", files), engineer), curator)
    fewer = {name: files[name] for name in (*NAMES[2:], "docs/n.md")}
    batch = planned(fewer, engineer)
    outcomes = {row["path"]: row["outcome"] for row in batch.plan["documents"]}
    gone = {path for path, outcome in outcomes.items() if outcome == "withdrawn"}
    assert gone == set(NAMES[:2])
    begin_import(batch, curator)
    work_on(batch.pk)
    withdrawn = Document.objects.exclude(withdrawn_at=None).values_list("path", flat=True)
    assert sorted(withdrawn) == NAMES[:2]


class Killed(Exception):
    pass


def fail_at_the_third_part(monkeypatch, error):
    real, parts = in_parts.take_documents, []

    def take(part, *rest):
        parts.append(part)
        if len(parts) == 3:
            raise error
        return real(part, *rest)

    monkeypatch.setattr(in_parts, "take_documents", take)


def test_it_goes_on_from_where_it_was_killed(files, engineer, curator, monkeypatch, rung):
    batch = planned(files, engineer)
    begin_import(batch, curator)
    with monkeypatch.context() as patch:
        fail_at_the_third_part(patch, Killed())
        with pytest.raises(Killed):
            work_on(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.progress["done"], Document.objects.count()) == ("taking", 6, 6)
    assert not Spec.objects.approved().exists()
    work_on(batch.pk)
    assert Document.objects.count() == 6, "whoever holds it may still be alive"
    rung.clear()
    ring_for_imports()
    assert rung == []
    monkeypatch.setattr(in_parts, "LEASE_S", -1.0)
    ring_for_imports()
    assert rung == [batch.pk]
    work_on(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.plan["done"]) == ("confirmed", batch.plan["counts"])
    assert [document.revisions.count() for document in Document.objects.all()] == [1] * 9


def test_who_lost_it_to_another_process_stores_no_more(files, engineer, curator):
    batch = planned(files, engineer)
    begin_import(batch, curator)

    def taken_over(done, of):
        Batch.objects.filter(pk=batch.pk).update(heartbeat_at=None)

    work_on(batch.pk, taken_over)
    assert Document.objects.count() == 3


def test_what_cannot_be_completed_is_taken_back(files, engineer, curator, monkeypatch):
    batch = planned(files, engineer)
    begin_import(batch, curator)
    fail_at_the_third_part(monkeypatch, ImportRefused("docs/team/6.md: no"))
    work_on(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.why) == ("undone", "it could not be completed: docs/team/6.md: no")
    assert not Document.objects.filter(withdrawn_at=None).exists()
    assert set(Spec.objects.values_list("state", flat=True)) == {"retired"}


def test_a_refused_file_is_told_and_the_rest_planned(files, engineer):
    broken = files | {NAMES[4]: sheet(4, TDP.replace("rank=preferred", "rank=best"))}
    batch = planned(broken, engineer)
    outcomes = {row["path"]: row["outcome"] for row in batch.plan["documents"]}
    assert [path for path, outcome in outcomes.items() if outcome == "refused"] == [NAMES[4]]
    assert len(outcomes) == 9


def test_one_that_was_dropped_is_planned_no_further(files, engineer):
    batch = begin_plan(WikiFiles("team", files), engineer)

    def drop_it(done, of):
        Batch.objects.filter(pk=batch.pk).update(state="dropped", files={})

    work_on(batch.pk, drop_it)
    batch.refresh_from_db()
    assert (batch.state, "documents" in batch.plan) == ("dropped", False)
