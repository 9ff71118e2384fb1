"""What the README shows exists: its commands parse, its verbs and settings are all there are."""

import re
import shlex
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import load_command_class

from campaigns.management.base_command import ExitCode

ROOT = Path(settings.BASE_DIR)
README = (ROOT / "README.md").read_text()
NOUNS = sorted(
    path.stem
    for path in (ROOT / "campaigns/management/commands").glob("*.py")
    if path.stem[0] != "_"
)
SHOWN = re.findall(
    r"^[^`\n]*python manage\.py ([^`\n]+)$", README.replace("\\\n", " "), re.MULTILINE
)


def _table(header):
    """The first cells of the rows of the table that begins with this header."""
    rows = README.partition(f"| {header} |")[2].partition("\n\n")[0]
    return [row.split("|")[1] for row in rows.splitlines()[2:]]


@pytest.mark.parametrize("line", SHOWN)
def test_it_shows_commands_that_parse(line):
    name, *words = shlex.split(line)
    load_command_class("campaigns", name).create_parser("manage.py", name).parse_args(words)


def test_it_shows_enough_commands():
    assert len(SHOWN) >= 4


@pytest.mark.parametrize("noun", NOUNS)
def test_it_lists_every_command_with_its_verbs(noun):
    verbs = [verb.name for verb in load_command_class("campaigns", noun).verbs()]
    rows = " ".join(cell for cell in _table("command") if f"`{noun}" in cell)
    listed = set(re.findall(r"[a-z]+(?=`)", rows))
    assert rows
    assert [verb for verb in verbs if verb not in listed] == []


def test_it_lists_every_setting():
    sources = "".join(path.read_text() for path in sorted((ROOT / "kopt").glob("*.py")))
    read = set(re.findall(r'"(KOPT_[A-Z_]+|DATABASE_URL)"', sources))
    listed = set(re.findall(r"KOPT_[A-Z_]+|DATABASE_URL", " ".join(_table("variable"))))
    assert listed == read


def test_it_lists_every_exit_code():
    assert [int(cell) for cell in _table("exit code")] == [int(code) for code in ExitCode]
