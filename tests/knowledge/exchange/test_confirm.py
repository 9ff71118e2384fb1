"""A confirmed plan does what it said, once, and only if nothing came between."""

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.exchange.batches import confirm, drop
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import import_wiki, write_measured_document
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Batch, Document, Platform, Revision, Spec
from tests.knowledge.conftest import BANDWIDTH, TDP, X1, person

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(wiki, engineer, page_text):
    files = {X1: page_text(BANDWIDTH.replace("4.8", "4.9"), TDP)}
    return plan_import(WikiFiles("wiki", files, whole=False), engineer)


@pytest.fixture
def own(wiki, engineer):
    """A plan of new documents, under a name that nobody else has used."""
    return plan_import(WikiFiles("team", {"docs/n.md": "# N\n"}), engineer)


def test_it_does_what_was_planned_in_the_name_of_its_author(batch, curator, engineer):
    planned = batch.plan["counts"]
    summary = confirm(batch, curator)
    assert {name: getattr(summary, name) for name in planned} == planned
    batch.refresh_from_db()
    assert (batch.state, batch.files, batch.plan["decided_by"]) == ("confirmed", {}, "cora")
    revision = batch.revisions.get()
    assert (revision.document.path, revision.author) == (X1, engineer)
    spec = Spec.objects.get(shown="4.9 TB/s")
    assert (spec.state, spec.proposed_by) == ("proposed", engineer)


def test_it_lets_its_author_confirm_but_no_other_engineer(own, engineer, viewer):
    for other in (person("eve", "engineer"), viewer):
        with pytest.raises(Forbidden):
            confirm(own, other)
        with pytest.raises(Forbidden):
            drop(own, other)
    assert confirm(own, engineer).new_revisions == 1


def test_it_leaves_a_new_description_of_a_platform_to_a_curator(wiki, engineer, curator, page_text):
    files = {X1: page_text(BANDWIDTH, TDP).replace("sm_1", "sm_2")}
    batch = plan_import(WikiFiles("wiki", files, whole=False), engineer)
    with pytest.raises(Forbidden, match=r"describes x-1 anew; .* a curator other than its author"):
        confirm(batch, engineer)
    confirm(batch, curator)
    assert Platform.objects.get().target == "sm_2"


def test_it_is_confirmed_or_dropped_once(batch, curator):
    late = Batch.objects.get(pk=batch.pk)
    confirm(batch, curator)
    for decide in (confirm, drop):
        with pytest.raises(Conflict, match=r"was confirmed by cora in the meantime"):
            decide(late, curator)
    assert Revision.objects.filter(batch=batch).count() == 1


def test_it_refuses_when_a_document_changed_since(batch, wiki, curator, page_text):
    (wiki / X1).write_text(page_text("", BANDWIDTH, TDP))
    import_wiki(wiki, vouched=True)
    with pytest.raises(Conflict, match=f"^{X1} changed since this plan was made"):
        confirm(batch, curator)
    batch.refresh_from_db()
    assert (batch.state, bool(batch.files)) == ("planned", True)


def test_it_refuses_when_a_new_document_was_stored_since(wiki, engineer):
    batch = plan_import(WikiFiles("team", {"x.json": "[]", "docs/n.md": "# N\n"}), engineer)
    take_at_once(WikiFiles("other", {"x.json": "{}"}))
    with pytest.raises(Conflict, match=r"^x.json.md changed since"):
        confirm(batch, engineer)


def test_it_refuses_a_plan_with_refused_files(wiki, engineer):
    batch = plan_import(WikiFiles("team", {"a b.md": "# A\n", "c.md": "# C\n"}), engineer)
    with pytest.raises(CurationError, match="some files are refused"):
        confirm(batch, engineer)
    assert not Document.objects.filter(path="c.md").exists()


def test_it_stores_nothing_when_the_import_fails_at_last(wiki, engineer, page_text):
    files = {"docs/y.md": page_text(TDP).replace("x-1", "y-1").replace("Maker X 1; X1", "Y")}
    later = {"docs/z.md": f"# Z\n\n## Platform\n\n- platform: y-1\n\n## Specs\n\n{TDP}\n"}
    take_at_once(WikiFiles("first", files))
    batch = plan_import(WikiFiles("team", later), engineer)
    Batch.objects.filter(pk=batch.pk).update(
        files={"docs/z.md": later["docs/z.md"].replace("y-1", "q-1")}
    )
    batch.refresh_from_db()
    with pytest.raises(CurationError, match="unknown platform 'q-1'"):
        confirm(batch, engineer)
    batch.refresh_from_db()
    assert batch.state == "planned"
    assert not Document.objects.filter(path="docs/z.md").exists()


def test_it_drops_the_files_and_keeps_the_plan(batch, engineer):
    drop(batch, engineer, "wrong folder")
    assert (batch.state, batch.files, batch.why) == ("dropped", {}, "wrong folder")
    assert batch.plan["documents"]


def test_it_remembers_no_import_that_changed_nothing(wiki):
    text = (wiki / X1).read_text()
    batch, summary = take_at_once(WikiFiles("team", {X1: text}))
    assert (batch, summary.changed) == (None, False)
    assert not Batch.objects.exists()


def test_it_remembers_no_import_that_only_met_an_own_measurement(wiki):
    path = "docs/measured/x-1.md"
    head = "# M\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n"
    own = "evidence=measured | kind=measured | rank=preferred | source=here"
    write_measured_document(path, f"{head}- copy_bandwidth: 4.1 TB/s | {own}\n")
    theirs = f"{head}- copy_bandwidth: 4.0 TB/s | {own}\n"
    for _ in range(2):
        batch, summary = take_at_once(WikiFiles("shipped", {path: theirs}, whole=False))
        assert (batch, summary.changed) == (None, False)
        assert [str(told.fate) for told in summary.told] == ["left out"]
