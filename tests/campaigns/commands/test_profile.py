"""`profile`: files of every profiler by their head, and a candidate counted here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices import ncu_report
from campaigns.evaluator.contract import Profile
from campaigns.management import one_file
from campaigns.management.base_command import ExitCode
from campaigns.management.commands import profile
from campaigns.problems.shipped import SHIPPED
from tests.campaigns.commands.test_campaign import Service
from tests.campaigns.profiles.test_known_kernels import RECORDED
from tests.campaigns.profiles.test_rocprof import FOLDER
from tests.campaigns.steps import cast
from tests.evaluator.profile.standing_in import script
from tests.evaluator.profile.test_perf import TABLE

pytestmark = pytest.mark.django_db

PASSES = [str(FOLDER / name) for name in ("pass_1.csv", "pass_2.csv")]
SOURCE = str(SHIPPED / "softmax" / "v0.cpp")


def refusal(*words):
    with pytest.raises(CommandError) as caught:
        call_command("profile", *map(str, words))
    assert len(str(caught.value).splitlines()) == 1
    return caught.value.returncode, str(caught.value)


def answer(capsys, *words):
    call_command("profile", *map(str, words), "--json")
    return json.loads(capsys.readouterr().out)


def test_passes_of_rocprofv3_are_one_run(capsys):
    copy, gemm, _ = answer(capsys, "read", *PASSES)
    assert (copy["vendor"], copy["why"]) == ("AMD", "not counted: waves, dram_pct")
    assert gemm["values"]["scratch_bytes"] == 32


def test_passes_of_one_name_in_two_folders_are_two(capsys, tmp_path):
    files = [tmp_path / name / "counter_collection.csv" for name in ("a", "b")]
    for file, text in zip(files, PASSES, strict=True):
        file.parent.mkdir()
        file.write_text(Path(text).read_text())
    assert "memory_pct" in answer(capsys, "read", *files)[0]["values"]
    assert refusal("read", files[0], files[0])[1].endswith("given twice; accepted: each pass once")


@pytest.mark.usefixtures("wiki_of_module")
def test_r25_a_platform_says_what_amds_counters_are_shares_of(capsys):
    call_command(
        "profile", "read", *PASSES, "--kernel", "gemm", "--platform", "mi300x", "--multiplies"
    )
    said = capsys.readouterr().out
    assert "  compute alu: " in said
    assert "tensor_idle" in said
    assert "  cu_count: 304 CU <- <gpu-wiki>/docs/hardware/mi300x.md:L" in said
    call_command("profile", "read", *PASSES, "--platform", "mi308x")
    told = capsys.readouterr()
    assert "note: mi308x: " in told.err
    assert "not counted: waves, dram_pct" in told.out
    assert refusal("read", RECORDED, "--platform", "mi300x") == (
        ExitCode.USAGE,
        "platform: accepted with counters of AMD's cards alone",
    )


def test_a_thread_trace_shows_where_waves_wait(capsys):
    call_command("profile", "read", str(FOLDER / "stats.csv"))
    assert "87 % of the stalls at gemm.hip:21: s_waitcnt vmcnt(0)" in capsys.readouterr().out


def test_what_perf_wrote_is_shown_without_a_class(capsys, tmp_path):
    file = tmp_path / "perf.csv"
    file.write_text(TABLE)
    call_command("profile", "read", str(file))
    said = capsys.readouterr().out
    assert "solve\n  unknown: not counted: duration_us" in said
    assert "  ipc 2 per cycle\n" in said


def test_least_bytes_tell_what_is_moved_too_much(capsys):
    asked = ("read", RECORDED, "--kernel", "gather_naive")
    before = {one["name"] for one in answer(capsys, *asked)[0]["findings"]}
    (found,) = answer(capsys, *asked, "--least-bytes", "1000")
    assert {one["name"] for one in found["findings"]} > before


@pytest.mark.parametrize(
    ("files", "name", "words"),
    [
        ([PASSES[0]], "l1_pct", "metric 'l1_pct': not counted on AMD; NVIDIA has it"),
        ([RECORDED], "ipc", "metric 'ipc': not counted on NVIDIA; CPU has it"),
        ([RECORDED], "nothing", "metric 'nothing': not counted on NVIDIA"),
    ],
)
def test_r24_a_metric_of_another_vendor_is_an_error(files, name, words):
    assert refusal("read", *files, "--metric", name) == (ExitCode.USAGE, words)


def test_r24_one_metric_has_its_unit_and_meaning(capsys):
    asked = ("read", str(RECORDED), "--kernel", "gemm_good", "--metric", "dram_pct")
    call_command("profile", *asked)
    said = capsys.readouterr().out
    assert "% of the DRAM's peak (gpu__dram_throughput." in said
    assert answer(capsys, *asked)[0]["unit"] == "%"


def test_several_files_of_another_tool_are_refused():
    code, said = refusal("read", PASSES[0], RECORDED)
    assert code == ExitCode.USAGE
    assert "h200.csv:1: several files are passes of one run; accepted: counter_col" in said


@pytest.fixture
def report(tmp_path, monkeypatch):
    """A file with this name and head, where ncu does this with it."""

    def made(does, name="k.ncu-rep", head=b"NVR\0rest"):
        monkeypatch.setattr(ncu_report, "toolkit_program", lambda tool: None)
        if does:
            program = script(tmp_path / "ncu", f'echo "$@" > {tmp_path}/calls\n{does}\n')
            monkeypatch.setattr(ncu_report, "toolkit_program", lambda tool: program)
        file = tmp_path / name
        file.write_bytes(head)
        return file

    return made


@pytest.mark.parametrize("name", ["k.ncu-rep", "renamed.bin"])
def test_a_report_of_ncu_is_imported(report, capsys, tmp_path, name):
    file = report(f"cat {RECORDED}", name)
    assert len(answer(capsys, "read", file)) == 23
    called = (tmp_path / "calls").read_text()
    assert called == f"--import {file} --csv --page raw --print-units base\n"


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("", "k.ncu-rep:1: a report of Nsight Compute, and ncu is not on this host; accepted: "),
        ("echo ==ERROR== Failed to open report; exit 1", "k.ncu-rep:1: ncu does not read it: ==E"),
        ("exit 9", "k.ncu-rep:1: ncu does not read it: no message; accepted: a whole report"),
        ("echo no table", "k.ncu-rep:1: no table of launches; accepted: "),
    ],
)
def test_a_report_that_cannot_be_read_is_told_by_file_and_what_is_accepted(report, does, words):
    code, said = refusal("read", report(does))
    assert code == ExitCode.USAGE
    assert words in said


def test_an_import_has_a_limit(report, monkeypatch):
    monkeypatch.setattr(ncu_report, "LIMIT_S", 0.2)
    said = refusal("read", report("exec sleep 20"))[1]
    assert "ncu does not read it: " in said
    assert "timed out" in said


@pytest.fixture
def counting(monkeypatch):
    """The command, where counting this device gives that profile."""

    def made(found):
        monkeypatch.setattr(one_file, "EvaluatorService", Service)
        monkeypatch.setattr(one_file, "this_device", lambda choice: cast.DEVICE)
        monkeypatch.setattr(profile, "count_kernels", lambda job, report, service: found)
        return "run", SOURCE, "--problem", "softmax"

    return made


def test_a_candidate_is_counted_and_told_as_from_a_file(counting, capsys, tmp_path):
    words = counting(Profile("ncu", "big", RECORDED.read_text(), calls=1))
    file = tmp_path / "saved.csv"
    call_command("profile", *words, "--save", str(file))
    said = capsys.readouterr().out
    assert said.startswith("ncu, big, 1 calls\n")
    assert "bank_conflicts (sure): 93 % of the passes" in said
    assert len(answer(capsys, "read", file)) == 23
    found = answer(capsys, *words)
    assert (found["tool"], found["kernels"][0]["launches"]) == ("ncu", 1)
    call_command("profile", *words, "--metric", "duration_us")
    assert " µs of one launch (gpu__time_duration.sum)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, f"no profiler counts cpp on {cast.DEVICE.name}"),
        (Profile("perf", "big", note="this host hides them"), "this host hides them"),
    ],
)
def test_where_nothing_is_counted_it_says_why(counting, found, why):
    assert refusal(*counting(found)) == (
        ExitCode.NOT_ACCEPTED,
        f"no profile evidence: {why}",
    )
