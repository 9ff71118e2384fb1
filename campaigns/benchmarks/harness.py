"""The frame of every benchmark: how one is declared, what it runs in, and the report it writes."""

from __future__ import annotations

import os
import platform
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from django.db import connection

from campaigns.devices.discover import Device
from campaigns.devices.hold import hold
from knowledge.lookup.database import ask_no_more

Progress = Callable[[str], None]
Row = Mapping[str, object]


class BenchmarkError(Exception):
    """A benchmark cannot run or be finished; the message says why, in one line."""


Option = tuple[str, dict[str, Any]]
"""A flag, and what argparse is told of it."""


def option(flag: str, **words: Any) -> Option:
    """An option; its default stands in its help where the help does not name one."""
    if words.get("default") not in (None, "") and "default" not in words.get("help", ""):
        words["help"] = "; ".join(filter(None, (words.get("help"), f"default: {words['default']}")))
    return flag, words


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows with the same keys, which are the columns. notes: sentences above the table."""

    title: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What a benchmark found, and once it is finished how that came about.

    device: None where no device has a part in it. held: False where the verdict is bad, or could
    not be reached. packages: those whose versions matter. measured_at: when it ended.
    """

    title: str
    question: str
    device: Device | None
    verdict: str
    tables: Sequence[ReportTable]
    held: bool = True
    packages: Sequence[str] = ()
    notes: Sequence[str] = ()
    command: str = ""
    measured_at: str = ""
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """The same as JSON takes it."""
        return {
            "benchmark": self.title,
            "question": self.question,
            "device": self.device.name if self.device else "",
            "measured_at": self.measured_at,
            "seconds": round(self.seconds, 1),
            "command": self.command,
            "versions": dict(self.versions),
            "verdict": self.verdict,
            "held": self.held,
            "tables": {table.title: [dict(row) for row in table.rows] for table in self.tables},
        }

    def as_markdown(self) -> str:
        """The same for people; `tools.reference` reads the list at its head."""
        known = ", ".join(f"{name} {value}" for name, value in sorted(self.versions.items()))
        lines = [
            f"# {self.title}",
            "",
            f"- question: {self.question}",
            f"- found: {self.verdict}",
            f"- measured: {self.measured_at}, in {self.seconds:.0f} s",
            f"- device: {self.device.name if self.device else 'any'}",
            f"- command: `{self.command}`",
            f"- versions: {known}",
        ]
        for note in self.notes:
            lines += ["", note]
        for table in self.tables:
            lines += ["", f"## {table.title}", "", *_written(table)]
        return "\n".join(lines) + "\n"


def _written(table: ReportTable) -> list[str]:
    notes = [line for note in table.notes for line in (note, "")]
    if not table.rows:
        return notes[:-1] or ["None."]
    columns = list(table.rows[0])
    numeric = [isinstance(table.rows[0][column], int | float) for column in columns]
    ruler = "|".join("--:" if right else "---" for right in numeric)
    lines = [f"| {' | '.join(columns)} |", f"|{ruler}|"]
    lines += [f"| {' | '.join(_cell(row[column]) for column in columns)} |" for row in table.rows]
    return [*notes, *lines]


def _cell(value: object) -> str:
    """Floats have four significant digits; a sequence is its members with spaces between."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(_cell, value))
    return "–" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A verb of `bench`. run: takes the values of its options, and whom to tell how far it is."""

    name: str
    help: str
    options: Sequence[Option]
    run: Callable[[Namespace, Progress], BenchReport]

    def finish(self, command: str, options: Namespace, progress: Progress) -> BenchReport:
        """Run it. Raises what it raises."""
        begun = time.monotonic()
        report = self.run(options, progress)
        return replace(
            report,
            command=command,
            measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=time.monotonic() - begun,
            versions=versions(report.device, *report.packages),
        )


DEVICE = option("--device", help="cpu or cuda:<index>; default: the one measured on")


def require(options: Namespace, **limits: tuple[int, int | None]) -> None:
    """Raise BenchmarkError for an option outside of its least and most; None: no most."""
    for name, (least, most) in limits.items():
        given = getattr(options, name)
        if given < least or (most is not None and given > most):
            accepted = f"{least} or more" if most is None else f"{least} to {most}"
            flag = name.replace("_", "-")
            raise BenchmarkError(f"--{flag} {given}: {accepted} is accepted")


@contextmanager
def held(device: Device) -> Iterator[Path]:
    """The device for us alone, and a folder to work in. Raises DeviceBusy."""
    with hold(device), TemporaryDirectory(prefix="kopt-bench-") as folder:
        yield Path(folder)


@contextmanager
def own_database() -> Iterator[Path]:
    """Point the connection at a fresh database with all tables, and back afterwards.

    On SQLite it is a file, on PostgreSQL a database of the same server with `test_` before its
    name. Also a folder to work in. Both are gone afterwards.
    """
    ask_no_more()
    before = connection.settings_dict["NAME"]
    test = connection.settings_dict["TEST"]
    with TemporaryDirectory(prefix="kopt-bench-") as folder:
        if connection.vendor == "sqlite":
            test["NAME"] = str(Path(folder) / "bench.sqlite3")
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield Path(folder)
        finally:
            connection.creation.destroy_test_db(str(before), verbosity=0)


def database_name() -> str:
    """The connected database with its version: "postgresql 15.20"."""
    numbers = ".".join(map(str, connection.get_database_version()))
    return f"{connection.vendor} {numbers}"


def times_row(question: str, times_ms: Sequence[float], limit: str = "") -> Row:
    """Median and 19 of 20 of what was timed; without two times there are none."""
    known = len(times_ms) > 1
    return {
        "question": question,
        "asked": len(times_ms),
        "median ms": median(times_ms) if known else None,
        "p95 ms": p95(times_ms) if known else None,
        "max ms": max(times_ms) if known else None,
        "held to": limit,
    }


def p95(times: Sequence[float]) -> float:
    """19 of 20 are faster."""
    return quantiles(times, n=20)[-1]


def versions(device: Device | None, *packages: str) -> dict[str, str]:
    """Versions of Python, the host, the device and these packages; "missing" without one."""
    found = {
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cores": str(os.cpu_count()),
        "load at the end": f"{os.getloadavg()[0]:.1f}",
    }
    if device:
        found |= {name: str(value) for name, value in device.detail.items()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found
