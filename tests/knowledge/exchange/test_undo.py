"""An import is taken back as one, by new rows, and never from under somebody's feet."""

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, restore, retire
from knowledge.exchange.batches import confirm, undo
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Batch, Document, Flag, Platform, Revision, Spec, SpecChange
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP, UNKNOWN_CORES, X1, facts

pytestmark = pytest.mark.django_db

FASTER = BANDWIDTH.replace("4.8", "4.9")


def records():
    """What lookups and pages rest on: approved values with their lines, and texts."""
    specs = {
        (s.metric, s.shown, s.rank, str(s.citation), s.citation.quote)
        for s in Spec.objects.approved().for_sheet()
    }
    texts = {d.path: d.latest.text for d in Document.objects.filter(withdrawn_at=None)}
    return specs, texts, {p.slug: p.target for p in Platform.objects.all()}


@pytest.fixture
def team(wiki, engineer, third_curator):
    """Plan an import of these files; a curator confirms it."""

    def make(files, name="wiki", *, whole=False):
        batch = plan_import(WikiFiles(name, files, whole=whole), engineer)
        confirm(batch, third_curator)
        return batch

    return make


@pytest.fixture
def changed(team, page_text):
    """Line 15 says another bandwidth, the cores are gone, and there is a new document."""
    notes = f"# N\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n- l2_size: 50 MiB | {SOURCE}\n"
    return team({X1: page_text("", FASTER, TDP), "docs/n.md": notes})


def test_it_puts_everything_back_and_keeps_the_history(wiki, changed, curator, engineer):
    before = Revision.objects.get(document__path=X1, number=1)
    rows = (Revision.objects.count(), Spec.objects.count(), SpecChange.objects.count())
    assert Flag.objects.open().count() == 2
    undo(changed, curator, "wrong sheet")
    document = Document.objects.get(path=X1)
    assert [r.number for r in document.revisions.all()] == [1, 2, 3]
    assert (document.latest.sha256, document.latest.author) == (before.sha256, curator)
    assert Document.objects.get(path="docs/n.md").withdrawn_at is not None
    assert not Flag.objects.open().exists()
    flag = Flag.objects.filter(spec__metric="memory_bandwidth").get()
    assert (flag.answer, flag.answered_by) == ("withdrawn", curator)
    assert flag.get_answer_display() == "the change was taken back"
    assert "wrong sheet" in flag.why
    assert {s.state for s in Spec.objects.filter(proposed_by=engineer)} == {"retired"}
    old = Spec.objects.get(shown="4.8 TB/s")
    assert (old.state, old.citation.first_line) == ("approved", 15)
    assert old.citation.revision == document.latest
    assert (changed.state, changed.undone_by, changed.why) == ("undone", curator, "wrong sheet")
    now = (Revision.objects.count(), Spec.objects.count(), SpecChange.objects.count())
    assert now > rows
    assert now[1] == rows[1]


def test_it_leaves_the_approved_values_as_they_were(wiki, engineer, curator, page_text):
    before = records()
    batch = plan_import(WikiFiles("wiki", {
        X1: page_text(TDP, FASTER).replace("sm_1", "sm_2"),
        "x.json": '[{"platform": "x-1", "metric": "tdp", "value": 710, "unit": "W",'
        ' "evidence_class": "documented", "source": "s"}]',
    }, whole=False), engineer)  # fmt: skip
    confirm(batch, curator)
    assert records() != before
    undo(batch, curator, "no")
    assert records() == before


def test_it_lets_the_same_folder_come_in_again(wiki, team, curator, page_text):
    record = '[{"platform": "x-1", "metric": "tdp", "value": 710, "unit": "W",'
    files = {
        X1: page_text(TDP, FASTER),
        "x.json": f'{record} "evidence_class": "documented", "source": "s"}}]',
    }
    undo(team(files), curator, "no")
    team(files)
    again = Spec.objects.filter(state="proposed").values_list("shown", flat=True)
    assert sorted(again) == ["4.9 TB/s", "710 W"]


def test_it_brings_withdrawn_documents_back(wiki, team, curator):
    before = records()
    batch = team({"README.md": (wiki / "README.md").read_text()}, whole=True)
    assert Flag.objects.open().count() == 3
    undo(batch, curator, "forgot half of it")
    assert records() == before
    assert not Flag.objects.open().exists()


def test_it_withdraws_again_what_an_import_had_brought_back(wiki, team, curator, engineer):
    batch = team({"a.md": "# A\n"})
    undo(batch, curator, "no")
    again = team({"a.md": "# A\n"})
    assert Document.objects.get(path="a.md").withdrawn_at is None
    undo(again, curator, "no again")
    assert Document.objects.get(path="a.md").withdrawn_at is not None


