"""The base of all commands: exit codes, streams, verbs."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, OperationalError, ProgrammingError
from django.utils.module_loading import import_string

from campaigns.management.base_command import BaseCommand, ExitCode, Verb, argument


class Fruit(BaseCommand):
    def verbs(self) -> tuple[Verb, ...]:
        return (Verb("show", "show one", self.show, (argument("name"),)),)

    def show(self, *, name: str) -> None:
        self.progress("looking")
        if name != "apple":
            self.fail(ExitCode.NOT_FOUND, f"{name}: no such fruit; accepted: apple")
        self.emit({"name": name}, f"an {name}")


class Plain(BaseCommand):
    def run(self, **options: Any) -> None:
        self.emit(options, "done")


def test_it_prints_text_or_json_on_stdout_and_progress_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command(Fruit(), "show", "apple")
    assert capsys.readouterr() == ("an apple\n", "looking\n")
    call_command(Fruit(), "show", "apple", "--json")
    assert json.loads(capsys.readouterr().out) == {"name": "apple"}


# What a terminal obeys: colours, a title, the clipboard, going back; and what reverses a line.
ORDERS = "\x1b[31m \x1b]0;t\x07 \x1b]52;c;eA==\x07 \x9b31m \r \b \x7f \u202e \u2066 \0 \x85"
PLAIN = "[31m ]0;t ]52;c;eA== 31m" + 7 * " "


def test_no_command_passes_orders_on_to_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.management.base_command.connections.close_all", lambda: None)
    command = Plain()
    command.as_json = False
    command.emit({}, f"a\tb\n{ORDERS}é")
    command.progress(ORDERS)
    assert capsys.readouterr() == (f"a\tb\n{PLAIN}é\n", f"{PLAIN}\n")
    with pytest.raises(SystemExit):
        Fruit().run_from_argv(["manage.py", "fruit", "show", ORDERS])
    assert PLAIN in capsys.readouterr().err


def test_every_command_prints_through_the_base() -> None:
    """Else what is foreign reaches the terminal as it is."""
    writes = re.compile(r"\bprint\(|std(out|err)\.write\(|style_func")
    places = [*Path("campaigns/management").rglob("*.py"), *Path("campaigns").glob("*/command.py")]
    found = {str(path) for path in places if writes.search(path.read_text())}
    assert found == {"campaigns/management/base_command.py"}


def test_neither_does_the_log(settings: Any) -> None:
    how = settings.LOGGING["formatters"]["line"]
    formatter = import_string(how["class"])(how["format"])
    record = logging.LogRecord("kopt", logging.WARNING, "", 1, "%s", (ORDERS,), None)
    assert formatter.format(record).endswith(f"kopt: {PLAIN}")


def test_it_runs_a_command_without_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    call_command(Plain(), "--json")
    assert json.loads(capsys.readouterr().out) == {}


def test_it_carries_the_exit_code_of_a_failure() -> None:
    with pytest.raises(CommandError) as caught:
        call_command(Fruit(), "show", "pear")
    assert caught.value.returncode == ExitCode.NOT_FOUND


@pytest.mark.parametrize(
    ("argv", "code"), [(["show", "pear"], 2), (["show"], 1), (["peel", "apple"], 1), ([], 1)]
)
def test_it_exits_with_one_line_and_keeps_two_for_not_found(
    argv: list[str], code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.management.base_command.connections.close_all", lambda: None)
    with pytest.raises(SystemExit) as caught:
        Fruit().run_from_argv(["manage.py", "fruit", *argv])
    assert caught.value.code == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip().splitlines()[-1].startswith("fruit: ")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OperationalError("no such table: x"), ": no such table: x$"),
        (OperationalError("connection refused\nIs it running?"), ": connection refused$"),
        (DatabaseError("file is not a database"), ": file is not a database$"),
    ],
)
def test_it_says_in_one_line_what_the_database_lacks(
    error: DatabaseError, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandError, match=said) as caught:
        _run_into(error, monkeypatch)
    assert caught.value.returncode == ExitCode.USAGE
    assert str(caught.value).startswith("database ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("error", [ProgrammingError("syntax error"), IntegrityError("sealed")])
def test_it_does_not_hide_a_mistake_of_its_own(
    error: DatabaseError, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(type(error)):
        _run_into(error, monkeypatch)


def test_it_ends_in_one_line_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=r"^interrupted$") as caught:
        _run_into(KeyboardInterrupt(), monkeypatch)
    assert caught.value.returncode == ExitCode.USAGE


def _run_into(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Plain, **options: Any) -> None:
        raise error

    monkeypatch.setattr(Plain, "run", fail)
    call_command(Plain())


def test_it_says_its_own_name_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: Plain, **options: Any) -> None:
        raise CommandError("plain: 'durian'; accepted: apple")

    monkeypatch.setattr(Plain, "run", fail)
    with pytest.raises(SystemExit):
        Plain().run_from_argv(["manage.py", "plain"])
    assert capsys.readouterr().err.count("plain: ") == 1
