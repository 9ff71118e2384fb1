"""The program that keeps of ncu's report what kopt reads: counters, and where warps were seen.

Run in the box in which the report was written. Of a launch ncu prints some 540 columns, and of each
instruction 60; kept are the counters that were asked for, and samples by line of the source.
"""

from __future__ import annotations

import csv
import subprocess
from collections import Counter
from collections.abc import Container, Iterable
from pathlib import Path

from campaigns.evaluator.contract.programs import NCU_SAMPLES

REPORT, TABLE, SAMPLES = "profile.ncu-rep", "profile.csv", "samples.csv"
# Both views, since that of the source alone comes without numbers.
BY_LINE = ("--csv", "--page", "source", "--print-source", "cuda,sass")
# What begins a file or a kernel, in several versions of ncu.
FILE, KERNEL, LINE = ("File Path", "File Name"), ("Function Name", "Kernel Name"), "Line No"
STATE = "stall_"
# What stands before the counters of a launch.
ABOUT = ("ID", "Kernel Name", "Block Size", "Grid Size", "Device", "CC")
MOST_ROWS = 600


def main(ncu: str, counters: str) -> None:
    """counters: their names, with commas between. Exits with the status of ncu."""
    table = Path(TABLE).read_text().splitlines(keepends=True)
    begin = next((n for n, line in enumerate(table) if line.startswith(f'"{ABOUT[0]}",')), None)
    if begin is not None:
        rows = columns(table[begin:], {*ABOUT, *counters.split(",")})
        with Path(TABLE).open("w", newline="") as file:
            file.writelines(table[:begin])
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    command = [ncu, "--import", REPORT, *BY_LINE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listed:
        found = samples(listed.stdout or ())
    with Path(SAMPLES).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([NCU_SAMPLES, *found])
    raise SystemExit(listed.returncode)


def columns(table: Iterable[str], names: Container[str]) -> list[list[str]]:
    """The table with these columns alone; a row that is cut off stays as it is."""
    rows = list(csv.reader(table))
    kept = [at for at, name in enumerate(rows[0]) if name in names]
    return [[row[at] for at in kept] if len(row) == len(rows[0]) else row for row in rows]


def samples(printed: Iterable[str]) -> list[tuple[str, str, int, str, int]]:
    """Rows of `NCU_SAMPLES`, the most samples first; launches of one kernel are added up.

    printed: the page "source" with both views. A file is named without its folders.
    """
    found: Counter[tuple[str, str, int, str]] = Counter()
    file = kernel = ""
    head: list[str] = []
    for cells in csv.reader(printed):
        first = cells[0] if cells else ""
        if first in FILE:
            file = Path(cells[1]).name
        elif first in KERNEL:
            kernel = cells[1]
        elif first == LINE:
            head = cells
        elif first.isdecimal() and len(cells) == len(head):
            for name, value in zip(head, cells, strict=True):
                # Behind a name in brackets stand the samples of warps that were not issued, again.
                if name.startswith(STATE) and " " not in name and value.isdecimal():
                    found[kernel, file, int(first), name.removeprefix(STATE)] += int(value)
    return [(*where, number) for where, number in found.most_common(MOST_ROWS) if number]