def test_it_reverses_what_a_command_had_approved(wiki, curator, page_text):
    before = records()
    sheet = page_text(TDP.replace("700", "650")).replace("x-1", "y-1")
    sheet = sheet.replace("aliases: Maker X 1; X1", "aliases: Y")
    files = {X1: page_text(FASTER, TDP, UNKNOWN_CORES), "docs/y.md": sheet}
    batch, summary = take_at_once(WikiFiles("wiki", files, whole=False), vouched=True)
    assert (summary.specs_added, summary.specs_retired) == (2, 1)
    undo(batch, curator, "no")
    specs, texts, platforms = records()
    assert (specs, texts) == before[:2]
    assert Spec.objects.get(shown="4.8 TB/s").changes.first().action == "restored"
    assert {s.state for s in Spec.objects.filter(platform__slug="y-1")} == {"retired"}
    # A platform that was introduced stays, without a value: its retired ones speak of it.
    assert platforms == before[2] | {"y-1": "sm_1"}


def test_it_is_not_held_up_by_later_imports_of_other_things(changed, team, curator):
    team({"docs/other.md": "# O\n"}, name="others")
    undo(changed, curator, "no")
    assert Document.objects.get(path="docs/other.md").withdrawn_at is None


def test_it_also_takes_back_an_approval_that_replaced_nothing(changed, curator):
    approve(Spec.objects.get(metric="l2_size"), curator)
    undo(changed, curator, "no")
    assert Spec.objects.get(metric="l2_size").state == "retired"


def refused(batch, by, match):
    before = (Revision.objects.count(), SpecChange.objects.count(), Flag.objects.open().count())
    with pytest.raises(Conflict, match=match):
        undo(batch, by, "no")
    now = (Revision.objects.count(), SpecChange.objects.count(), Flag.objects.open().count())
    assert now == before
    assert Batch.objects.get(pk=batch.pk).state == "confirmed"


def test_it_refuses_when_its_document_was_revised_since(changed, team, curator, page_text):
    later = team({X1: page_text("", FASTER, TDP, "")})
    refused(changed, curator, f"built upon since: {X1} has revision 3 by enzo")
    undo(later, curator, "no")
    undo(changed, curator, "now it can")


def test_it_refuses_when_a_value_of_it_replaced_another(changed, curator):
    approve(Spec.objects.get(shown="4.9 TB/s"), curator)
    refused(changed, curator, r"4.9 TB/s was approved by cora in place of 4.8 TB/s")


def test_it_refuses_when_a_value_rests_on_its_text(changed, curator, x1):
    newest = Document.objects.get(path="docs/n.md").latest
    other = facts("50 MiB", metric="infinity_cache")
    spec = propose(x1, other, CitedLines(newest, 9, 9), curator, "the same line")
    refused(changed, curator, r"docs/n.md:L9 of x-1 was cited by hand")
    retire(spec, curator, "mistaken")
    undo(changed, curator, "no")


def test_it_refuses_when_a_value_of_it_was_replaced(changed, curator, second_curator, x1):
    mine = Spec.objects.get(metric="l2_size")
    approve(mine, curator)
    take_files({"o.md": "# O\n\n60 MiB\n"}, ImportOptions(origin="o"))
    place = CitedLines(Document.objects.get(path="o.md").latest, 3, 3)
    propose(x1, facts("60 MiB", metric="l2_size"), place, second_curator, "newer", mine)
    refused(changed, curator, r"x-1 l2_size: 60 MiB replaces 50 MiB")


def test_it_refuses_when_what_it_retired_was_judged_since(wiki, curator, engineer, page_text):
    files = {X1: page_text(FASTER, TDP, UNKNOWN_CORES)}
    batch, _ = take_at_once(WikiFiles("wiki", files, whole=False), vouched=True)
    old = Spec.objects.get(shown="4.8 TB/s")
    restore(old, engineer, "maybe it was right")
    retire(Spec.objects.get(pk=old.pk), curator, "no: it is wrong")
    refused(batch, curator, "4.8 TB/s.* was retired by cora")
    assert Spec.objects.get(pk=old.pk).state == "retired"


def test_it_needs_a_curator_and_a_reason(changed, engineer, curator):
    with pytest.raises(Forbidden):
        undo(changed, engineer, "no")
    with pytest.raises(CurationError, match="a reason is needed"):
        undo(changed, curator, " ")


def test_it_is_undone_once(changed, curator, second_curator):
    late = Batch.objects.get(pk=changed.pk)
    undo(changed, curator, "no")
    revisions = Revision.objects.count()
    with pytest.raises(Conflict, match="undone by cora in the meantime"):
        undo(late, second_curator, "no")
    assert Revision.objects.count() == revisions


def test_it_undoes_no_plan(wiki, engineer, curator):
    batch = plan_import(WikiFiles("team", {"a.md": "# A\n"}), engineer)
    with pytest.raises(Conflict, match="only a confirmed import"):
        undo(batch, curator, "no")
