"""The rows follow the wiki: added, changed, withdrawn, found, and nobody takes ours (R42)."""

import pytest
from django.core.management import call_command

from knowledge.exchange.batches import undo
from knowledge.exchange.check import check_wiki
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import SHIPPED, ImportOptions, import_wiki, take_files
from knowledge.exchange.readers.files import TAKEN, ImportRefused, WikiFiles, read_folder
from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.attempts.standing import resolve_names
from knowledge.experience.catalogue.listing import record_of, tallies
from knowledge.experience.catalogue.read import read_catalogue
from knowledge.experience.catalogue.store import stored_catalogue
from knowledge.experience.terms import AttemptLabel
from knowledge.experience.wording import GainSpread
from knowledge.models import (
    Document,
    Experience,
    ExperienceOrigin,
    SearchRow,
    Strategy,
    TrackRecord,
)
from tests.knowledge.experience.catalogue.test_read import HEAD, ROW, TEXT

pytestmark = pytest.mark.django_db
CUDA = "docs/backends/cuda.md"
OURS = ImportOptions()


def of_folder(text: str) -> None:
    take_files({"docs/theirs.md": text}, ImportOptions(origin="theirs"))


def attempt(strategy: str, gain: float, **more: object) -> NewExperience:
    fields = {
        "strategy": strategy,
        "label": AttemptLabel.SUCCESS if gain > 0.05 else AttemptLabel.TIE,
        "origin": ExperienceOrigin.IMPORTED,
        "op": "softmax",
        "backend": "cuda",
        "platform": "h200-sxm",
        "gain": gain,
    }
    return NewExperience(**(fields | more))  # type: ignore[arg-type]


def test_r42_an_import_brings_every_row_of_the_guides(shipped):
    assert {each.slug: each for each in stored_catalogue()} == read_catalogue(
        read_folder(SHIPPED)
    ).strategies
    assert SearchRow.objects.filter(kind="strategy").count() == Strategy.objects.count() > 180
    row = Strategy.objects.get(slug="cu.vec128")
    line = Document.objects.get(path=row.document).latest.quoted(row.line, row.line)
    assert line.startswith("| `cu.vec128` |")


def test_r42_the_command_fills_an_installation_that_has_the_documents_already(shipped):
    Strategy.objects.all().delete()
    call_command("wiki", "import")
    assert Strategy.objects.filter(withdrawn=False).count() > 180


def test_r42_a_row_that_is_gone_is_withdrawn_and_comes_back(shipped):
    files = read_folder(SHIPPED, TAKEN)
    less = "\n".join(line for line in files[CUDA].split("\n") if "`cu.lut` |" not in line)
    take_files(files | {CUDA: less.replace("shared or constant", "constant")}, OURS)
    row = Strategy.objects.get(slug="cu.lut")
    assert row.withdrawn
    assert not SearchRow.objects.filter(kind="strategy", key="cu.lut").exists()
    import_wiki()
    row.refresh_from_db()
    assert not row.withdrawn
    assert SearchRow.objects.filter(kind="strategy", key="cu.lut").exists()


def test_r42_a_broken_row_refuses_the_import_as_a_whole(shipped):
    files = read_folder(SHIPPED, TAKEN)
    broken = files[CUDA].replace("| `cu.fuse` | memory |", "| `cu.fuse` | memroy |")
    with pytest.raises(ImportRefused, match=rf"{CUDA}:L\d+: cu.fuse: for: 'memroy'; accepted"):
        take_files(files | {CUDA: broken}, OURS)
    assert Strategy.objects.get(slug="cu.fuse").limits == ["memory"]
    assert Document.objects.get(path=CUDA).latest.text == files[CUDA]


def test_r42_another_folder_adds_rows_and_cannot_take_ours(shipped):
    of_folder(TEXT)
    assert Strategy.objects.get(slug="x.pad").document == "docs/theirs.md"
    with pytest.raises(ImportRefused, match=r"docs/theirs.md:L7: id cu.fuse stands in .*cuda.md:L"):
        of_folder(TEXT.replace("x.pad", "cu.fuse"))
    assert Strategy.objects.get(slug="cu.fuse").document == CUDA


