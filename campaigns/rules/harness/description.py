"""How a repository is built, tested and timed by itself, as a TOML file says (R9, R18, R19)."""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from campaigns.rules.wording import WordedEnum

NAME = re.compile(r"[a-z][a-z0-9-]{0,49}")
LONGEST_TEXT = 20_000
LONGEST_COMMAND = 1_000
# The name of the table of a benchmark that prints it.
PRINTED = "-"
SECONDS = range(1, 7201)
PAIRS = range(6, 61)
USUAL_SECONDS, USUAL_PAIRS = 600, 6
_ACCEPT = re.compile(r"(==|<=|>=|<|>)\s*(.+)")
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


class HarnessError(ValueError):
    """A description that cannot be used; one line names the field and what is accepted."""


class Score(WordedEnum):
    """How the rows of a table become one figure."""

    GEOMEAN = "geomean", "geometric mean of all rows"
    TOTAL = "total", "sum of all rows"
    WORST = "worst", "the class that gains least"


class Better(StrEnum):
    """Which way the metric improves."""

    LOWER = "lower"
    HIGHER = "higher"


@dataclass(frozen=True, slots=True)
class Accept:
    """When a row is right: its column compared with a number, or with a word."""

    sign: str
    limit: float | str

    def holds(self, value: object) -> bool:
        """Whether a cell of the table is right; an empty cell or a NaN never is."""
        if isinstance(self.limit, str):
            return str(value).strip() == self.limit
        try:
            return _OPERATORS[self.sign](float(str(value)), self.limit)
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"{self.sign} {self.limit}"


@dataclass(frozen=True, slots=True)
class Proof:
    """A problem that states what one of the files computes, by which kopt proves a change of it."""

    problem: str
    file: str


@dataclass(frozen=True, slots=True)
class Harness:
    """build, test: commands of a shell, "" for none. change: patterns of what a round may change.

    rebuild: patterns of what needs the build again. csv: path of the table, "-" for what the
    benchmark prints. metric, correct, classes: its columns. limit_s: of each command. pairs: how
    often incumbent and candidate are compared. proof: None where no file is a kernel by itself.
    """

    name: str
    build: str
    rebuild: tuple[str, ...]
    test: str
    benchmark: str
    limit_s: int
    pairs: int
    csv: str
    metric: str
    better: Better
    correct: str
    accept: Accept
    classes: tuple[str, ...]
    score: Score
    change: tuple[str, ...]
    proof: Proof | None = None

    def may_change(self, path: str) -> bool:
        return any(matches(path, pattern) for pattern in self.change)

    def needs_build(self, paths: tuple[str, ...]) -> bool:
        """Whether a change of these files needs the build command again."""
        return bool(self.build) and any(
            matches(path, pattern) for path in paths for pattern in self.rebuild
        )


def matches(path: str, pattern: str) -> bool:
    """Whether a path is the pattern's: `*` stands for any text, folders included."""
    return fnmatchcase(path, pattern.replace("**", "*"))


def read_harness(text: str) -> Harness:
    """Read and check a description. Raises HarnessError."""
    if len(text) > LONGEST_TEXT:
        raise HarnessError(f"harness: longer than {LONGEST_TEXT} characters")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HarnessError(f"harness: {error}; accepted: TOML") from None
    read = _Fields(text, data, "")
    table, files, proof = read.table("table"), read.table("files"), read.table_if_any("proof")
    found = Harness(
        name=read.matching("name", NAME, "small letters, digits and hyphens, up to 50"),
        build=read.command("build", needed=False),
        rebuild=read.patterns("rebuild", ("*",)),
        test=read.command("test", needed=False),
        benchmark=read.command("benchmark"),
        limit_s=read.number("limit_s", SECONDS, USUAL_SECONDS),
        pairs=read.number("pairs", PAIRS, USUAL_PAIRS),
        csv=table.path("csv"),
        metric=table.text("metric"),
        better=Better(table.one_of("better", Better, Better.LOWER)),
        correct=table.text("correct"),
        accept=table.accept("accept"),
        classes=table.texts("classes"),
        score=Score(table.one_of("score", Score, Score.GEOMEAN)),
        change=files.patterns("change"),
        proof=Proof(proof.text("problem"), proof.path("file")) if proof else None,
    )
    for one in filter(None, (table, files, proof, read)):
        one.end()
    return found


