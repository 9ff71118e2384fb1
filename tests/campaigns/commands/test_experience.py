"""`experience`: the verbs and options of the second source system, with exit codes (R37 to R39)."""

import json
from pathlib import Path

import pandas
import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from campaigns.management.base_command import ExitCode
from knowledge.models import Experience, SearchRow, TrackRecord

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parents[2] / "knowledge/experience/golden"
GEMM = ("--kernel", "gemm", "--backend", "cuda", "--chip", "sm_86", "--bottleneck", "memory_bound")


def run(capsys, *said):
    """What the command prints with --json, as data."""
    capsys.readouterr()
    call_command("experience", *said, "--json")
    return json.loads(capsys.readouterr().out)


def fails(*said):
    with pytest.raises(CommandError) as error:
        call_command("experience", *said)
    return error.value.returncode, str(error.value)


def added(capsys, *more, gain="0.1"):
    return run(capsys, "add", *GEMM, "-o", "tile{M=16}", "--gain", gain, "--outcome",
               "success" if float(gain) > 0 else "regression", *more)  # fmt: skip


def test_it_adds_with_all_options_of_the_second_system(capsys):
    made = run(
        capsys, "add", *GEMM, "--dims", "1024x1024x1024", "-i", "v2", "--stall", "Barrier",
        "--memory-sol-before", "2.84", "--memory-sol-after", "2.88", "--sm-sol-before", "94.5",
        "--sm-sol-after", "95.7", "--latency-before", "0.7068", "--latency-after", "0.6325",
        "--occupancy-before", "95", "--occupancy-after", "95", "-o", "tile{M=16}", "--param",
        "order=row", "--hypothesis", "Fewer barriers", "--outcome", "success", "--notes", "n",
        "--dtype", "fp32",
    )  # fmt: skip
    assert made["gain"] == pytest.approx(0.7068 / 0.6325 - 1)
    assert (made["label"], made["op"], made["dtype"]) == ("success", "matmul", "float32")
    assert made["params"] == {"M": 16, "order": "row"}
    assert made["metrics"]["after"]["sm_sol"] == 95.7
    assert made["evidence"] == ["dominant stall: Barrier"]
    assert made["external"] == "v2"


def test_a_success_below_two_per_cent_is_relabelled_and_said(capsys):
    call_command("experience", "add", *GEMM, "--latency-before", "0.7068", "--latency-after",
                 "0.7036", "-o", "x", "--outcome", "success")  # fmt: skip
    said = capsys.readouterr()
    assert " tie " in said.out
    assert said.err == 'Its source calls it "success"; measured +0.5%, it is a tie.\n'


def test_it_refuses_a_name_that_it_does_not_know_and_keeps_it_where_told(capsys):
    said = ("add", "--kernel", "gemmx", "--gain", "0.1", "--outcome", "success")
    code, message = fails(*said)
    assert code == ExitCode.USAGE
    assert message.startswith("kernel: 'gemmx' is not known; perhaps matmul")
    assert run(capsys, *said, "--keep", "op")["op"] == "gemmx"


def test_it_lists_recommends_and_counts(capsys):
    added(capsys)
    added(capsys, gain="-0.2")
    assert [row["label"] for row in run(capsys, "list", "--outcome", "failed")] == ["regression"]
    assert len(run(capsys, "list", "--kernel", "matmul", "--limit", "1")) == 1
    found = run(capsys, "recommend", *GEMM)
    assert (found["hits"] or found["avoid"])[0]["strategy"] == "tile"
    stats = run(capsys, "stats")
    assert (stats["tried"], stats["worked"], stats["backends"]) == (2, 1, {"cuda": 2})
    assert stats["by_op"][0]["gain"]["median"] == -0.2
    call_command("experience", "stats")
    assert "2 attempts: 1 worked, 1 showed no gain" in capsys.readouterr().out
    assert fails("list", "--outcome", "good")[0] == ExitCode.USAGE
    assert fails("list", "--limit", "0")[0] == ExitCode.USAGE
    assert fails("recommend", "--kernel", "gemmx")[0] == ExitCode.USAGE


def test_it_merges_what_is_one_and_takes_it_back(capsys):
    first, second = added(capsys), added(capsys, gain="0.3")
    third = added(capsys, gain="-0.2")
    (group,) = run(capsys, "merge")
    assert (group["count"], group["needs_decision"]) == (3, True)
    pair = f"{first['uuid']},{second['uuid']}"
    (merged,) = run(capsys, "merge", "--groups", pair, "--why", "the same run")
    assert (merged["uuid"], merged["merged_into"]) == (first["uuid"], second["uuid"])
    assert TrackRecord.objects.get().tried == 2
    opposite = f"{second['uuid']},{third['uuid']}"
    code, message = fails("merge", "--groups", opposite, "--why", "same")
    assert (code, message.startswith("decision: ")) == (ExitCode.USAGE, True)
    run(capsys, "merge", "--groups", opposite, "--why", "same", "--decide", "a cold cache")
    run(capsys, "merge", "--undo", third["uuid"], "--why", "no")
    assert TrackRecord.objects.get().tried == 2


