"""An export imports again to the same records, whatever people did by hand."""

import io
import re

import pytest
from django.core.files import File
from django.db import connection

from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, retire, set_rank
from knowledge.curation.revise import store_text
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import (
    SHIPPED,
    ImportOptions,
    import_wiki,
    take_files,
    write_measured_document,
)
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import ImportRefused, WikiFiles, read_uploads, write_archive
from knowledge.exchange.writers.export import ExportRefused, export_files, export_folder
from knowledge.exchange.writers.exported_rows import write_kept
from knowledge.lookup.value import find
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
from knowledge.models.document import text_hash
from knowledge.specs.facts import Rank
from tests.knowledge.conftest import BANDWIDTH, TDP, X1, facts

DEEPEST_FIRST = (Waiver, Flag, SpecChange, Citation, Spec, Revision, Document, Batch, Platform)


def export_texts():
    return dict(export_files())


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
def empty_database(db):
    """Everything of the wiki away, past what keeps it; only a test may."""
    return empty_wiki


def empty_wiki():
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = 'replica'")
            triggers = []
        else:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        cursor.execute("UPDATE knowledge_spec SET replaces_id = NULL")
        for model in DEEPEST_FIRST:
            cursor.execute(f"DELETE FROM {model._meta.db_table}")
        for _, sql in triggers:
            cursor.execute(sql)
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = 'origin'")


def round_trip(empty):
    files = export_texts()
    before = records()
    empty()
    assert not Spec.objects.exists()
    packed = io.BytesIO(write_archive(files.items()))
    take_at_once(read_uploads([File(packed, "export.zip")]))
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
    take_files({"docs/notes.md": "# Notes\n\nat 4.9 TB/s\n"}, ImportOptions(origin="notes"))
    note = Document.objects.get(path="docs/notes.md").latest
    prose = propose(
        h200, facts("4.9 TB/s", rank=Rank.NORMAL), CitedLines(note, 3, 3), curator, "measured"
    )
    approve(prose, second_curator)
    set_rank(prose, Rank.PREFERRED, second_curator, "newer")
    Waiver.objects.create(spec=prose, constraint="duplicate", reason="known", by=curator)
    propose(
        h200, facts("5 TB/s"), CitedLines(_stored("docs/five.md", "5 TB/s"), 3, 3), curator, "?"
    )
    retire(Spec.objects.approved().get(platform=h200, metric="tdp"), curator, "doubtful")
    text = Document.objects.get(path="docs/hardware/h200-sxm.md").latest.text
    changed = text.replace("- memory_capacity: 141 GB", "- memory_capacity: 142 GB")
    assert changed != text
    take_files({"docs/hardware/h200-sxm.md": changed}, ImportOptions(by=curator, whole=False))
    gone = Spec.objects.approved().filter(platform__slug="t4").first().citation.revision.document
    files = {d.path: d.latest.text for d in Document.objects.filter(origin="shipped")}
    take_files({p: t for p, t in files.items() if p != gone.path}, ImportOptions(by=curator))


def _stored(path, line):
    take_files({path: f"# Five\n\n{line}\n"}, ImportOptions(origin=path))
    return Document.objects.get(path=path).latest


def test_it_says_nothing_of_what_the_documents_say(wiki):
    assert export_texts()["specs.json"] == (
        '{"kopt_wiki": 2, "part": 1,\n"documents": [\n'
        '{"path": "README.md", "origin": "wiki"},\n'
        f'{{"path": "{X1}", "origin": "wiki"}}\n],\n"more": false}}\n'
    )


def test_it_keeps_every_byte(wiki, empty_database):
    take_files({"docs/crlf.md": "# C\r\n\r\nlast — line"}, ImportOptions(origin="c"))
    before, files = round_trip(empty_database)
    assert files["docs/crlf.md"] == "# C\r\n\r\nlast — line"
    assert records() == before


def test_it_writes_an_index_where_there_is_none(db):
    take_files({"docs/a.md": "# A b\n"}, ImportOptions(origin="c"))
    assert "- [A b](docs/a.md)" in export_texts()["README.md"]


def test_it_exports_the_same_bytes_again(wiki):
    assert write_archive(export_files()) == write_archive(export_files())


def test_it_believes_nothing_when_a_person_brings_it(wiki, engineer, curator, empty_database):
    prose = _stored("docs/p.md", "720 W")
    other = propose(
        Platform.objects.get(), facts("720 W", metric="tdp"), CitedLines(prose, 3, 3), engineer, "x"
    )
    approve(other, curator)
    files = export_texts()
    empty_database()
    take_files(files, ImportOptions(origin="team", by=engineer))
    assert {s.state for s in Spec.objects.all()} == {"proposed"}
    assert Spec.objects.filter(proposed_by=engineer, shown="720 W", rank="preferred").exists()


def test_it_keeps_exceptions_as_those_of_nobody_here(wiki, engineer, curator, empty_database):
    spec = Spec.objects.get(metric="tdp")
    Waiver.objects.create(spec=spec, constraint="range", reason="big", by=curator)
    files = export_texts()
    empty_database()
    summary = take_files(files, ImportOptions(origin="team"))
    waiver = Waiver.objects.get()
    assert (waiver.by, waiver.who, waiver.spec.metric) == (None, "cora, imported", "tdp")
    assert re.fullmatch(r"imported: cora on .* UTC: big", waiver.reason)
    assert [str(told.fate) for told in summary.told] == ["resolved"]
    assert export_texts() == files


