"""A trail comes in whole or not at all, once, and stays apart from what was measured here."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from campaigns.models import Campaign, Evaluation, ImportedCampaign, ImportedRound, Round, Verdict
from campaigns.reports.sheet import campaign_sheet
from campaigns.steps.lifecycle.import_trail import import_trail, plan_import
from campaigns.trails.exporters.archive import packed, trail_archive, trail_files, trail_name
from campaigns.trails.importers.claims import TrailRefused
from campaigns.trails.importers.trail import read_path, read_zip
from knowledge.models import Immutable
from tests.campaigns.sample import build_sample

TRAILS = Path(__file__).parent / "trails"
pytestmark = pytest.mark.django_db


def brought(name="atrex"):
    return import_trail(plan_import(read_path(TRAILS / name)))


def archive(files, folder="run"):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name, data in files.items():
            out.writestr(f"{folder}/{name}" if folder else name, data)
    return made.getvalue()


@pytest.mark.parametrize("name", ["atrex", "skill", "optimize", "kernel_opt"])
def test_it_stores_every_round_with_its_claims(name):
    planned = plan_import(read_path(TRAILS / name))
    campaign, is_new = import_trail(planned)
    assert is_new
    rows = list(ImportedRound.objects.filter(campaign=campaign))
    assert [row.ordinal for row in rows] == [*range(1, len(planned.claimed.rounds) + 1)]
    for row, one in zip(rows, planned.claimed.rounds, strict=True):
        for field in ("name", "number", "figure", "unit", "status", "kept", "masked", "amends"):
            assert getattr(row, field) == getattr(one, field)
        assert row.claims == [claim.stored for claim in one.claims]
        assert row.missing == [*one.missing]
    kept = campaign.files
    assert kept == planned.trail.files


def test_the_same_content_comes_in_once(tmp_path):
    first, _ = brought()
    planned = plan_import(read_zip("other.zip", archive(read_path(TRAILS / "atrex").files, "x")))
    assert planned.there == first
    again, is_new = import_trail(planned)
    assert (again.pk, is_new) == (first.pk, False)
    assert ImportedCampaign.objects.count() == 1
    assert ImportedRound.objects.count() == 4


def test_a_file_of_no_trail_is_not_recognised_by_its_own_name(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(TrailRefused, match=r"^x.json: not recognised; .* trail.json of kopt"):
        read_path(tmp_path / "x.json")


def test_nothing_stays_of_an_import_that_fails(monkeypatch):
    planned = plan_import(read_path(TRAILS / "atrex"))
    monkeypatch.setattr(ImportedRound.objects, "bulk_create", None)
    with pytest.raises(TypeError):
        import_trail(planned)
    assert not ImportedCampaign.objects.exists()
    assert not ImportedRound.objects.exists()


def test_claims_of_others_are_no_records_of_ours():
    before = [model.objects.count() for model in (Campaign, Round, Evaluation, Verdict)]
    brought("optimize")
    assert [m.objects.count() for m in (Campaign, Round, Evaluation, Verdict)] == before
    pointing = [
        field.model.__name__
        for model in (ImportedCampaign, ImportedRound)
        for field in model._meta.related_objects
    ]
    assert {*pointing} <= {"ImportedCampaign", "ImportedRound"}


@pytest.mark.storage
@pytest.mark.parametrize("model", [ImportedCampaign, ImportedRound])
def test_r45_an_import_is_sealed(model):
    brought()
    row = model.objects.first()
    row.name = "forged"
    with pytest.raises(Immutable):
        row.save()
    with pytest.raises(Immutable):
        row.delete()
    table = model._meta.db_table
    for statement in (f"UPDATE {table} SET name = 'x'", f"DELETE FROM {table}"):
        with pytest.raises(IntegrityError, match="a recorded row is never"), transaction.atomic():
            connection.cursor().execute(statement)


@pytest.mark.storage
def test_r45_a_complete_import_takes_no_more_rows():
    campaign, _ = brought()
    late = ImportedRound(campaign=campaign, ordinal=99, name="late", path="late.md", line=1)
    with pytest.raises(Immutable):
        late.save()
    with pytest.raises(IntegrityError, match="never added to"), transaction.atomic():
        super(ImportedRound, late).save_base(force_insert=True)


@pytest.fixture
def sample():
    return build_sample()


def test_our_own_trail_comes_back_number_by_number(sample):
    campaign, _ = import_trail(plan_import(read_zip("t.zip", trail_archive(sample))))
    sheet = campaign_sheet(sample, timezone.now())
    rows = list(campaign.rounds.all())
    assert (campaign.system, campaign.title) == ("kopt", sample.title)
    assert campaign.platform == sample.platform.slug
    assert campaign.stop_reason == sample.stop_sentence
    assert campaign.incumbent == f"round {sample.incumbent.round.number}"
    assert [row.number for row in rows] == [row.number for row in sheet.rows]
    for row, ours in zip(rows, sheet.rows, strict=True):
        claims = {claim["field"]: claim["value"] for claim in row.claims}
        stored = ours.round.hypothesis
        assert row.figure == ours.time_us
        assert row.status == ours.word
        assert row.masked is False
        assert row.title == stored.get("title", "").strip()
        verdict = Verdict.objects.get(round=ours.round)
        for name in ("reason", "sentence", "gain", "gain_low", "gain_high", "pairs"):
            want = getattr(verdict, name)
            assert claims.get(f"verdict.{name}") == (None if want == "" else want), name
        for index, case in enumerate(verdict.cases):
            for name in ("median", "low", "high", "n"):
                want = (case.get("time_us") or {}).get(name)
                assert claims.get(f"verdict.cases[{index}].time_us.{name}") == want
        for name, want in stored.items():
            if isinstance(want, (str, float, int)) and want != "":
                assert claims[f"hypothesis.{name}"] == want, name
        chosen = ours.round.chosen or verdict.evaluation.candidate
        assert campaign.files[row.kernel] == chosen.text
        assert claims["candidate.sha256"] == chosen.digest
        commit = getattr(ours.round, "commit", None)
        assert claims.get("commit") == (commit.sha if commit else None)


def test_it_goes_out_again_as_the_same_bytes(sample):
    first = trail_archive(sample)
    campaign, _ = import_trail(plan_import(read_zip("t.zip", first)))
    files = campaign.files
    assert campaign.name == trail_name(sample)
    assert packed(campaign.name, files) == first


def test_the_record_says_what_the_other_formats_say(sample):
    files = trail_files(sample)
    rounds = json.loads(files["trail.json"])["rounds"]
    assert len(rounds) == 10
    for one in rounds:
        version = json.loads(files[f"memory/v{one['number'] - 1}.json"])
        assert version["performance"]["latency_us"] == one["candidate_us"]
        assert version["git_commit_hash"] == one["commit"]
        kept = version["quality_gate"]["result"] == "PASS"
        assert kept is (one["verdict"]["word"] == "accepted")
        assert files[one["candidate"]["file"]]
    assert str(sample.seed) not in files["trail.json"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (('"kopt_trail": 1', '"kopt_trail": 9'), r"trail\.json:L\d+: kopt_trail: 9; accepted: 1"),
        (('"word": "rejected"', '"word": "great"'), r"L\d+: verdict\.word: 'great'; accepted: "),
        (("kernel_snapshot/kernel.cu", "kernel_snapshot/no.cu"), "accepted: a file of this trail"),
    ],
)
def test_a_record_of_ours_that_was_tampered_with_is_refused(sample, edit, said):
    files = dict(trail_files(sample))
    assert edit[0] in files["trail.json"]
    files["trail.json"] = files["trail.json"].replace(*edit, 1)
    with pytest.raises(TrailRefused, match=said):
        plan_import(read_zip("t.zip", packed("t", files)))


@pytest.mark.parametrize("name", ["../../etc/cron.d/x.md", "/etc/x.md", "a\\b.md", "C:x.md"])
def test_no_path_leads_out_of_the_archive(name):
    files = {**read_path(TRAILS / "kernel_opt").files, name: "x"}
    with pytest.raises(TrailRefused, match="accepted are relative paths"):
        read_zip("t.zip", archive(files, folder=""))


def test_links_pickles_and_libraries_are_not_read(tmp_path):
    files = {**read_path(TRAILS / "kernel_opt").files, "a/state.pkl": b"\x80", "a/k.so": b"\x7f"}
    found = read_zip("t.zip", archive(files))
    assert [name.rpartition("/")[2] for name in found.left_out] == ["k.so", "state.pkl"]
    assert not any(name.endswith((".pkl", ".so")) for name in found.files)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "performance.md").symlink_to("/etc/hostname")
    with pytest.raises(TrailRefused, match="points outside"):
        read_path(tmp_path / "run")


def test_what_is_too_large_is_refused():
    with pytest.raises(TrailRefused, match="larger than 2000000 bytes"):
        read_zip("t.zip", archive({"performance.md": "x" * 2_000_001}))
    with pytest.raises(TrailRefused, match=r"not a readable \.zip"):
        read_zip("t.zip", b"PK no")


def test_a_plan_shows_the_figures_of_experiences(capsys):
    call_command("campaign", "import", str(TRAILS / "experiences"), "--plan")
    said = capsys.readouterr().out
    assert "2 rounds, 1 file\n" in said
    assert "experiences: 2 (1 failure, 1 success) (experiences.json:L1)" in said
    assert "largest claimed gain: 7.7× (experiences.json:L18)" in said
    assert "experience 1: 0.4516 ms, claims 7.7× faster, success (experiences.json:L17)" in said
    call_command("campaign", "import", str(TRAILS / "experiences"), "--plan", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["figures"][1]["value"] == told["claims"][0]["gain"] == 7.7


def test_the_command_plans_imports_and_lists(capsys, tmp_path):
    call_command("campaign", "import", str(TRAILS / "skill"), "--plan", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["system"], told["rounds"], told["imported"]) == ("kernel-opt-skill", 3, None)
    assert not ImportedCampaign.objects.exists()
    call_command("campaign", "import", str(TRAILS / "skill"), "--json")
    told = json.loads(capsys.readouterr().out)
    key = ImportedCampaign.objects.get().pk
    assert (told["imported"], told["new"]) == (key, True)
    call_command("campaign", "import", str(TRAILS / "skill"))
    assert f"the same content is there already, as imported campaign {key}" in (
        capsys.readouterr().out
    )
    call_command("campaign", "imported", "--json")
    assert [one["imported"] for one in json.loads(capsys.readouterr().out)] == [key]
    call_command("campaign", "imported", str(key))
    said = capsys.readouterr().out
    assert "claimed by kernel-opt-skill" in said
    assert "v1/ncu_summary.md:L7" in said
    out = tmp_path / "again.zip"
    call_command("campaign", "imported", str(key), "--out", str(out))
    assert read_path(out).digest == ImportedCampaign.objects.get().digest
