"""Write docs/commands.md, docs/settings.md and docs/benchmarks/README.md from what they are about.

Nothing of their tables is written by hand: the help of an argument is its line, the comment above a
variable is what it means, and the list at the head of a measurement is its row.

    python -m tools.reference          writes all three
    python -m tools.reference --check  says whether they are as their sources say
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Iterator, Mapping
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
COMMANDS_HEAD = """\
# Commands

`.venv/bin/python -m tools.reference` writes this page from the commands' own parsers; change it
there.

Run a command from the folder of the clone as `.venv/bin/python manage.py NOUN VERB`. Data goes to
stdout, progress to stderr. With `--json` the data is JSON.

| exit code | meaning |
|---|---|
| 0 | ok |
| 1 | wrong usage, wrong settings, a host or database that does not do its part, or interrupted |
| 2 | not found: campaign, round, problem, platform, metric, file |
| 3 | not allowed in the present state |
| 4 | no approved value: it is `UNKNOWN`, and the message says how to obtain it |
| 5 | `evaluate`: the outcome is not `passed`; `campaign run`: the baseline did not pass |
"""
SETTINGS_HEAD = """\
# Settings

`.venv/bin/python -m tools.reference` writes the table from `kopt/`, with the comment above each
variable.

All settings come from the environment, once, at start. A wrong value ends the command in one line.

| variable | default | accepted | meaning |
|---|---|---|---|
"""
SETTINGS_TAIL = """
## Behind a proxy

Set `KOPT_HOSTS` and `KOPT_ORIGINS` to the public name, and `KOPT_HTTPS` where the proxy speaks
HTTPS; then its `X-Forwarded-Proto` is believed. Wrong passwords are limited to 10 a name and 30 an
address within five minutes. Behind a proxy everybody has the proxy's address, so name the header
that the proxy sets, as nginx does by `proxy_set_header X-Real-IP $remote_addr`:

```
KOPT_CLIENT_HEADER=X-Real-IP
```

Without it no header is trusted. Of a list, as in `X-Forwarded-For`, the last address counts. Never
name a header that the proxy passes on as it came: then a client says who it is.

## Where torch and triton come from

`make` reads these. `PYTHON` names the interpreter, such as `make run PYTHON=/path/to/python3.12`.
`PORT` is the first port that `make run` tries (8000). `KERNELS` says where torch and triton come
from:

| `KERNELS` | meaning |
|---|---|
| `auto` | this host's own torch; without one `cuda` beside an NVIDIA card, else `cpu` |
| `own` | this host's own, or stop |
| `cpu`, `cuda` | the build for it, in `.venv` |
| `none` | neither: a host that only serves pages |

Without a card kopt fetches the large CUDA build only when neither pip's index nor PyTorch's CPU
index has a CPU build.

## A GPU host with its own torch

Start kopt with the interpreter whose torch (2.6 or newer) and triton (3.2 or newer) fit the
driver: `.venv` uses them in place.

```
make run PYTHON=/path/to/that/bin/python
```

Or install kopt into that environment. `requirements-worker.txt` names neither torch nor triton:

```
/path/to/that/bin/python -m pip install -r requirements-worker.txt
/path/to/that/bin/python manage.py doctor
```

The `cuda` backend needs `nvcc` on PATH.

## Parts of their own

`up` starts a web server, a flow worker and a worker that measures. Each has a command of its own,
on a database that is prepared, which every one of them shares by `DATABASE_URL` and
`KOPT_BROKER_URL`:

```
.venv/bin/python manage.py migrate
.venv/bin/python manage.py wiki import
.venv/bin/python manage.py up --only web --host 0.0.0.0 --port 8000
.venv/bin/python manage.py up --only flow
.venv/bin/python manage.py up --only measure
```

## More devices

A worker holds one device. Each further one, on this host or on another, is a command of its own,
with a name that no other worker of its host has:

```
.venv/bin/python manage.py up --only measure --name second
```

Workers of several hosts share `DATABASE_URL` and `KOPT_BROKER_URL`; those of one host may share the
data folder alone. A worker takes the most idle card that no other has; `KOPT_DEVICE` names one.
Campaigns go to whichever worker is free. A search is shared by all workers of its platform that
have nothing else to do; the record of a point names the worker that tried it. What a killed worker
had in its hands is tried by another.

With `KOPT_BUILDS=SHARED` on the workers of the GPUs, any host with the same compiler builds for
them, without a device. It needs the same `DATABASE_URL` and `KOPT_BROKER_URL`, and torch:

```
.venv/bin/python manage.py up --only builds
```

One such worker keeps all cores but one busy with compilers, in the same sandbox. What it builds
goes through the database, up to 4 MiB a variant, and is removed there once it was fetched. A host
whose compiler is another version takes nothing. On a CPU builds stay where they are, because they
are made for that very CPU.
"""
BENCHMARKS = DOCS / "benchmarks"
# What every measurement says at its head; `campaigns.benchmarks.harness` writes it so.
IN_THE_HEAD = ("question", "found", "measured", "device", "command")
BENCHMARKS_HEAD = """\
# Benchmarks