def test_it_says_which_record_no_longer_holds(wiki, engineer, curator, empty_database):
    prose = _stored("docs/p.md", "720 W")
    stated = facts("720 W", metric="tdp", rank=Rank.NORMAL)
    approve(
        propose(Platform.objects.get(), stated, CitedLines(prose, 3, 3), engineer, "x"), curator
    )
    files = export_texts()
    line = next(n for n, t in enumerate(files["specs.json"].splitlines(), 1) if "720 W" in t)
    empty_database()
    summary = take_files(files | {"docs/p.md": "# P\n\n730 W\n"}, ImportOptions(origin="team"))
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
    take_files(files, ImportOptions(origin="wiki", by=curator, whole=False))
    assert Flag.objects.open().count() == 2
    before, _ = round_trip(empty_database)
    assert records() == before
    assert Flag.objects.open().count() == 2


def test_it_can_be_brought_in_again_without_a_change(wiki, empty_database):
    _, files = round_trip(empty_database)
    assert take_at_once(WikiFiles("export", files))[1].changed is False
    assert import_wiki(wiki).new_revisions == 0


def kept_earlier(path, text="# T\n\nhello\n", sha256=None):
    sha256 = sha256 or text_hash(text)
    return dict(write_kept([("earlier", {"path": path, "sha256": sha256, "text": text})]))


OUTSIDE = ["../../x.md", "/tmp/x.md", "", "..", "a\nb.md", "x.txt", "x" * 198 + ".md"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_it_takes_no_earlier_text_of_a_path_that_is_no_document(wiki, path):
    with pytest.raises(ImportRefused, match=r"^specs.json:L3: \$.earlier\[0\].path: "):
        take_at_once(WikiFiles("evil", kept_earlier(path), whole=False))
    assert Document.objects.count() == 2


def test_it_takes_no_earlier_text_with_the_hash_of_another(wiki):
    with pytest.raises(ImportRefused, match=r"L3: \$.earlier\[0\].sha256: accepted: the hash"):
        take_at_once(WikiFiles("evil", kept_earlier("docs/a.md", sha256="ab" * 32), whole=False))


def test_it_stores_no_earlier_text_that_a_person_brings(wiki, engineer):
    files = kept_earlier("docs/a.md")
    plan = plan_import(WikiFiles("evil", files, whole=False), engineer).plan
    assert [(t["text"], t["fate"]) for t in plan["told"]] == [("docs/a.md", "left out")]
    assert (
        take_files(files, ImportOptions(origin="evil", by=engineer, whole=False)).changed is False
    )
    assert not Document.objects.filter(path="docs/a.md").exists()
    take_at_once(WikiFiles("mine", files, whole=False))
    assert Document.objects.get(path="docs/a.md").latest.text == "# T\n\nhello\n"


@pytest.mark.parametrize("path", ["../x.md", "/tmp/kopt-x.md", ""])
def test_it_writes_nothing_outside_of_its_folder(wiki, tmp_path, path):
    store_text(path, "Evil", "# Evil\n", origin="evil", by=None)
    with pytest.raises(ExportRefused, match="accepted are relative paths"):
        export_folder(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "x.md").exists()
    with pytest.raises(ImportRefused, match="accepted are relative paths"):
        write_archive([(path, "# Evil\n")])


MEASURED = "docs/measured/x-1.md"


def measured(figure):
    line = f"copy_bandwidth: {figure} TB/s | evidence=measured | kind=measured | rank=preferred"
    head = "# M\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n"
    return f"{head}- {line} | source=here\n"


@pytest.fixture
def backup(wiki):
    """An export of a wiki with shipped documents, one of which was measured here since."""
    Document.objects.update(origin="shipped")
    files = {d.path: d.latest.text for d in Document.objects.all()}
    take_files(files | {MEASURED: measured("4.0")}, ImportOptions(whole=False))
    take_files({"docs/notes.md": "# N\n"}, ImportOptions(origin="team"))
    write_measured_document(MEASURED, measured("4.1"))
    return export_texts()


def origins():
    return dict(Document.objects.filter(withdrawn_at=None).values_list("path", "origin"))


def test_a_restored_measurement_stays_before_the_shipped_wiki(backup, empty_database):
    before = origins()
    assert set(before.values()) == {"shipped", "measured", "team"}
    empty_database()
    take_at_once(WikiFiles("backup", backup))
    assert origins() == before
    shipped = {path: text for path, text in backup.items() if before.get(path) == "shipped"}
    shipped[MEASURED] = measured("4.0")
    assert take_at_once(WikiFiles("shipped", shipped))[0] is None
    assert find(Platform.objects.get(), "copy_bandwidth").shown == "4.1 TB/s"
    assert not Flag.objects.open().exists()
    assert export_texts() == backup
    # The folder that brought a document may bring it again.
    take_files({"docs/notes.md": "# N 2\n"}, ImportOptions(origin="team", whole=False))


def test_nothing_becomes_an_own_document_beside_own_documents(backup, wiki, empty_database):
    shipped = {path: backup[path] for path in ("README.md", X1)}
    empty_database()
    take_files(shipped, ImportOptions())
    take_at_once(WikiFiles("backup", backup))
    assert origins() == dict.fromkeys(shipped, "shipped") | {
        MEASURED: "backup", "docs/notes.md": "team",
    }  # fmt: skip
    empty_database()
    take_files(shipped | {MEASURED: measured("4.0")}, ImportOptions())
    with pytest.raises(ImportRefused, match=r"belongs to 'shipped'; .*a backup is restored into"):
        take_at_once(WikiFiles("backup", backup))


def test_no_person_says_whose_a_document_is(backup, engineer, empty_database):
    empty_database()
    take_files(backup, ImportOptions(origin="mine", by=engineer))
    assert set(origins().values()) == {"mine"}
