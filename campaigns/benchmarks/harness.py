"""What all benchmarks share: how one is declared, and the one form in which it reports."""

from __future__ import annotations

import os
import platform
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from campaigns.devices.discover import Device
from campaigns.devices.hold import hold

Progress = Callable[[str], None]
Row = Mapping[str, object]


class BenchmarkError(Exception):
    """A benchmark cannot run or be finished; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Option:
    """One command line option, in argparse's own words."""

    flag: str
    words: Mapping[str, Any]


def option(flag: str, **words: Any) -> Option:
    return Option(flag, words)


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows with the same keys, which are the columns. notes: sentences above the table."""

    title: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What a benchmark found. held: False where its verdict is bad, or could not be reached."""

    title: str
    device: str
    verdict: str
    tables: Sequence[ReportTable]
    held: bool = True
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A verb of `bench`. run: takes the values of its options, and whom to tell how far it is."""

    name: str
    help: str
    options: Sequence[Option]
    run: Callable[[Namespace, Progress], BenchReport]


DEVICE = option("--device", help="cpu or cuda:<index>; default: the one measured on")


@contextmanager
def held(device: Device) -> Iterator[Path]:
    """The device for us alone, and a folder to work in. Raises DeviceBusy."""
    with hold(device), TemporaryDirectory(prefix="kopt-bench-") as folder:
        yield Path(folder)


def versions(device: Device | None, *packages: str) -> dict[str, str]:
    """Of Python, the host, the device and these packages."""
    host = {
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cores": str(os.cpu_count()),
        "load at the end": f"{os.getloadavg()[0]:.1f}",
    }
    found = {package: _version(package) for package in packages}
    detail = device.detail.items() if device else ()
    return host | {name: str(value) for name, value in detail} | found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


@dataclass(frozen=True, slots=True)
class Finished:
    """A report with how it came about: the command, when it ended and how long it took."""

    report: BenchReport
    command: str
    measured_at: str
    seconds: float

    def as_data(self) -> dict[str, Any]:
        """The same as JSON takes it."""
        report = self.report
        return {
            "benchmark": report.title,
            "device": report.device,
            "measured_at": self.measured_at,
            "seconds": round(self.seconds, 1),
            "command": self.command,
            "versions": dict(report.versions),
            "verdict": report.verdict,
            "held": report.held,
            "tables": {table.title: [dict(row) for row in table.rows] for table in report.tables},
        }

    def as_markdown(self) -> str:
        """The same for people."""
        report = self.report
        known = ", ".join(f"{name} {value}" for name, value in sorted(report.versions.items()))
        where = f" on {report.device}" if report.device else ""
        lines = [
            f"# {report.title}{where}",
            "",
            f"Measured {self.measured_at} in {self.seconds:.0f} s by `{self.command}`; {known}.",
            "",
            f"**{report.verdict}**",
        ]
        for note in report.notes:
            lines += ["", note]
        for table in report.tables:
            lines += ["", f"## {table.title}", "", *_written(table)]
        return "\n".join(lines) + "\n"


def finish(benchmark: Benchmark, command: str, options: Namespace, progress: Progress) -> Finished:
    """Run it. Raises what it raises."""
    begun = time.monotonic()
    report = benchmark.run(options, progress)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Finished(report, command, now, time.monotonic() - begun)


def _written(table: ReportTable) -> list[str]:
    notes = [line for note in table.notes for line in (note, "")]
    if not table.rows:
        return notes[:-1] or ["None."]
    columns = list(table.rows[0])
    numeric = [isinstance(table.rows[0][column], int | float) for column in columns]
    lines = [
        f"| {' | '.join(columns)} |",
        f"|{'|'.join('--:' if right else '---' for right in numeric)}|",
    ]
    lines += [f"| {' | '.join(_cell(row[column]) for column in columns)} |" for row in table.rows]
    return [*notes, *lines]


def _cell(value: object) -> str:
    """Floats have four significant digits; a sequence is its members with spaces between."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str):
        return value
    return " ".join(map(_cell, value)) if isinstance(value, Sequence) else str(value)