What kopt measured about itself and with itself: one question, one current file.
`.venv/bin/python -m tools.reference` writes this page from the list at the head of each file.

Run a file's command, after `.venv/bin/python manage.py`, to repeat it; `--out FILE` (`.md` or
`.json`) writes the report of a `bench`.

"""
BENCHMARKS_TAIL = """
How to read them:

- **Every ratio names its baseline,** the number of pairs and a 95 % interval. Both sides were
  measured in one run, in alternation, so that a busy moment of the machine meets both.
- **Layout.** Most files were written before the reports got one common layout; the figures are the
  same that the command reports now. Only `soak.md` has its throughput judged against a fresh
  service; `soak-h200.md` compares the end with the start.
- **Candidates.** `trust*.md` list the candidates of their day. Those that do no more than prefetch
  across calls are no longer among them.
- **Device time is known in two ways, and neither is exact.** Events stand behind bursts that follow
  each other without a pause, and the median of five is taken; the tracer slows some kernels down.
  Medians of two sessions agree within 0.18 % for 17 of 18 kernels, and within 0.66 % for one whose
  calls take one of two times (softmax by Triton, 4096x4096).
"""


class HeadFails(ValueError):
    """A measurement whose head lacks something; the message names file and key."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: its default and what it accepts as shown, and its comment."""

    name: str
    default: str
    accepted: str
    meaning: str


def commands_page() -> str:
    """docs/commands.md: a section for each noun, a line for each verb, then its arguments."""
    sections = [COMMANDS_HEAD]
    for name, app in sorted(get_commands().items()):
        if app in APPS:
            command = load_command_class(app, name)
            parser = command.create_parser("manage.py", name)
            sections.append(
                f"## {name}\n\n{command.help.rstrip('.')}.\n\n" + "\n".join(_noun(name, parser))
            )
    return "\n".join(sections)


def _noun(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    nested = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not nested:
        yield from _arguments(name, "", parser)
        return
    helps = {choice.dest: choice.help or "" for choice in nested[0]._choices_actions}
    for verb, inner in nested[0].choices.items():
        yield from _arguments(f"{name} {verb}", helps.get(verb, ""), inner)


def _arguments(title: str, said: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    shown = [a for a in parser._actions if a.dest not in {*DJANGO_OPTIONS, "as_json"}]
    usage = " ".join(map(_usage, shown))
    yield f"`{' '.join(filter(None, (title, usage)))}`" + (f": {said}\n" if said else "\n")
    for action in shown:
        if action.help:
            yield f"- `{_label(action)}`: {_help(action)}"
    yield ""


def _label(action: argparse.Action) -> str:
    return ", ".join(action.option_strings) or str(action.metavar or action.dest)


def _usage(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest).upper()
    if not action.option_strings:
        return f"[{value}]" if action.nargs in ("?", "*") else value
    told = " ".join(filter(None, (action.option_strings[0], value)))
    return told if action.required else f"[{told}]"


def _help(action: argparse.Action) -> str:
    values = {**vars(action), "prog": "manage.py"}
    return " ".join((action.help or "").split()) % values


def variables(folder: Path) -> list[Variable]:
    """What the modules of `folder` read from the environment, the tables of a team first."""
    found = [one for path in sorted(folder.glob("*.py")) for one in _in_module(path.read_text())]
    return sorted(found, key=lambda one: (one.name.startswith("KOPT_"), one.name))


def _in_module(text: str) -> Iterator[Variable]:
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and (name := _name(node)):
            default, accepted = _values(node)
            yield Variable(name, default, accepted, _comment(lines, node.lineno))


def _name(node: ast.Call) -> str:
    first = node.args[0] if node.args else None
    read = ast.unparse(node.func)
    if not (read == "os.environ.get" or read.startswith("env.")):
        return ""
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


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


def _comment(lines: list[str], number: int) -> str:
    """The comment right above line `number` (from 1)."""
    said: list[str] = []
    for line in reversed(lines[: number - 1]):
        if not line.strip().startswith("#"):
            break
        said.insert(0, line.strip().removeprefix("#").strip())
    return " ".join(said)


def settings_page(folder: Path = ROOT / "kopt") -> str:
    """docs/settings.md."""
    rows = [
        f"| `{one.name}` | {one.default} | {one.accepted} | {one.meaning} |"
        for one in variables(folder)
    ]
    return SETTINGS_HEAD + "\n".join(rows) + "\n" + SETTINGS_TAIL


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
    first = ["| question | file | found | device | measured |", "|---|---|---|---|---|", *found]
    second = ["", "| file | command |", "|---|---|", *commands]
    return BENCHMARKS_HEAD + "\n".join([*first, *second]) + "\n" + BENCHMARKS_TAIL


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
        for path in stale:
            place = os.path.relpath(path, ROOT)
            told = f"{place}: not as the code says; run `python -m tools.reference`"
            print(told, file=sys.stderr)
        return 1 if stale else 0
    for path, text in written.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