class _Fields:
    """One table of the TOML, from which fields are taken; errors name field and line."""

    def __init__(self, text: str, data: Mapping[str, Any], table: str) -> None:
        self._lines = text.splitlines()
        self._left = dict(data)
        self._table = table
        self._text = text

    def table(self, name: str) -> _Fields:
        found = self._left.pop(name, None)
        if not isinstance(found, dict):
            raise self._wrong(name, found, f"a table [{name}]")
        return _Fields(self._text, found, f"{name}.")

    def table_if_any(self, name: str) -> _Fields | None:
        return self.table(name) if name in self._left else None

    def text(self, name: str, most: int = 200) -> str:
        found = self._left.pop(name, None)
        fine = isinstance(found, str) and 0 < len(found.strip()) <= most and "\0" not in found
        if not fine:
            raise self._wrong(name, found, f"a text of at most {most} characters")
        return str(found).strip()

    def command(self, name: str, *, needed: bool = True) -> str:
        if not needed and name not in self._left:
            return ""
        return self.text(name, LONGEST_COMMAND)

    def matching(self, name: str, pattern: re.Pattern[str], accepted: str) -> str:
        found = self.text(name)
        if not pattern.fullmatch(found):
            raise self._wrong(name, found, accepted)
        return found

    def path(self, name: str) -> str:
        found = self.text(name)
        parts = found.split("/")
        if found != PRINTED and ("" in parts or ".." in parts or "." in parts):
            raise self._wrong(name, found, 'a path below the repository, or "-" for what it prints')
        return found

    def number(self, name: str, within: range, usual: int) -> int:
        found = self._left.pop(name, usual)
        if type(found) is not int or found not in within:
            raise self._wrong(name, found, f"{within[0]} to {within[-1]}")
        return found

    def one_of(self, name: str, kind: type[StrEnum], usual: StrEnum) -> str:
        found = self._left.pop(name, usual)
        if found not in set(kind):
            raise self._wrong(name, found, ", ".join(kind))
        return str(found)

    def texts(self, name: str, usual: tuple[str, ...] | None = None) -> tuple[str, ...]:
        found = self._left.pop(name, None if usual is None else list(usual))
        fine = isinstance(found, list) and found and all(isinstance(o, str) and o for o in found)
        if not fine or len(set(found)) < len(found):
            raise self._wrong(name, found, "a list of different texts")
        return tuple(found)

    def patterns(self, name: str, usual: tuple[str, ...] | None = None) -> tuple[str, ...]:
        found = self.texts(name, usual)
        for pattern in found:
            if pattern.startswith("/") or ".." in pattern.split("/"):
                raise self._wrong(name, pattern, 'patterns such as "src/*.py"')
        return found

    def accept(self, name: str) -> Accept:
        found = self.text(name)
        parts = _ACCEPT.fullmatch(found)
        accepted = 'a sign and a limit, such as "== 0", "<= 1e-3" or "== PASS"'
        if parts is None:
            raise self._wrong(name, found, accepted)
        sign, limit = parts[1], parts[2].strip()
        try:
            return Accept(sign, float(limit))
        except ValueError:
            if sign != "==":
                raise self._wrong(name, found, accepted) from None
            return Accept(sign, limit)

    def end(self) -> None:
        for name, found in self._left.items():
            raise self._wrong(name, found, "no such field")

    def _wrong(self, name: str, found: object, accepted: str) -> HarnessError:
        at = re.compile(rf"\s*\[?{re.escape(name)}\]?\s*(=|$)")
        line = next((n for n, line in enumerate(self._lines, 1) if at.match(line)), None)
        where = f"harness, line {line}" if line else "harness"
        told = "is missing" if found is None else f"{found!r:.80}"
        return HarnessError(f"{where}: {self._table}{name}: {told}; accepted: {accepted}")
