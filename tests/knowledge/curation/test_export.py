"""An export imports again to the same approved records, whatever people did by hand."""

import io

import pytest

from knowledge.archive import Brought, read_archive, write_archive
from knowledge.curation.confirm import take_at_once
from knowledge.curation.export import ExportRefused, export_folder, export_texts
from knowledge.curation.propose import Place, propose
from knowledge.curation.review import approve, retire, set_rank
from knowledge.importer import SHIPPED, Intake, import_wiki, take_files
from knowledge.models import (
    Batch,
    Citation,
    Document,
    Flag,
    Platform,
    Revision,
    Spec,
    SpecChange,
    Waiver,
)
from knowledge.specs.facts import Rank
from tests.knowledge.conftest import BANDWIDTH, TDP
from tests.knowledge.curation.conftest import X1, facts

DEEPEST_FIRST = (Waiver, Flag, SpecChange, Citation, Spec, Revision, Document, Batch, Platform)


def approved():
    found = (
        (
            s.platform.slug, s.metric, s.value, s.unit, s.shown, sorted(s.qualifiers.items()),
            s.rank, s.evidence, s.source_kind, s.source, s.source_url, s.note,
            str(s.citation), s.citation.quote,
        )
        for s in Spec.objects.approved().for_sheet()
    )  # fmt: skip
    return sorted(found, key=str)


def records():
    documents = Document.objects.filter(withdrawn_at=None)
    flags = Flag.objects.open().values_list("spec__metric", "kind", "first_line")
    proposed = Spec.objects.filter(state="proposed").values_list("metric", "shown", "rank")
    return {
        "approved": approved(),
        "texts": {d.path: d.latest.text for d in documents},
        "flags": sorted(flags, key=str),
        "proposed": sorted(proposed),
        "platforms": list(Platform.objects.order_by("slug").values("slug", "name", "target")),
    }


@pytest.fixture
def empty_database(django_db_blocker):
    """Everything of the wiki away, past what keeps it; only a test may."""
    from django.db import connection

    def empty():
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = cursor.fetchall()
            for name, _ in triggers:
                cursor.execute(f"DROP TRIGGER {name}")
            cursor.execute("UPDATE knowledge_spec SET replaces_id = NULL")
            for model in DEEPEST_FIRST:
                cursor.execute(f"DELETE FROM {model._meta.db_table}")
            for _, sql in triggers:
                cursor.execute(sql)

    if connection.vendor != "sqlite":
        pytest.skip("empties the tables in the way of SQLite")
    return empty


def round_trip(empty):
    files = export_texts()
    before = records()
    empty()
    assert not Spec.objects.exists()
    packed = io.BytesIO(write_archive(files))
    take_at_once(read_archive("export", packed))
    return before, files


def test_it_brings_the_shipped_wiki_back_with_what_people_did(
    shipped, curator, second_curator, empty_database
):
    by_hand(curator, second_curator)
    before, files = round_trip(empty_database)
    assert records() == before
    assert len(before["approved"]) > 300
    for path, text in files.items():
        if path != "specs.json" and (SHIPPED / path).exists():
            assert text.encode() == (SHIPPED / path).read_bytes() or path in EDITED
    assert export_texts() == files


EDITED = {"docs/hardware/h200-sxm.md"}


def by_hand(curator, second_curator):
    """A value on prose, an exchanged rank, a retired line, a changed line, a withdrawn document."""
    h200 = Platform.objects.get(slug="h200-sxm")
    take_files({"docs/notes.md": "# Notes\n\nat 4.9 TB/s\n"}, Intake(origin="notes"))
    note = Document.objects.get(path="docs/notes.md").latest
    prose = propose(
        h200, facts("4.9 TB/s", rank=Rank.NORMAL), Place(note, 3, 3), curator, "measured"
    )
    approve(prose, second_curator)
    set_rank(prose, Rank.PREFERRED, second_curator, "newer")
    Waiver.objects.create(spec=prose, constraint="duplicate", reason="known", by=curator)
    propose(h200, facts("5 TB/s"), Place(_stored("docs/five.md", "5 TB/s"), 3, 3), curator, "?")
    retire(Spec.objects.approved().get(platform=h200, metric="tdp"), curator, "doubtful")
    text = Document.objects.get(path="docs/hardware/h200-sxm.md").latest.text
    changed = text.replace("- memory_capacity: 141 GB", "- memory_capacity: 142 GB")
    assert changed != text
    take_files(
        {"docs/hardware/h200-sxm.md": changed}, Intake(origin="edit", by=curator, whole=False)
    )
    gone = Spec.objects.approved().filter(platform__slug="t4").first().citation.revision.document
    files = {d.path: d.latest.text for d in Document.objects.filter(origin="shipped")}
    take_files({p: t for p, t in files.items() if p != gone.path}, Intake(by=curator))


