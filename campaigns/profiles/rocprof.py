"""Read what rocprofv3 writes of AMD's cards: counters of each dispatch, and a thread trace (R23).

`--pmc … --output-format csv` gives counter_collection.csv, a row a dispatch and counter, with the
columns that are read here: Dispatch_Id, Kernel_Name, Counter_Name and Counter_Value have to be
there; Grid_Size (work-items), Workgroup_Size, LDS_Block_Size, Scratch_Size, VGPR_Count,
Accum_VGPR_Count, SGPR_Count, and Start_Timestamp with End_Timestamp (ns) may be. Source:
"Using rocprofv3", kernel counter collection, of the documentation of rocprofiler-sdk.

`--att` gives stats_….csv with Codeobj, Vaddr, Instruction, Hitcount, Latency, Stall, Idle, Source;
counts and cycles are sums over the traced waves. A row "; name" without hits begins a kernel, with
its full name as Source. Source: "Using thread trace", Stats CSV, of the same documentation, and the
part of rocprofiler-sdk that writes the file. Kinds of stalls by opcode are those of FlyDSL's
kernel-trace analysis.

Tested against files of the documented format only: no AMD card was at hand.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from campaigns.profiles.amd import DEFAULT_COUNTERS, METRICS, OTHER_NAMES, Card, completed
from campaigns.profiles.kernel_profile import (
    MOST,
    MOST_LAUNCHES,
    HotLine,
    KernelProfile,
    ProfileError,
    Vendor,
)

COUNTERS = "counter_collection.csv of `rocprofv3 --pmc … --output-format csv`, with all of its rows"
TRACE = "stats_….csv of `rocprofv3 --att`, with all of its rows"
COUNTER_COLUMNS = ("Dispatch_Id", "Kernel_Name", "Counter_Name", "Counter_Value")
TRACE_COLUMNS = ("Instruction", "Hitcount", "Latency", "Stall", "Idle", "Source")
BEGIN, END = "Start_Timestamp", "End_Timestamp"
ITEMS, GROUP = "Grid_Size", "Workgroup_Size"
# Of one trace: what a reader can look at.
MOST_LINES = 20
BY_COUNTER = {one.counter: one for one in METRICS.values()}
# The first that begins an instruction counts; a wait for both counters is one for memory.
STALL_KINDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), f"stall_{kind}")
    for pattern, kind in (
        (r"s_waitcnt.*vmcnt|s_wait_(load|store)cnt", "long_scoreboard"),
        (r"s_waitcnt.*lgkmcnt|s_wait_(ds|km)cnt", "short_scoreboard"),
        (r"s_barrier", "barrier"),
        (r"(buffer|global|flat|scratch)_", "lg_throttle"),
        (r"ds_", "mio_throttle"),
        (r"s_(buffer_)?(load|store)_", "scalar_memory"),
        (r"v_", "math_pipe_throttle"),
    )
)


@dataclass(slots=True)
class _Dispatch:
    """One launch of one pass. line: its first row's. shape: columns that every pass has alike."""

    kernel: str
    line: int
    shape: dict[str, float]
    values: dict[str, float] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)


def read_counters(files: Mapping[str, str], card: Card | None = None) -> tuple[KernelProfile, ...]:
    """The launches in the order of the first file. files: name → text, one a pass.

    Passes are runs of their own: a kernel's nth launch of one is its nth of the others. Where a
    counter or a time is in several, the first one counts. A counter that kopt does not know is left
    out. card: what the formulas of `amd.completed` need of it. Raises ProfileError for what is cut
    off, no number, or not alike in all passes.
    """
    passes = {name: _by_launch(name, text) for name, text in files.items()}
    first, launches = next(iter(passes.items()))
    if not any(one.values for found in passes.values() for one in found.values()):
        known = ", ".join(DEFAULT_COUNTERS)
        raise ProfileError(first, 1, f"no counter that kopt reads; accepted: {known}")
    for name, found in passes.items():
        _check_alike(first, launches, name, found)
    profiles = []
    for key, launch in launches.items():
        values: dict[str, float] = {}
        for found in passes.values():
            values = {**found[key].shape, **found[key].values, **values}
        profiles.append(KernelProfile(launch.kernel, completed(values, card), vendor=Vendor.AMD))
    return tuple(profiles)


def read_trace(text: str, name: str) -> tuple[KernelProfile, ...]:
    """The kernels that were traced, each with its stalls and hottest lines. Raises ProfileError.

    A stall is in waves' cycles an executed instruction, as ncu counts it. Rows before the first
    kernel's name belong to a kernel with the file's name.
    """
    kernels: dict[str, list[tuple[dict[str, str], dict[str, float]]]] = {}
    kernel = name
    for line, row in _rows(text, name, TRACE_COLUMNS, TRACE):
        counts = {each: _number(row, each, name, line, TRACE) for each in TRACE_COLUMNS[1:5]}
        if row["Instruction"].startswith(";"):
            kernel = row["Source"] or row["Instruction"][1:].strip()
        elif counts["Hitcount"]:
            kernels.setdefault(kernel, []).append((row, counts))
    if not kernels:
        words = "no instruction was traced: no wave ran on the traced compute unit"
        raise ProfileError(name, 1, f"{words}; accepted: {TRACE}")
    return tuple(_traced(kernel, rows) for kernel, rows in kernels.items())


