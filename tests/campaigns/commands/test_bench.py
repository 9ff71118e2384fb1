"""`bench evaluator`: what is refused, and the report it writes."""

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.start_cost import StartCosts
from campaigns.management.commands import bench
from campaigns.management.door import ExitCode


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