def _stored(path, line):
    take_files({path: f"# Five\n\n{line}\n"}, Intake(origin=path))
    return Document.objects.get(path=path).latest


def test_it_says_nothing_of_what_the_documents_say(wiki):
    assert export_texts()["specs.json"] == (
        '{"kopt_wiki": 1,\n"platforms": [],\n"earlier": [],\n"specs": []}\n'
    )


def test_it_keeps_every_byte(wiki, empty_database):
    take_files({"docs/crlf.md": "# C\r\n\r\nlast — line"}, Intake(origin="c"))
    before, files = round_trip(empty_database)
    assert files["docs/crlf.md"] == "# C\r\n\r\nlast — line"
    assert records() == before


def test_it_writes_an_index_where_there_is_none(db):
    take_files({"docs/a.md": "# A b\n"}, Intake(origin="c"))
    assert "- [A b](docs/a.md)" in export_texts()["README.md"]


def test_it_exports_the_same_bytes_again(wiki):
    assert write_archive(export_texts()) == write_archive(export_texts())


def test_it_believes_nothing_when_a_person_brings_it(wiki, engineer, curator, empty_database):
    prose = _stored("docs/p.md", "720 W")
    other = propose(
        Platform.objects.get(), facts("720 W", metric="tdp"), Place(prose, 3, 3), engineer, "x"
    )
    approve(other, curator)
    files = export_texts()
    empty_database()
    take_files(files, Intake(origin="team", by=engineer))
    assert {s.state for s in Spec.objects.all()} == {"proposed"}
    assert Spec.objects.filter(proposed_by=engineer, shown="720 W", rank="preferred").exists()


def test_it_leaves_exceptions_to_a_user_of_that_name(wiki, engineer, curator, empty_database):
    spec = Spec.objects.get(metric="tdp")
    Waiver.objects.create(spec=spec, constraint="range", reason="big", by=curator)
    files = export_texts()
    empty_database()
    summary = take_files(files, Intake(origin="team"))
    waiver = Waiver.objects.get()
    assert (waiver.by, waiver.reason, waiver.spec.metric) == (curator, "big", "tdp")
    assert [str(told.fate) for told in summary.told] == ["resolved"]
    empty_database()
    stranger = files | {"specs.json": files["specs.json"].replace("cora", "zoe")}
    summary = take_files(stranger, Intake(origin="team"))
    assert "no such user here" in summary.told[-1].why
    assert not Waiver.objects.exists()


def test_it_says_which_record_no_longer_holds(wiki, engineer, curator, empty_database):
    prose = _stored("docs/p.md", "720 W")
    stated = facts("720 W", metric="tdp", rank=Rank.NORMAL)
    approve(propose(Platform.objects.get(), stated, Place(prose, 3, 3), engineer, "x"), curator)
    files = export_texts()
    line = next(n for n, t in enumerate(files["specs.json"].splitlines(), 1) if "720 W" in t)
    empty_database()
    summary = take_files(files | {"docs/p.md": "# P\n\n730 W\n"}, Intake(origin="team"))
    lost = [told for told in summary.told if told.fate == "unresolved"]
    assert [(told.file, told.line) for told in lost] == [("specs.json", line)]
    assert not Spec.objects.filter(shown="720 W").exists()


def test_it_writes_a_folder_and_over_its_own_export(wiki, tmp_path):
    out = tmp_path / "a" / "export"
    assert export_folder(out) == 3
    (out / "docs" / "old.md").write_text("# Old\n")
    assert export_folder(out) == 3
    assert sorted(p.name for p in out.rglob("*") if p.is_file()) == [
        "README.md", "specs.json", "x-1.md",
    ]  # fmt: skip
    assert (out / X1).read_bytes() == (wiki / X1).read_bytes()


@pytest.mark.parametrize(
    ("name", "text"), [("a.md", "# A\n"), ("specs.json", "[]"), ("photo.png", "")]
)
def test_it_writes_over_nothing_else(wiki, tmp_path, name, text):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(text)
    with pytest.raises(ExportRefused, match="accepted: an empty folder"):
        export_folder(tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == [name]


def test_it_exports_changed_and_moved_lines_too(wiki, curator, page_text, empty_database):
    files = {X1: page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP)}
    take_files(files, Intake(origin="edit", by=curator, whole=False))
    assert Flag.objects.open().count() == 2
    before, _ = round_trip(empty_database)
    assert records() == before
    assert Flag.objects.open().count() == 2


def test_it_can_be_brought_in_again_without_a_change(wiki, empty_database):
    _, files = round_trip(empty_database)
    assert take_at_once(Brought("export", files))[1].changed is False
    assert import_wiki(wiki).new_revisions == 0
