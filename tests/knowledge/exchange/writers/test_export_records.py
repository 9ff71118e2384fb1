"""An export brings every record back: states, ranks, chains, flags, exceptions and history."""

import re
from datetime import UTC

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.curation.answer import explain, recite
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, give_back, restore, resubmit, retire, set_rank
from knowledge.curation.warn import warnings_of
from knowledge.exchange.batches import undo
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import ImportOptions, import_wiki, take_files
from knowledge.exchange.readers.files import ImportRefused, WikiFiles
from knowledge.exchange.writers import exported_rows as kept
from knowledge.exchange.writers.export import export_files, export_folder
from knowledge.lookup.needs import happenings
from knowledge.lookup.value import find
from knowledge.models import (
    Document,
    Flag,
    FlagAnswer,
    FlagKind,
    Platform,
    Spec,
    SpecChange,
    Waiver,
)
from knowledge.models.change import approved_at
from knowledge.specs.facts import Rank
from tests.knowledge.conftest import BANDWIDTH, PLATFORM, TDP, UNKNOWN_CORES, X1, facts, person
from tests.knowledge.exchange.writers.test_export import empty_wiki

pytestmark = pytest.mark.django_db

NOTES = "docs/notes.md"
PROSE = ["4.9 TB/s", "5.1 TB/s", "4.8 TB/s", "4.9 TB/s and more"]
REFUSALS = (Forbidden, Conflict, CurationError, ImportRefused)


def export():
    return dict(export_files())


def bring(files):
    return take_at_once(WikiFiles("export", dict(files)))


def dump():
    """Every value with all that is known of it, and every text that something rests on."""
    return {
        "documents": {
            d.path: (d.title, d.withdrawn_at is not None, d.latest.text)
            for d in Document.objects.all()
        },
        "platforms": list(Platform.objects.order_by("slug").values("slug", "name", "aliases")),
        "specs": sorted(map(record, Spec.objects.all()), key=str),
    }


def record(spec):
    return {
        **identity(spec),
        "replaces": identity(spec.replaces) if spec.replaces else None,
        "quote": spec.citation.quote,
        "flags": [flag_record(flag) for flag in spec.flags.order_by("pk")],
        "waivers": [
            (w.constraint, elsewhere(w, "reason", w.reason), by(w.by, w), at(w, w.at))
            for w in spec.waivers.order_by("pk")
        ],
        "history": None if plain(spec) else [step(each) for each in spec.changes.order_by("pk")],
    }


def identity(spec):
    return {
        "value": (spec.platform.slug, spec.metric, spec.shown, spec.value, spec.unit),
        "stated": (spec.qualifiers, spec.evidence, spec.source, spec.source_kind, spec.source_url),
        "stands": (spec.state, spec.rank, spec.note),
        "cites": (str(spec.citation), spec.citation.revision.sha256),
        "brought": (by(spec.proposed_by, spec), None if plain(spec) else at(spec, spec.created_at)),
    }


def plain(spec):
    """What a document's own line brings back alone: nobody did anything to it."""
    changes = list(spec.changes.all())
    return (
        len(changes) == 1
        and changes[0].by is None
        and changes[0].action == "approved"
        and elsewhere(changes[0], "why", changes[0].why).startswith("imported (")
        and (spec.state, spec.proposed_by, spec.replaces) == ("approved", None, None)
        and not spec.flags.exists()
        and not spec.waivers.exists()
    )


def elsewhere(row, name, here):
    return (row.elsewhere or {}).get(name, here)


def by(person, row, name="by"):
    return person.username if person else elsewhere(row, name, "")


def at(row, here):
    return (row.elsewhere or {}).get("at") or iso(here)


def iso(moment):
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def step(change):
    why = elsewhere(change, "why", change.why)
    said = (change.action, change.state, change.rank, change.before, change.after)
    return (*said, by(change.by, change), why, at(change, change.at))


def flag_record(flag):
    answered_at = iso(flag.answered_at) if flag.answered_at else None
    return (
        flag.kind,
        flag.revision and (flag.revision.document.path, flag.revision.sha256),
        (flag.first_line, flag.last_line, flag.quote, flag.note),
        by(flag.raised_by, flag),
        at(flag, flag.raised_at),
        flag.answer,
        by(flag.answered_by, flag, "answered_by"),
        elsewhere(flag, "answered_at", answered_at),
        elsewhere(flag, "why", flag.why),
    )