def test_it_merges_nothing_into_itself(capsys):
    one = added(capsys)["uuid"]
    code, message = fails("merge", "--groups", one, "--into", one, "--why", "w")
    assert (code, "cannot be merged into itself" in message) == (ExitCode.USAGE, True)
    assert fails("merge", "--groups", f"{one},{one}", "--why", "w")[0] == ExitCode.USAGE
    assert fails("merge", "--groups", "abc", "--why", "w")[0] == ExitCode.NOT_FOUND


def test_sync_writes_what_it_knows_and_builds_the_index_anew(capsys, tmp_path):
    added(capsys)
    SearchRow.objects.all().delete()
    TrackRecord.objects.update(tried=9)
    done = run(capsys, "sync", "--out", str(tmp_path / "out"))
    assert done["indexed"] == SearchRow.objects.count() > 0
    assert TrackRecord.objects.get().tried == 1
    assert "1 attempt: 1 worked" in (tmp_path / "out/experience.md").read_text()
    table = pandas.read_csv(tmp_path / "out/experience.csv")
    assert table["gain"].tolist() == [0.1]
    assert len(json.loads((tmp_path / "out/experience.json").read_text())["experience"]) == 1


def test_it_finds_what_was_added(capsys):
    added(capsys, "--notes", "spills into local memory")
    rows = run(capsys, "search", "spills")
    assert any(row["kind"] == "entry" for row in rows)
    assert fails("search", "x", "--outcome", "good")[0] == ExitCode.USAGE


def test_an_import_is_planned_answered_confirmed_and_undone(capsys):
    log = str(GOLDEN / "experiences.json")
    plan = run(capsys, "import", log)
    assert plan["counts"] == {"create": 3, "skip": 1}
    code, message = fails("confirm", str(plan["import"]))
    assert (code, "not answered" in message) == (ExitCode.USAGE, True)
    answer = "two-tiles-a-barrier=="
    done = run(capsys, "confirm", str(plan["import"]), "--answer", answer, "--keep")
    assert done["attempts"] == 3
    assert fails("confirm", str(plan["import"]))[0] == ExitCode.NOT_ALLOWED
    assert fails("undo", "999", "--why", "x")[0] == ExitCode.NOT_FOUND
    run(capsys, "undo", str(plan["import"]), "--why", "wrong file")
    assert not Experience.objects.filter(standing="counts").exists()
    again = run(capsys, "import", log, "--confirm", "--keep")
    assert again["attempts"] == 3
    run(capsys, "drop", str(run(capsys, "import", log)["import"]))
    states = [row["state"] for row in run(capsys, "imports")]
    assert states == ["dropped", "confirmed", "undone"]


def test_a_broken_file_is_named_with_its_line(capsys, tmp_path):
    broken = tmp_path / "experiences.json"
    broken.write_text('[\n{"outcome": "great"}]')
    code, message = fails("import", str(broken), "--confirm")
    assert code == ExitCode.USAGE
    assert "experiences.json:L2: outcome: 'great'; accepted: success" in message
    assert fails("import", str(tmp_path / "none.json"))[0] == ExitCode.USAGE
    assert not Experience.objects.exists()


def test_an_export_imports_again_to_nothing_new(capsys, tmp_path):
    added(capsys)
    for form in ("json", "csv"):
        file = tmp_path / f"kopt.{form}"
        call_command("experience", "export", "--format", form, "--out", str(file))
        assert run(capsys, "import", str(file))["counts"] == {"skip": 1}


def test_rows_that_cannot_be_read_are_left_out_when_asked_to(capsys, tmp_path):
    rows = [json.loads((GOLDEN / "anti.json").read_text())] * 2
    rows[1] = json.loads(json.dumps(rows[1]).replace("Do not split short rows", "x" * 601))
    (tmp_path / "cards.json").write_text(json.dumps(rows))
    code, message = fails("import", str(tmp_path / "cards.json"))
    assert (code, message.endswith("; --leave-out leaves them out")) == (ExitCode.USAGE, True)
    plan = run(capsys, "import", str(tmp_path / "cards.json"), "--leave-out", "--keep")
    assert plan["counts"] == {"create": 1, "skip": 1}
    done = run(capsys, "import", str(tmp_path / "cards.json"), "--confirm", "--leave-out", "--keep")
    assert done["lessons"] == 1


def test_a_viewer_adds_nothing(capsys):
    user = User.objects.create_user("vera")
    user.groups.add(Group.objects.get(name="viewer"))
    said = ("add", "--gain", "0.1", "--outcome", "success", "--by", "vera")
    assert fails(*said)[0] == ExitCode.NOT_ALLOWED
    assert fails(*said[:-1], "nobody")[0] == ExitCode.NOT_FOUND


def test_tips_are_the_lessons_in_force(capsys):
    user = User.objects.create_user("cora")
    user.groups.add(Group.objects.get(name="curator"))
    folder = str(GOLDEN / "historical")
    run(capsys, "import", folder, "--confirm", "--keep", "--by", "cora",
        "--answer", "grouped_gemm_fp8=grouped_gemm")  # fmt: skip
    place = ("--kernel", "grouped_gemm", "--backend", "triton", "--chip", "gfx950")
    rows = run(capsys, "tips", *place)
    assert [row["state"] for row in rows] == ["active", "anti_pattern", "active"]
    assert run(capsys, "tips", "--kernel", "softmax") == []
