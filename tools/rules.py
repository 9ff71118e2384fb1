"""Write docs/rules.md: each rule, the modules that enforce it, the tests that prove it.

Nothing of the table is written by hand. A module enforces a rule when a docstring of it names the
rule (R12); a test proves it when its own name does (`test_r12_…`). `OPEN` says what a rule still
lacks, and a test holds that each rule is either open or has both.

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
SHOWN = 3

TITLES: Mapping[int, str] = {
    1: "A confirmed campaign keeps its goal, cases, protocol and seeds",
    2: "One table leads from a device's name to product, architecture and compiler target",
    3: "A hardware value has a cited line; what is missing is UNKNOWN and blocks",
    4: "Rooflines of kernel and tile, from cited ceilings; no roof above the peak",
    5: "Bandwidth ceilings of every size, cold and warm, by one convention",
    6: "A target states its metric, basis and fraction",
    7: "The environment is checked by numbers, and says what is missing",
    8: "A device is measured on when it is idle, by one holder, without preempting anybody",
    9: "A campaign works in a folder of its own and never in a user's tree",
    10: "Device time, cold and warm, host and graph are kept apart, with every sample",
    11: "Incumbent and candidate are timed in turn; the gain has a bootstrap interval",
    12: "Faster means clear of zero and above this worker's noise",
    13: "No protected case may get slower",
    14: "Cases are averaged geometrically; forward and backward by the combined step",
    15: "Correct by element, by norm and in its specials, on several seeds and hostile inputs",
    16: "Every phase has limits of its own; running out of time is an outcome",
    17: "Up to three repairs in a round, with the same hypothesis",
    18: "A quick level for screening, the full one before an accept",
    19: "Verdicts by config class; a divergence may become a dispatch split",
    20: "Caches that a benchmark feeds give no gain",
    21: "A gain states how much of it reaches real use",
    22: "Grouped operators are tried on skewed distributions",
    23: "Profiles belong to one round, tool, kernel and case",
    24: "Every counter has a unit, a scale and a meaning",
    25: "One bottleneck class by ordered rules, with its evidence",
    26: "Findings with confidence and evidence, beside the class",
    27: "A hypothesis rests on evidence about the incumbent",
    28: "Machine code in numbers: widths, spills, hot lines",
    29: "Occupancy with its limiter and the next step",
    30: "Over-fetch and cache hits by formula",
    31: "Machine-code targets are tracked round by round",
    32: "One round, one strategy; a sweep is one round",
    33: "A hypothesis has all of its fields",
    34: "What was expected is held against what came",
    35: "Searches are logged with their sources",
    36: "The same idea is not tried twice without a reason",
    37: "Every attempt is kept, good or bad",
    38: "Recommendations rank evidence of like kernels on like devices",
    39: "Experience merges without losing a row, and travels",
    40: "A partial restart masks some attempts, never v0 or the best",
    41: "Lessons have four fields and rounds to rest on",
    42: "A catalogue of strategies with ids",
    43: "Accepted is what passes every gate, by stored samples alone",
    44: "A rollback goes to the incumbent",
    45: "Numbers are never used again, and what is closed stays as it is",
    46: "Each accepted round is a commit that says why",
    47: "Of equals within noise the earliest is the best",
    48: "Rounds without a gain climb a ladder of measures",
    49: "A campaign stops with a reason; the roofline is a success",
    50: "Seventeen states, one table of transitions, resumable anywhere",
    51: "No round opens before the last one is complete and closed",
    52: "One report, made of records",
    53: "Trends and boards of a campaign",
    54: "A kernel is looked at by its syntax, not by its words",
    55: "Formatting before a commit changes no code, or is proven again",
    56: "The server's state refuses what is out of order",
    57: "What a campaign costs is counted by phase",
    58: "A search over accepted rounds finds where something changed",
    59: "A long job shows life, or is found dead",
    60: "Kernels run in a sandbox; what people store is escaped",
}

OPEN: Mapping[int, str] = {
    **dict.fromkeys((23, 24, 25, 26, 28, 29, 30, 31), "profiles"),
    27: "evidence from a profile",
    32: "a warning for edits of several strategies",
    33: "scope and bottleneck",
    34: "gains for another reason, which need a profile",
    35: "a log of searches",
    36: "ids with class and parameters",
    **dict.fromkeys((37, 38, 39, 41, 42), "experience"),
    43: "spills and formatting",
    52: "remaining opportunities and applicability",
    53: "boards",
    54: "framework paths",
    57: "costs",
}


def enforced(root: Path = ROOT) -> Mapping[int, list[str]]:
    """Rule → the modules whose docstrings name it."""
    found: dict[int, set[str]] = defaultdict(set)
    for path in _sources(root, CODE):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                for number in NAMED.findall(ast.get_docstring(node) or ""):
                    found[int(number)].add(path.relative_to(root).as_posix())
    return {number: sorted(paths) for number, paths in found.items()}


def proven(root: Path = ROOT) -> Mapping[int, list[str]]:
    """Rule → the tests that are named after it, as pytest selects them."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in _sources(root, ("tests",)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and (named := PROOF.match(node.name)):
                found[int(named[1])].append(f"{path.relative_to(root).as_posix()}::{node.name}")
    return {number: sorted(names) for number, names in found.items()}


def missing(root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the rules, a line each; nothing where all is well."""
    modules, tests = enforced(root), proven(root)
    for number in {*modules, *tests} - {*TITLES}:
        yield f"R{number}: no such rule; accepted: R1 to R{max(TITLES)}"
    for number in TITLES:
        lacks = [
            words
            for words, found in (("no module names it", modules), ("no test proves it", tests))
            if number not in found
        ]
        if lacks and number not in OPEN:
            yield f"R{number}: {' and '.join(lacks)}"


def table(root: Path = ROOT) -> str:
    """The whole of docs/rules.md."""
    modules, tests = enforced(root), proven(root)
    done = len(TITLES) - len(OPEN)
    lines = [
        "# Rules",
        "",
        "What holds in code, by the numbers that tests and docstrings use. Written by "
        "`.venv/bin/python -m tools.rules`; `make test` fails when it is not as the code says.",
        "",
        f"{done} of {len(TITLES)} rules hold whole; of the others it is said what they still lack.",
        "",
        "| rule | what it says | enforced by | proven by | still open |",
        "|---|---|---|---|---|",
    ]
    for number, title in TITLES.items():
        cells = (
            f"R{number}",
            title,
            _shown(modules.get(number, [])),
            _shown(tests.get(number, [])),
            OPEN.get(number, ""),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _sources(root: Path, folders: tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        found = sorted((root / folder).rglob("*.py"))
        yield from (path for path in found if "migrations" not in path.parts)


def _shown(names: list[str]) -> str:
    """The first few, and how many more there are."""
    more = f"<br>and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return "<br>".join(f"`{name}`" for name in names[:SHOWN]) + more


def main(arguments: list[str]) -> int:
    """Write or check; the exit code."""
    wrong = list(missing())
    for line in wrong:
        print(line, file=sys.stderr)
    if arguments == ["--check"]:
        if TABLE.is_file() and TABLE.read_text() == table():
            return 1 if wrong else 0
        words = "docs/rules.md: not as the code says; run `.venv/bin/python -m tools.rules`"
        print(words, file=sys.stderr)
        return 1
    TABLE.write_text(table())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