class Team:
    """People who do anything to a small wiki, as numbers say."""

    def __init__(self):
        names = {"enzo": "engineer", "cora": "curator", "carl": "curator", "cyra": "curator"}
        have = User.objects.filter(username__in=names).count()
        self.people = (
            [person(name, role) for name, role in names.items()]
            if not have
            else list(User.objects.filter(username__in=names))
        )
        self.lines = [BANDWIDTH, TDP, UNKNOWN_CORES]
        self.prose = list(PROSE)
        self.take(None)

    def take(self, by):
        page = f"# X 1\n\n{PLATFORM}\n## Specs\n\n" + "\n".join(self.lines) + "\n"
        files = {"README.md": "# Index\n", X1: page}
        if self.prose:
            files[NOTES] = "# Notes\n\n" + "\n".join(self.prose) + "\n"
        take_files(files, ImportOptions(origin="team", by=by))

    def act(self, name, one, two):
        who = self.people[one % len(self.people)]
        specs = list(Spec.objects.order_by("pk"))
        spec = specs[two % len(specs)]
        try:
            with transaction.atomic():
                getattr(self, f"do_{name}")(who, spec, one, two)
        except REFUSALS:
            pass

    def do_propose(self, who, spec, one, two):
        notes = Document.objects.get(path=NOTES).latest
        lines = notes.text.splitlines()
        if not self.prose or "4" not in self.prose[one % len(self.prose)]:
            return
        number = 3 + one % len(self.prose)
        shown = " ".join(lines[number - 1].split()[:2])
        old = spec if two % 2 and spec.metric == "memory_bandwidth" else None
        rank = (Rank.PREFERRED, Rank.NORMAL)[one % 2]
        place = CitedLines(notes, number, min(number + one % 2, len(lines)))
        stated = facts(shown, rank=rank, source=f"sheet {one}")
        propose(spec.platform, stated, place, who, f"read “{one}”", old)

    def do_approve(self, who, spec, one, two):
        approve(spec, who, "" if one % 2 else "checked")

    def do_give_back(self, who, spec, one, two):
        give_back(spec, who, "which\nsheet?")

    def do_resubmit(self, who, spec, one, two):
        resubmit(spec, spec.proposed_by, "the newest")

    def do_retire(self, who, spec, one, two):
        peers = Spec.objects.approved().filter(metric=spec.metric).exclude(pk=spec.pk)
        retire(spec, who, "doubtful", peers.first() if spec.rank == Rank.PREFERRED else None)

    def do_restore(self, who, spec, one, two):
        restore(spec, who, "it was right")

    def do_rank(self, who, spec, one, two):
        set_rank(spec, list(Rank)[one % 3], who, "better known")

    def do_waive(self, who, spec, one, two):
        names = ("range", "duplicate")
        if not spec.waivers.filter(constraint=names[one % 2]).exists():
            Waiver.objects.create(spec=spec, constraint=names[one % 2], reason="known", by=who)

    def do_edit_line(self, who, spec, one, two):
        number = one % len(self.lines)
        line = self.lines[number]
        self.lines[number] = line.replace("4.8", "4.85") if "4.8 " in line else line.replace(
            "700", "710"
        )  # fmt: skip
        self.take(who if two % 2 else None)

    def do_edit_prose(self, who, spec, one, two):
        if one % 3 == 0:
            self.prose.insert(0, "more")
        elif one % 3 == 1 and self.prose:
            self.prose.pop(one % len(self.prose))
        else:
            self.prose = [] if self.prose else list(PROSE)
        self.take(who if two % 2 else None)

    def do_move(self, who, spec, one, two):
        self.lines.append(self.lines.pop(0))
        self.take(who if two % 2 else None)

    def do_recite(self, who, spec, one, two):
        flag = Flag.objects.open().order_by("pk").first()
        if flag is None:
            return
        if flag.kind == FlagKind.SAME_CITATION:
            explain(flag, FlagAnswer.MISREAD, who, "read again")
            return
        newest = Document.objects.get(path=NOTES).latest
        lines = newest.text.splitlines()
        number = next((n for n, t in enumerate(lines, 1) if flag.spec.shown in t), 1)
        recite(flag, CitedLines(newest, number, number), who, "stands here")