def test_r42_an_id_stays_with_the_document_that_was_brought_first(shipped):
    of_folder(TEXT)
    with pytest.raises(ImportRefused, match=r"id x.pad stands in docs/theirs.md:L7 already"):
        take_files({"a/first_by_name.md": TEXT}, ImportOptions(origin="others"))
    assert Strategy.objects.get(slug="x.pad").document == "docs/theirs.md"


def test_r42_an_import_that_is_undone_takes_its_rows_with_it(shipped):
    batch, _ = take_at_once(WikiFiles("theirs", {"docs/theirs.md": TEXT}), vouched=False)
    assert not Strategy.objects.get(slug="x.pad").withdrawn
    undo(batch, None, "not ours")
    assert Strategy.objects.get(slug="x.pad").withdrawn


def test_r42_the_check_names_a_broken_row_and_an_unknown_id(shipped, tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir()
    text = f"# G\n\n{HEAD}{ROW.replace('memory,', 'memroy,')}\nSee `cu.nothing`.\n"
    (folder / "g.md").write_text(text)
    found = [(f.place, f.message[:20]) for f in check_wiki(folder) if f.state == "catalogue"]
    assert found == [("g.md:L5", "x.pad: for: 'memroy'"), ("g.md:L7", "`cu.nothing` is no s")]


def test_r42_experience_goes_to_a_strategy_whose_name_becomes_known(db):
    made = record_attempts([attempt("r.pad", 0.1), attempt("r.pad", 0.0), attempt("r.other", 0.2)])
    (known,) = record_attempts([attempt("x.pad", 0.3)])
    keys = {entry.params_key for entry in made}
    of_folder(f"{TEXT}\n| recipe | catalogue |\n|---|---|\n| `r.pad` | `x.pad` |\n")
    assert resolve_names() == 2
    track = TrackRecord.objects.get(strategy="x.pad")
    assert (track.pk, track.tried, track.worked) == (known.track_id, 3, 2)
    assert not TrackRecord.objects.filter(strategy="r.pad").exists()
    assert Experience.objects.filter(strategy_name="r.pad", track=track).count() == 2
    assert Experience.objects.get(pk=made[0].pk).params_key not in keys
    shown = SearchRow.objects.filter(facets__strategy="x.pad").values_list("kind", flat=True)
    assert sorted(shown) == ["entry", "entry", "entry", "strategy", "track"]
    assert not SearchRow.objects.filter(facets__strategy="r.pad").exists()
    assert resolve_names() == 0


def test_r42_a_record_adds_up_contexts_and_predictions(db, django_assert_num_queries):
    predicted = {"expected_gain": 0.1, "borne": "confirmed"}
    record_attempts(
        [
            attempt("x.pad", 0.1, **predicted),
            attempt("x.pad", 0.2, **predicted, op="layernorm"),
            attempt("x.pad", 0.0, op="layernorm", expected_gain=0.1, borne="refuted"),
            attempt("x.pad", -0.1, masked=True, **predicted),
            attempt("x.pad", 0.4, platform="a10", borne="undecided", expected_gain=0.1),
        ]
    )
    with django_assert_num_queries(3):
        found = record_of("x.pad")
    assert (found.total.tried, found.total.worked) == (4, 3)
    assert found.total.gain == GainSpread(3, 0.1, 0.0, 0.4)
    first, *_ = found.places
    assert (first[:2], first[2].tried) == (("h200-sxm", "layernorm"), 2)
    calibration = found.calibration
    assert (calibration.n, calibration.confirmed, calibration.decided) == (4, 2, 3)
    assert calibration.ratio == pytest.approx(1.0)
    with django_assert_num_queries(1):
        assert tallies(["x.pad", "none"]) == {"x.pad": found.total}
