"""`doctor`: exit 0 unless something required is missing."""

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.host_health import HealthSection
from campaigns.devices.host_software import HealthFinding, State
from campaigns.management.base_command import ExitCode
from campaigns.management.commands import doctor


def _host(monkeypatch, *found):
    sections = {section: [] for section in HealthSection} | {HealthSection.GPU: list(found)}
    monkeypatch.setattr(doctor, "examine", lambda: sections)
    monkeypatch.setattr(doctor, "examine_passports", list)


def test_it_looks_at_this_host(db, capsys):
    call_command("doctor", "--json")
    rows = json.loads(capsys.readouterr().out)
    names = [row["name"] for row in rows]
    assert {row["section"] for row in rows} == set(HealthSection)
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


def test_r7_it_writes_the_check_as_a_file(monkeypatch, tmp_path, capsys):
    ncu = HealthFinding("ncu", State.MISSING, "not | here", "no profile evidence", "install `it`")
    _host(monkeypatch, HealthFinding("device cpu", State.OK, "Some CPU"), ncu)
    page = tmp_path / "env_check.md"
    call_command("doctor", "--markdown", str(page))
    assert capsys.readouterr().out == f"{page}\n"
    text = page.read_text()
    heads = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert heads == ["Status", "Requirements", "GPU", "Tools", "Permissions", "Clocks"]
    assert "- **Status:** ready\n" in text
    assert "- **Missing:** ncu\n" in text
    assert "- **Device:** Some CPU\n" in text
    row = r"| ncu | missing | not \| here | no profile evidence | install \`it\` |"
    assert row in text
    call_command("doctor", "--markdown", str(page), "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["file"], len(said["findings"])) == (str(page), 2)


def test_r7_the_file_is_written_also_when_something_required_is_missing(monkeypatch, tmp_path):
    _host(monkeypatch, HealthFinding("torch", State.REQUIRED, "not installed", "c", "r"))
    page = tmp_path / "env_check.md"
    with pytest.raises(CommandError) as caught:
        call_command("doctor", "--markdown", str(page))
    assert caught.value.returncode == ExitCode.USAGE
    assert "- **Status:** not ready\n- **Required and not usable:** torch\n" in page.read_text()
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command("doctor", "--markdown", str(tmp_path / "none" / "x.md"))