STEPS = [name.removeprefix("do_") for name in vars(Team) if name.startswith("do_")]
actions = st.tuples(st.sampled_from(STEPS), st.integers(0, 40), st.integers(0, 40))


@settings(max_examples=settings.default.max_examples // 5, deadline=None)
@given(st.lists(actions, min_size=4, max_size=25))
def test_it_brings_the_same_records_back_whatever_people_did(steps):
    with transaction.atomic():
        team = Team()
        for each in steps:
            team.act(*each)
        before, files = dump(), export()
        empty_wiki()
        bring(files)
        assert dump() == before
        assert export() == files
        changes, specs = SpecChange.objects.count(), Spec.objects.count()
        assert bring(files)[1].changed is False
        assert (SpecChange.objects.count(), Spec.objects.count()) == (changes, specs)
        transaction.set_rollback(True)


@pytest.fixture
def worked_on(db):
    """A wiki in which people proposed, approved, returned, retired, replaced and flagged."""
    team = Team()
    enzo, cora, carl, _ = team.people
    notes = CitedLines(Document.objects.get(path=NOTES).latest, 3, 3)
    x1 = Platform.objects.get()
    old = Spec.objects.get(metric="memory_bandwidth")
    new = propose(x1, facts("4.9 TB/s", note="by hand"), notes, enzo, "newer", old)
    approve(new, cora, "checked")
    other = CitedLines(notes.revision, 4, 4)
    back = propose(x1, facts("5.1 TB/s", rank=Rank.NORMAL), other, cora, "rival")
    give_back(back, carl, "which sheet?")
    propose(x1, facts("5.1 TB/s", rank=Rank.NORMAL), other, enzo, "rival again")
    Waiver.objects.create(spec=new, constraint="range", reason="known", by=carl)
    team.lines[1] = TDP.replace("700", "710")
    team.take(enzo)
    return team


def by_state():
    return {s.shown + " " + s.state for s in Spec.objects.all()}


STATES = {
    *("4.8 TB/s retired", "4.8 TB/s proposed", "4.9 TB/s approved"),
    *("5.1 TB/s returned", "5.1 TB/s proposed"),
    *("700 W approved", "710 W proposed", "UNKNOWN approved"),
}


def test_it_tells_what_happened_elsewhere_and_when(worked_on):
    assert by_state() == STATES
    files = export()
    empty_wiki()
    batch, summary = bring(files)
    assert by_state() == STATES
    assert summary.specs_brought_back == 2
    new = Spec.objects.get(shown="4.9 TB/s")
    said = [(c.by, c.who, c.why) for c in new.changes.order_by("pk")]
    assert [who for _, who, _ in said] == ["enzo, imported", "cora, imported"]
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"
    assert all(re.match(rf"imported: \w+ on {when}: ", why) for _, _, why in said), said
    assert (new.replaces.shown, new.replaces.state) == ("4.8 TB/s", "retired")
    flag = Flag.objects.open().get()
    assert (flag.kind, flag.raiser, flag.spec.shown) == ("changed", "enzo, imported", "700 W")
    # What others did elsewhere is no news of this place.
    assert happenings(50) == []
    undo(batch, None, "a try")
    assert {s.state for s in Spec.objects.all()} == {"retired"}


def test_no_name_in_a_file_is_a_user_here(worked_on):
    files = export()
    empty_wiki()
    bring(files)
    assert {s.proposed_by for s in Spec.objects.all()} == {None}
    assert {c.by for c in SpecChange.objects.all()} == {None}
    assert {(f.raised_by, f.answered_by) for f in Flag.objects.all()} == {(None, None)}
    assert {w.by for w in Waiver.objects.all()} == {None}
    assert Spec.objects.filter(elsewhere__by="enzo").exists()
    enzo, cora, _, _ = worked_on.people
    # Nothing that an author may, and nothing that an author may not.
    theirs = Spec.objects.get(shown="5.1 TB/s", state="returned")
    assert theirs.proposer == "cora, imported"
    with pytest.raises(Forbidden):
        resubmit(theirs, cora, "mine")
    with pytest.raises(Forbidden):
        retire(Spec.objects.get(shown="5.1 TB/s", state="proposed"), enzo, "mine")
    enzo.groups.set(cora.groups.all())
    approve(Spec.objects.get(shown="5.1 TB/s", state="proposed"), User.objects.get(pk=enzo.pk))


def test_vouching_for_a_text_approves_no_proposal_of_elsewhere(worked_on):
    files = export()
    empty_wiki()
    bring(files)
    take_files({NOTES: files[NOTES]}, ImportOptions(origin="export", vouched=True, whole=False))
    assert by_state() == STATES


def test_retired_and_returned_values_count_nowhere(worked_on):
    files = export()
    empty_wiki()
    before = timezone.now()
    bring(files)
    x1 = Platform.objects.get()
    assert find(x1, "memory_bandwidth").shown == "4.9 TB/s"
    assert [s.shown for s in Spec.objects.preferred().filter(metric="memory_bandwidth")] == [
        "4.9 TB/s"
    ]
    mine = Spec.objects.filter(shown="5.1 TB/s", state="proposed")
    told = [w.message for w in warnings_of(list(mine))[mine.get().pk]]
    assert not any("4.8" in message for message in told), told
    assert not approved_at(Spec.objects.all(), before).exists()


def test_a_person_brings_proposals_and_is_told_what_is_not_believed(worked_on):
    files = export()
    empty_wiki()
    enzo = worked_on.people[0]
    summary = take_files(files, ImportOptions(origin="theirs", by=enzo))
    assert {s.state for s in Spec.objects.all()} == {"proposed"}
    assert {s.proposed_by for s in Spec.objects.all()} == {enzo}
    assert not Waiver.objects.exists()
    assert {c.elsewhere for c in SpecChange.objects.all()} == {None}
    told = " ".join(t.why for t in summary.told if str(t.fate) == "left out")
    for words in ("2 steps of history", "the state approved", "that it replaces id",
                  "exception of 'range' by carl", "an earlier text"):  # fmt: skip
        assert words in told, words
    lost = {t.why for t in summary.told if str(t.fate) == "unresolved"}
    assert lost == {"the text it rests on is not stored here"}
    specs = Spec.objects.count()
    assert take_files(files, ImportOptions(origin="theirs", by=enzo)).changed is False
    assert Spec.objects.count() == specs


def test_it_refuses_a_second_preferred_answer(worked_on):
    files = export()
    empty_wiki()
    rival = f"# Other\n\n{PLATFORM}\n## Specs\n\n{BANDWIDTH}\n"
    take_files({"docs/other.md": rival}, ImportOptions(origin="other"))
    with pytest.raises(ImportRefused, match=r"^specs.json:L\d+: memory_bandwidth of x-1 has "):
        bring(files)
    assert set(Document.objects.values_list("path", flat=True)) == {"docs/other.md"}


def test_a_record_speaks_for_its_line_only_as_it_reads(db):
    team = Team()
    retire(Spec.objects.get(metric="tdp"), team.people[1], "doubtful")
    files = export()
    empty_wiki()
    changed = {X1: files[X1].replace("700 W", "720 W")}
    _, summary = bring(files | changed)
    lost = [(t.file, t.why) for t in summary.told if str(t.fate) == "unresolved"]
    assert lost == [("specs.json", "the quoted text does not stand there in the folder")]
    assert Spec.objects.get(metric="tdp").shown == "720 W"


def test_a_time_that_cannot_be_told_brings_no_value_back(db):
    team = Team()
    retire(Spec.objects.get(metric="tdp"), team.people[1], "doubtful")
    files = export()
    empty_wiki()
    early = re.sub(r'"at": "[^"]*"', '"at": "0001-01-01T00:00:00+14:00"', files["specs.json"])
    _, summary = bring(files | {"specs.json": early})
    assert [t.why[:14] for t in summary.told if str(t.fate) == "unresolved"] == ["$.specs[0].at:"]
    # Nor does its line, which the record speaks for.
    assert not Spec.objects.filter(metric="tdp").exists()


def test_what_does_not_fit_into_one_file_goes_on_in_others(worked_on, monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "PART_BYTES", 2000)
    export_folder(tmp_path / "export")
    assert len(list((tmp_path / "export").glob("specs*.json"))) > 2
    before, files = dump(), export()
    empty_wiki()
    import_wiki(tmp_path / "export")
    assert dump() == before
    assert export() == files
    empty_wiki()
    files.pop("specs-2.json")
    with pytest.raises(ImportRefused, match=r"specs-2\.json is missing"):
        bring(files)