def _traced(kernel: str, rows: list[tuple[dict[str, str], dict[str, float]]]) -> KernelProfile:
    hits, stalled, cycles = (
        sum(counts[each] for _, counts in rows) for each in ("Hitcount", "Stall", "Latency")
    )
    cycles += sum(counts["Idle"] for _, counts in rows)
    values: dict[str, float] = defaultdict(float)
    lines = []
    for row, counts in rows:
        if not counts["Stall"]:
            continue
        kind, stall = _kind(row["Instruction"]), counts["Stall"]
        values[kind] += stall / hits
        told = row["Instruction"], row["Source"], kind
        lines.append(HotLine(*told, stall, stall / stalled, counts["Hitcount"]))
    if cycles:
        values["stalled_pct"] = 100 * min(1.0, stalled / cycles)
    hottest = tuple(sorted(lines, key=lambda one: -one.waited)[:MOST_LINES])
    return KernelProfile(kernel, dict(values), vendor=Vendor.AMD, lines=hottest)


def _kind(instruction: str) -> str:
    found = (kind for pattern, kind in STALL_KINDS if pattern.match(instruction))
    return next(found, "stall_other")


def _by_launch(name: str, text: str) -> dict[tuple[str, int], _Dispatch]:
    """A pass: kernel and number of its launch → the launch."""
    dispatches: dict[str, _Dispatch] = {}
    for line, row in _rows(text, name, COUNTER_COLUMNS, COUNTERS):
        one = dispatches.get(row["Dispatch_Id"])
        if one is None:
            one = _Dispatch(row["Kernel_Name"], line, _shape(row, name, line))
            dispatches[row["Dispatch_Id"]] = one
        if one.kernel != row["Kernel_Name"]:
            words = f"dispatch {row['Dispatch_Id']} is of {one.kernel} in line {one.line}"
            raise ProfileError(name, line, f"{words}; accepted: {COUNTERS}")
        if len(dispatches) > MOST_LAUNCHES:
            raise ProfileError(name, line, f"over {MOST_LAUNCHES} launches; profile fewer")
        number = _number(row, "Counter_Value", name, line, COUNTERS)
        counter = row["Counter_Name"]
        if counter in one.counted:
            words = f"{counter} stands twice for dispatch {row['Dispatch_Id']}"
            raise ProfileError(name, line, f"{words}; accepted: {COUNTERS}")
        one.counted.add(counter)
        if metric := BY_COUNTER.get(OTHER_NAMES.get(counter, counter)):
            one.values[metric.name] = number * metric.scale
    seen: dict[str, int] = defaultdict(int)
    found = {}
    for one in dispatches.values():
        found[one.kernel, seen[one.kernel]] = one
        seen[one.kernel] += 1
    return found


def _shape(row: dict[str, str], name: str, line: int) -> dict[str, float]:
    """What the columns of a row say of its launch. What an older version lacks is left out."""
    shape = {
        metric.name: _number(row, column, name, line, COUNTERS) * metric.scale
        for column, metric in BY_COUNTER.items()
        if column in row
    }
    if ITEMS in row and shape.get("block"):
        shape["grid"] = math.ceil(_number(row, ITEMS, name, line, COUNTERS) / shape["block"])
    if BEGIN in row and END in row:
        begin, end = (_number(row, each, name, line, COUNTERS) for each in (BEGIN, END))
        if end <= begin:
            words = f"{END} {row[END]} is not after {BEGIN} {row[BEGIN]}"
            raise ProfileError(name, line, f"{words}; accepted: {COUNTERS}")
        shape["duration_us"] = (end - begin) * METRICS["duration_us"].scale
    return shape


def _check_alike(
    first: str,
    launches: Mapping[tuple[str, int], _Dispatch],
    name: str,
    found: Mapping[tuple[str, int], _Dispatch],
) -> None:
    """Raises ProfileError where two passes have not the same launches of the same shapes."""
    accepted = "passes of one command"
    if apart := launches.keys() ^ found.keys():
        kernel, number = min(apart)
        there, lacks = (first, name) if (kernel, number) in launches else (name, first)
        words = f"launch {number + 1} of {kernel} is in {there} and not in {lacks}"
        raise ProfileError(name, 1, f"{words}; accepted: {accepted}")
    for key, one in found.items():
        # The time is of each run; the rest is of the launch.
        other = {**launches[key].shape, "duration_us": one.shape.get("duration_us")}
        if one.shape != {each: value for each, value in other.items() if value is not None}:
            words = f"{one.kernel} has another shape than in {first}:{launches[key].line}"
            raise ProfileError(name, one.line, f"{words}; accepted: {accepted}")


def _rows(
    text: str, name: str, columns: tuple[str, ...], accepted: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows by column, each with its line. Raises ProfileError for what is no whole table."""
    reader = csv.reader(io.StringIO(text), strict=True)
    head: list[str] = []
    empty = True
    try:
        for cells in reader:
            if not head:
                head = cells
                if lacking := [each for each in columns if each not in head]:
                    words = f"no column {', '.join(lacking)}; accepted: {accepted}"
                    raise ProfileError(name, reader.line_num, words)
            elif len(cells) != len(head):
                words = f"{len(cells)} cells where the head has {len(head)}: it is cut off"
                raise ProfileError(name, reader.line_num, f"{words}; accepted: {accepted}")
            else:
                empty = False
                yield reader.line_num, dict(zip(head, cells, strict=True))
    except csv.Error as error:
        raise ProfileError(name, reader.line_num, f"{error}; accepted: {accepted}") from None
    if empty:
        raise ProfileError(name, max(1, reader.line_num), f"no row; accepted: {accepted}")


def _number(row: dict[str, str], column: str, name: str, line: int, accepted: str) -> float:
    try:
        number = float(row[column])
    except ValueError:
        number = math.nan
    if not 0 <= number <= MOST:
        words = f"{column} is {row[column][:40]!r}, no number from 0; accepted: {accepted}"
        raise ProfileError(name, line, words)
    return number
