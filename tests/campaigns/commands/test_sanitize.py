"""`evaluate --sanitize`: what the sanitizers say, and the exit code that goes with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from campaigns.evaluator.contract import Fault, Sanitized
from tests.campaigns.commands.test_campaign import Service
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db
GUILTY = Sanitized("ThreadSanitizer", True, (Fault("data race", "write of size 4", "k.cpp", 16),))
LOST = Sanitized("AddressSanitizer", False, note="g++ has no runtime")


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run the command where the sanitizers say this; the fake service is returned."""
    kernel = tmp_path / "k.cpp"
    kernel.write_text("time 70")
    problem = str(cast.write_problem(tmp_path))

    def run(*options: str, said: tuple[Sanitized, ...] = ()) -> Service:
        service = Service(said=said) if said else Service()
        monkeypatch.setattr("campaigns.management.one_file.EvaluatorService", lambda **_: service)
        monkeypatch.setattr("campaigns.management.one_file.this_device", lambda choice: cast.DEVICE)
        call_command("evaluate", str(kernel), "--problem", problem, *options)
        return service

    return run


def test_it_looks_only_when_it_is_asked_to(call, capsys: pytest.CaptureFixture[str]) -> None:
    assert call().looks == []
    assert "sanitizer" not in capsys.readouterr().out.replace("sanitizers", "")
    (look,) = call("--sanitize").looks
    assert look.sanitize
    assert "  sanitizer: AddressSanitizer clean" in capsys.readouterr().out


def test_it_prints_the_findings_and_exits_with_five(
    call, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match=r"found data race in k\.cpp line 16") as caught:
        call("--sanitize", said=(LOST, GUILTY))
    assert caught.value.returncode == 5
    out = capsys.readouterr().out
    assert "sanitizer: AddressSanitizer not run: g++ has no runtime" in out
    assert "    k.cpp line 16: data race, write of size 4" in out


def test_it_gives_them_as_json(call, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError):
        call("--sanitize", "--json", said=(GUILTY,))
    (found,) = json.loads(capsys.readouterr().out)["sanitized"]
    assert (found["tool"], found["ran"], found["faults"][0]["line"]) == (
        "ThreadSanitizer",
        True,
        16,
    )


def test_it_exits_with_one_where_none_could_run(call) -> None:
    with pytest.raises(CommandError, match=r"not run: g\+\+ has no runtime") as caught:
        call("--sanitize", said=(LOST,))
    assert caught.value.returncode == 1
