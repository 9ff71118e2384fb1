"""`bench evaluator`: what is refused, and the report it writes."""

import json
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from campaigns.benchmarks.soak.run import Soak
from campaigns.benchmarks.start_cost import StartCosts
from campaigns.benchmarks.trust.contest import Contest
from campaigns.benchmarks.trust.trick import TRICKS
from campaigns.devices.launch import ROOT
from campaigns.management.commands import bench
from campaigns.management.door import ExitCode
from campaigns.rules.noise import Gain


@pytest.fixture
def costs(monkeypatch):
    found = StartCosts("cpu", "CPU", "t", "p", "cpp", 1.0, (2.0,) * 5, (0.2,) * 5, (0.3,) * 5, {})
    monkeypatch.setattr(bench, "compare_starts", lambda *arguments: found)
    return found


@pytest.mark.parametrize("suffix", ["json", "md"])
def test_it_writes_the_report(costs, tmp_path, capsys, suffix):
    out = tmp_path / f"start.{suffix}"
    call_command("bench", "evaluator", "--device", "cpu", "--out", str(out), "--json")
    data = json.loads(capsys.readouterr().out)
    assert data["ratio"] == pytest.approx(10)
    assert (data["pairs"], data["fresh_s"]) == (5, [2.0] * 5)
    written = out.read_text()
    assert json.loads(written) == data if suffix == "json" else "10.0 times" in written


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--repeats", "2"], ExitCode.USAGE, "--repeats 2: at least 5 are accepted"),
        (["--out", "x.txt"], ExitCode.USAGE, "ending in .json or .md is accepted"),
        (["--problem", "nothing"], ExitCode.NOT_FOUND, "vector_add"),
        (["--device", "cuda:99"], ExitCode.NOT_FOUND, "cuda:99"),
    ],
)
def test_it_refuses_in_one_line(costs, words, code, message):
    with pytest.raises(CommandError, match=message) as caught:
        call_command("bench", "evaluator", *words)
    assert caught.value.returncode == code


LEVEL = Gain(-0.01, -0.02, 0.01, 9)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["trust", "--kernelbench", "."], ExitCode.USAGE, "src/kernelbench/eval.py: missing"),
        (
            ["trust", "--only", "no such candidate"],
            ExitCode.USAGE,
            "no candidate for cpu among them",
        ),
        (["trust", "--tricks", "nowhere"], ExitCode.USAGE, "--tricks nowhere: no candidate"),
        (["trust", "--device", "cuda:99"], ExitCode.NOT_FOUND, "cuda:99"),
        (
            ["trust", "--device", "cpu", "--device", "cpu"],
            ExitCode.NOT_FOUND,
            "accepted: one, or several different ones of a name",
        ),
        (["proofs", "--device", "cpu"], ExitCode.USAGE, "--device cpu: on a GPU only"),
        (["proofs", "--mib", "0"], ExitCode.USAGE, "at least 5 repeats and 1 MiB are accepted"),
        (["proofs", "--device", "cuda:99"], ExitCode.NOT_FOUND, "cuda:99"),
        (["soak", "--hostile-every", "1"], ExitCode.USAGE, "--hostile-every 1: 2 to 1000 is"),
        (["soak", "--out", "x.txt"], ExitCode.USAGE, "ending in .json or .md is accepted"),
    ],
)
def test_it_refuses_a_contest_or_a_soak_in_one_line(words, code, message):
    with pytest.raises(CommandError) as refused:
        call_command("bench", *words)
    assert refused.value.returncode == code
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_it_asks_no_evaluator_for_cuda_on_a_cpu(tmp_path):
    evaluator = tmp_path / "src" / "kernelbench" / "eval.py"
    evaluator.parent.mkdir(parents=True)
    evaluator.touch()
    with pytest.raises(CommandError, match="KernelBench evaluates on a CUDA device only"):
        call_command("bench", "trust", "--device", "cpu", "--kernelbench", str(tmp_path))


def test_it_runs_no_contest_where_every_candidate_needs_a_sandbox(settings):
    settings.KOPT_SANDBOX = "ALL"
    with pytest.raises(CommandError, match=r"KOPT_SANDBOX=all: .* without a sandbox") as refused:
        call_command("bench", "trust", "--device", "cpu", "--tricks", str(TRICKS))
    assert refused.value.returncode == ExitCode.USAGE


def test_it_writes_a_contest_and_names_the_command(monkeypatch, tmp_path, capsys):
    asked = []

    def contest(devices, tricks, others, jobs, clock):
        asked.extend(trick.name for trick in tricks)
        return Contest(devices[0].name, "now", 1.0, {peer.name: "" for peer in others}, {}, ())

    monkeypatch.setattr(bench, "hold_contest", contest)
    monkeypatch.setattr(bench.sys, "argv", ["manage.py", "bench", "trust", "--sol", "/home/me/sol"])
    call_command(
        "bench", "trust", "--device", "cpu", "--only", "cpp/plain", "--tricks", str(TRICKS)
    )
    said = capsys.readouterr().out
    assert asked == ["cpp/plain"]
    assert "`python manage.py bench trust --sol sol`" in said


@pytest.mark.parametrize(
    ("leaks", "against_fresh", "said"),
    [
        ({}, LEVEL, "held"),
        ({"files": "1 more: x"}, LEVEL, "**not held**"),
        ({}, Gain(-0.04, -0.10, 0.02, 9), "**not known**"),
    ],
)
def test_it_exits_with_what_a_soak_held(monkeypatch, tmp_path, leaks, against_fresh, said):
    found = Soak(
        device="CPU",
        measured_at="now",
        seconds=1.0,
        evaluations=10,
        hostile_every=5,
        outcomes={"passed": 8, "crashed": 2},
        unexpected=(),
        before={"files": 1},
        after={"files": 1},
        leaks=leaks,
        first_s=1.0,
        last_s=1.0,
        change=LEVEL,
        against_fresh=against_fresh,
        load=(0.0, 0.0),
        environment={},
        turns=(),
    )
    monkeypatch.setattr(bench, "soak", lambda *arguments: found)
    out = tmp_path / "soak.md"
    words = ["bench", "soak", "--tricks", str(TRICKS), "--out", str(out)]
    if said == "held":
        call_command(*words)
    else:
        match = "not held: .*1 more: x" if leaks else r"not known: .* a fresh one -4\.0 %"
        with pytest.raises(CommandError, match=match):
            call_command(*words)
    assert f"lost at the end: {said}." in out.read_text()


def test_it_loads_without_torch():
    code = (
        "import os, sys\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'kopt.settings'\n"
        "sys.modules['torch'] = None\n"
        "import django; django.setup()\n"
        "import campaigns.management.commands.bench\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
