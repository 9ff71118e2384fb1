"""`doctor`: exit 0 unless something required is missing."""

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.host_software import HealthFinding, State
from campaigns.management.base_command import ExitCode
from campaigns.management.commands import doctor


def _host(monkeypatch, *found):
    monkeypatch.setattr(doctor, "examine", lambda: list(found))
    monkeypatch.setattr(doctor, "examine_passports", list)


def test_it_looks_at_this_host(db, capsys):
    call_command("doctor", "--json")
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    expected = {"python", "torch", "C++ compiler", "device cpu", "database", "broker"}
    assert {*expected, "sandbox, cpu"} <= {*names}


def test_it_is_content_when_only_optional_things_are_missing(monkeypatch, capsys):
    _host(
        monkeypatch,
        HealthFinding("git", State.OK, "2"),
        HealthFinding("ncu", State.MISSING, "no", "c", "r"),
    )
    call_command("doctor")
    said = capsys.readouterr()
    assert "get it: r" in said.out
    assert said.err == "1 ok, 1 missing, none required\n"


def test_it_fails_when_something_required_is_missing(monkeypatch, capsys):
    _host(monkeypatch, HealthFinding("torch", State.REQUIRED, "not installed", "c", "r"))
    with pytest.raises(CommandError, match="required and not usable: torch") as caught:
        call_command("doctor")
    assert caught.value.returncode == ExitCode.USAGE
    assert "costs: c" in capsys.readouterr().out
