"""The commands that README and docs show parse; every setting and every exit code is listed."""

import re
import shlex
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import load_command_class

from campaigns.management.base_command import ExitCode

ROOT = Path(settings.BASE_DIR)
DOCS = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("commands", "settings")}
TEXTS = (ROOT / "README.md").read_text() + (ROOT / "docs" / "faq.md").read_text()
SHOWN = re.findall(
    r"^[^`\n]*python manage\.py ([^`\n]+)$", TEXTS.replace("\\\n", " "), re.MULTILINE
)


def _table(text, header):
    """The first cells of the rows of the table that begins with this header."""
    rows = text.partition(f"| {header} |")[2].partition("\n\n")[0]
    return [row.split("|")[1] for row in rows.splitlines()[2:]]


@pytest.mark.parametrize("line", SHOWN)
def test_it_shows_commands_that_parse(line):
    name, *words = shlex.split(line)
    load_command_class("campaigns", name).create_parser("manage.py", name).parse_args(words)


def test_it_shows_enough_commands():
    assert len(SHOWN) >= 3


def test_it_lists_every_setting():
    sources = "".join(path.read_text() for path in sorted((ROOT / "kopt").glob("*.py")))
    read = set(re.findall(r'"(KOPT_[A-Z_]+|DATABASE_URL)"', sources))
    listed = {cell.strip(" `") for cell in _table(DOCS["settings"], "variable")}
    assert listed == read


def test_it_lists_every_exit_code():
    cells = _table(DOCS["commands"], "exit code")
    assert [int(cell) for cell in cells] == [int(code) for code in ExitCode]
