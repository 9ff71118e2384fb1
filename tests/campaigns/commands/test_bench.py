"""`bench`: what is refused, and the report it writes."""

import json
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from campaigns.benchmarks.harness import Benchmark, BenchReport, ReportTable
from campaigns.devices.launch import ROOT
from campaigns.management.base_command import ExitCode
from campaigns.management.commands import bench


@pytest.fixture
def found(monkeypatch):
    """The one benchmark that is there, and what it was asked for; a test may set `held`."""
    asked = {"held": True}

    def run(options, progress):
        asked["options"] = vars(options)
        rows = [{"n": 2.5}]
        tables = [ReportTable("Times", rows)]
        return BenchReport("Speed", "How quick?", None, "Quick.", tables, asked["held"])

    monkeypatch.setattr(bench, "BENCHMARKS", (Benchmark("speed", "how quick", (), run),))
    return asked


@pytest.mark.parametrize("suffix", ["json", "md"])
def test_it_writes_the_report_and_names_the_command(found, monkeypatch, tmp_path, capsys, suffix):
    argv = ["manage.py", "bench", "speed", "--sol", "/home/me/sol"]
    monkeypatch.setattr(bench.sys, "argv", argv)
    out = tmp_path / f"speed.{suffix}"
    call_command("bench", "speed", "--out", str(out), "--json")
    data = json.loads(capsys.readouterr().out)
    assert data["command"] == "python manage.py bench speed --sol sol"
    assert data["tables"] == {"Times": [{"n": 2.5}]}
    written = out.read_text()
    assert json.loads(written) == data if suffix == "json" else "found: Quick." in written


def test_it_exits_with_what_a_benchmark_held(found, tmp_path):
    found["held"] = False
    out = tmp_path / "speed.md"
    with pytest.raises(CommandError, match=r"^Quick\.$"):
        call_command("bench", "speed", "--out", str(out))
    assert "found: Quick." in out.read_text()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["precision", "--out", "x.txt"], ExitCode.USAGE, "ending in .json or .md is accepted"),
        (["precision", "--problem", "nothing"], ExitCode.NOT_FOUND, "vector_add"),
        (["precision", "--device", "cuda:99"], ExitCode.NOT_FOUND, "cuda:99"),
        (["trust", "--only", "no such candidate"], ExitCode.USAGE, "no candidate for cpu"),
        (["trust", "--tricks", "nowhere"], ExitCode.USAGE, "--tricks nowhere: no candidate"),
        (["trust", "--device", "cuda:99"], ExitCode.NOT_FOUND, "cuda:99"),
        (["soak", "--hostile-every", "1"], ExitCode.USAGE, "--hostile-every 1: 2 to 1000 is"),
        (["wiki", "--documents", "0"], ExitCode.USAGE, "--documents 0: 1 to --specs (100000) is"),
    ],
)
def test_it_refuses_in_one_line(words, code, message):
    with pytest.raises(CommandError) as refused:
        call_command("bench", *words)
    assert refused.value.returncode == code
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


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
