"""Write docs/rules.md anew: the modules that enforce each rule, and the tests that prove it.

What a rule says, and what it still lacks, is written in that table. The columns between are not: a
module enforces a rule when a docstring of it names the rule (R12), a test proves it when its own
name does (`test_r12_…`). A rule is either open or has both.

    python -m tools.rules          writes the table
    python -m tools.rules --check  says whether it is as the code says
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "rules.md"
CODE = ("campaigns", "knowledge", "kopt")
NAMED = re.compile(r"\bR(\d{1,2})\b")
PROOF = re.compile(r"test_r(\d{1,2})_")
ROW = re.compile(r"\| R(\d+) \| ([^|]+) \| [^|]* \| [^|]* \| ([^|]*) \|")
HEAD = """\
# Rules

What holds in code, by the numbers that tests and docstrings use. Written by \
`.venv/bin/python -m tools.rules`; `make test` fails when it is not as the code says.

{done} of {all} rules have both a module that enforces them and a test that proves them, and \
nothing known is open of them; of the others the last column says what is missing. In November \
2026 each clause of every rule was read beside the code and the tests that name it; where reading \
left a doubt, it was tried on a host without a GPU.

| rule | what it says | enforced by | proven by | still open |
|---|---|---|---|---|
"""
SHOWN = 3


def listed() -> dict[int, tuple[str, str]]:
    """Rule → what it says, and what is still open of it."""
    rows = filter(None, map(ROW.fullmatch, TABLE.read_text().splitlines()))
    return {int(row[1]): (row[2], row[3]) for row in rows}


def enforced(root: Path = ROOT) -> Mapping[int, list[str]]:
    """Rule → the modules whose docstrings name it."""
    found: dict[int, set[str]] = defaultdict(set)
    for path, node in _nodes(root, CODE):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            for number in NAMED.findall(ast.get_docstring(node) or ""):
                found[int(number)].add(path)
    return {number: sorted(paths) for number, paths in found.items()}


def proven(root: Path = ROOT) -> Mapping[int, list[str]]:
    """Rule → the tests that are named after it, as pytest selects them."""
    found: dict[int, list[str]] = defaultdict(list)
    for path, node in _nodes(root, ("tests",)):
        if isinstance(node, ast.FunctionDef) and (named := PROOF.match(node.name)):
            found[int(named[1])].append(f"{path}::{node.name}")
    return {number: sorted(names) for number, names in found.items()}


def missing(root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the rules, a line each; nothing where all is well."""
    rules, modules, tests = listed(), enforced(root), proven(root)
    for number in {*modules, *tests} - {*rules}:
        yield f"R{number}: no such rule; accepted: R1 to R{max(rules)}"
    for number, (_, still_open) in rules.items():
        lacks = [
            words
            for words, found in (("no module names it", modules), ("no test proves it", tests))
            if number not in found
        ]
        if lacks and not still_open:
            yield f"R{number}: {' and '.join(lacks)}"


def table(root: Path = ROOT) -> str:
    """The whole of docs/rules.md."""
    rules, modules, tests = listed(), enforced(root), proven(root)
    done = sum(not still_open for _, still_open in rules.values())
    text = HEAD.format(done=done, all=len(rules))
    for number, (says, still_open) in rules.items():
        by, proof = (_shown(found.get(number, [])) for found in (modules, tests))
        text += f"| R{number} | {says} | {by} | {proof} | {still_open} |\n"
    return text


def _nodes(root: Path, folders: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    """Every syntax node below these folders, with the path of its module."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                name = path.relative_to(root).as_posix()
                yield from ((name, node) for node in ast.walk(ast.parse(path.read_text())))


def _shown(names: list[str]) -> str:
    """The first few, and how many more there are."""
    more = f"<br>and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return "<br>".join(f"`{name}`" for name in names[:SHOWN]) + more


def main(arguments: list[str]) -> int:
    """Write or check; the exit code."""
    wrong, now = list(missing()), table()
    if arguments != ["--check"]:
        TABLE.write_text(now)
    elif TABLE.read_text() != now:
        wrong.append("docs/rules.md: not as the code says; run `.venv/bin/python -m tools.rules`")
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
