"""Write docs/commands.md, docs/settings.md and docs/benchmarks/README.md from what they are about.

The words around their tables are written in the pages. Nothing of the tables is written by hand:
the help of an argument is its line, the comment above a variable is what it means, and the list at
the head of a measurement is its row.

    python -m tools.reference          writes all three
    python -m tools.reference --check  says whether they are as their sources say
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import django
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
APPS = ("campaigns", "knowledge")
# Every command of Django has these.
DJANGO_OPTIONS = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback"),
    *("no_color", "force_color", "skip_checks"),
}
BENCHMARKS = DOCS / "benchmarks"
# What every measurement says at its head; `campaigns.benchmarks.harness` writes it so.
IN_THE_HEAD = ("question", "found", "measured", "device", "command")


class HeadFails(ValueError):
    """A measurement whose head lacks something, or a page its table; the message names it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: its default and what it accepts as shown, and its comment."""

    name: str
    default: str
    accepted: str
    meaning: str


def commands_page() -> str:
    """docs/commands.md: a section for each noun, a line for each verb, then its arguments."""
    head = (DOCS / "commands.md").read_text().partition("\n## ")[0]
    sections = [head]
    for noun, app in sorted(get_commands().items()):
        if app not in APPS:
            continue
        command = load_command_class(app, noun)
        parser = command.create_parser("manage.py", noun)
        nested = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        if nested:
            helps = {choice.dest: choice.help or "" for choice in nested[0]._choices_actions}
            verbs = nested[0].choices.items()
            listed = [_arguments(f"{noun} {v}", helps.get(v, ""), inner) for v, inner in verbs]
        else:
            listed = [_arguments(noun, "", parser)]
        head = f"## {noun}\n\n{command.help.rstrip('.')}.\n\n"
        sections.append(head + "\n".join(itertools.chain(*listed)))
    return "\n".join(sections)


def _arguments(title: str, said: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    shown = [a for a in parser._actions if a.dest not in {*DJANGO_OPTIONS, "as_json"}]
    yield f"`{' '.join((title, *map(_usage, shown)))}`" + (f": {said}\n" if said else "\n")
    for action in shown:
        if action.help:
            label = ", ".join(action.option_strings) or str(action.metavar or action.dest)
            words = " ".join(action.help.split()) % {**vars(action), "prog": "manage.py"}
            yield f"- `{label}`: {words}"
    yield ""


def _usage(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest).upper()
    if not action.option_strings:
        return f"[{value}]" if action.nargs in ("?", "*") else value
    told = " ".join(filter(None, (action.option_strings[0], value)))
    return told if action.required else f"[{told}]"


def variables(folder: Path) -> list[Variable]:
    """What the modules of `folder` read from the environment, the tables of a team first."""
    found = []
    for path in sorted(folder.glob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and (name := _name(node)):
                above = itertools.takewhile(
                    lambda line: line.startswith("#"),
                    map(str.strip, reversed(text.splitlines()[: node.lineno - 1])),
                )
                said = [line.removeprefix("#").strip() for line in above]
                found.append(Variable(name, *_values(node), " ".join(reversed(said))))
    return sorted(found, key=lambda one: (one.name.startswith("KOPT_"), one.name))


def _name(node: ast.Call) -> str:
    """Name of the variable that this call reads; empty where it reads none."""
    read = ast.unparse(node.func)
    first = node.args[0] if node.args else None
    if (read == "os.environ.get" or read.startswith("env.")) and isinstance(first, ast.Constant):
        return first.value if isinstance(first.value, str) else ""
    return ""


def _values(node: ast.Call) -> tuple[str, str]:
    """The default, and what is accepted."""
    kind = ast.unparse(node.func).removeprefix("env.")
    given = [*node.args[1:], *(k.value for k in node.keywords)]
    if kind == "flag":
        return "off", "on, off"
    if kind == "choice":
        return _plain(given[1]), ", ".join(ast.literal_eval(given[0]))
    if kind == "number":
        return _plain(given[0]), f"a number of at least {_plain(given[1])}"
    if kind == "folder":
        return "`var/`", "a writable folder"
    if kind == "words":
        return ", ".join(ast.literal_eval(given[0])), "words with commas between"
    return "", ""


def _plain(node: ast.expr) -> str:
    value = ast.literal_eval(node)
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings_page(folder: Path = ROOT / "kopt") -> str:
    """docs/settings.md."""
    rows = [
        f"| `{one.name}` | {one.default} | {one.accepted} | {one.meaning} |"
        for one in variables(folder)
    ]
    return with_rows(
        (DOCS / "settings.md").read_text(), "| variable | default | accepted | meaning |", rows
    )


def benchmarks_page(folder: Path = BENCHMARKS) -> str:
    """docs/benchmarks/README.md: what each measurement asks and found, then how to repeat it."""
    files = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    heads = {path.name: head_of(path) for path in files}
    found = [
        f"| {head['question']} | [{name}]({name}) | {head['found']} | {head['device']} | "
        f"{head['measured'].partition(',')[0]} |"
        for name, head in heads.items()
    ]
    commands = [
        f"| `{name}` | {head['command'].replace('`python manage.py ', '`')} |"
        for name, head in heads.items()
    ]
    page = (BENCHMARKS / "README.md").read_text()
    page = with_rows(page, "| question | file | found | device | measured |", found)
    return with_rows(page, "| file | command |", commands)


def with_rows(page: str, head: str, rows: Sequence[str]) -> str:
    """The page with these rows in its table that begins with the line `head`. Raises HeadFails."""
    before, found, rest = page.partition(f"{head}\n")
    if not found:
        raise HeadFails(f"no table begins with `{head}`")
    ruler, _, rest = rest.partition("\n")
    return "\n".join((f"{before}{head}", ruler, *rows)) + "\n\n" + rest.partition("\n\n")[2]


def head_of(path: Path) -> dict[str, str]:
    """The list below the title of a measurement. Raises HeadFails where a key is missing."""
    below = path.read_text().partition("\n\n")[2].partition("\n\n")[0]
    pairs = (line.removeprefix("- ").partition(": ") for line in below.splitlines())
    head = {key: value.strip() for key, _, value in pairs}
    for key in IN_THE_HEAD:
        if not head.get(key):
            raise HeadFails(f"docs/benchmarks/{path.name}: no `- {key}: …` below the title")
    return head


def pages() -> Mapping[Path, str]:
    """Each generated page with its text."""
    return {
        DOCS / "commands.md": commands_page(),
        DOCS / "settings.md": settings_page(),
        BENCHMARKS / "README.md": benchmarks_page(),
    }


def main(arguments: list[str]) -> int:
    """Write or check; the exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kopt.settings")
    django.setup()
    try:
        written = pages()
    except HeadFails as error:
        print(error, file=sys.stderr)
        return 1
    stale = [p for p, text in written.items() if not p.is_file() or p.read_text() != text]
    if arguments == ["--check"]:
        told = "not as the code says; run `python -m tools.reference`"
        for path in stale:
            print(f"{os.path.relpath(path, ROOT)}: {told}", file=sys.stderr)
        return 1 if stale else 0
    for path, text in written.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
