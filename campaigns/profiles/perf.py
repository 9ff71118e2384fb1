"""Read what `perf stat -x ,` writes of a kernel on a CPU, and what follows from it.

A row is value, unit, event, time that it was counted (ns), share of the time, … ("CSV FORMAT" of
perf-stat's manual). Events are those of "Symbolic event types" in perf-list's: Linux gives each
maker's counters these names. Ratios follow by formula. A value of an event that was counted for a
part of the time is perf's own estimate for all of it.
"""

from __future__ import annotations

import re

from campaigns.profiles.kernel_profile import (
    MOST,
    KernelProfile,
    Metric,
    ProfileError,
    Unit,
    Vendor,
)

ACCEPTED = "what `perf stat -x , -o FILE -e cycles,instructions,… ./program` writes"
# The function of a candidate that makes one call.
KERNEL = "solve"
_SOURCE = "perf-list, symbolic event types"
_COUNTED = tuple(
    Metric(name, event, Unit.COUNT, meaning, source=_SOURCE)
    for name, event, meaning in (
        ("cycles", "cycles", "cycles of the counted calls"),
        ("instructions", "instructions", "instructions of the counted calls"),
        ("cache_references", "cache-references", "accesses to the last cache"),
        ("cache_misses", "cache-misses", "of them went to memory"),
        ("branches", "branches", "branches of the counted calls"),
        ("branch_misses", "branch-misses", "of them were predicted wrongly"),
    )
)
_FOLLOWING = (
    Metric("ipc", "instructions / cycles", Unit.PER_CYCLE, "instructions", source="by formula"),
    Metric(
        "cache_miss_pct", "cache-misses / cache-references", Unit.PERCENT,
        "of the accesses to the last cache went to memory", source="by formula",
    ),
    Metric(
        "branch_miss_pct", "branch-misses / branches", Unit.PERCENT,
        "of the branches were predicted wrongly", source="by formula",
    ),
)  # fmt: skip
METRICS: dict[str, Metric] = {one.name: one for one in (*_COUNTED, *_FOLLOWING)}
# What `perf stat -e` is asked for.
DEFAULT_COUNTERS = tuple(one.counter for one in _COUNTED)
_BY_EVENT = {one.counter: one.name for one in _COUNTED}
_RATIOS = (
    ("ipc", "instructions", "cycles", 1.0),
    ("cache_miss_pct", "cache_misses", "cache_references", 100.0),
    ("branch_miss_pct", "branch_misses", "branches", 100.0),
)
# An event with its unit of the CPU before it ("cpu_core/cycles/") and modifiers behind.
_EVENT = re.compile(r"(?:\w+/)?([a-z-]+)(?:[/:][a-zA-Z]*)*")
_NOTHING = ("<not supported>", "<not counted>")


def is_stat(text: str) -> bool:
    """Whether its first row is one of perf's; its head, with the date, comes with -o alone."""
    rows = (row for row in text.splitlines() if row.strip() and not row.startswith("#"))
    cells = next(rows, "").split(",")
    return len(cells) > 2 and cells[0][:1] in {*"<-0123456789"} and bool(_EVENT.fullmatch(cells[2]))


def read_stat(text: str, name: str) -> tuple[KernelProfile, ...]:
    """The one launch of a file: all counted calls together. Raises ProfileError.

    A processor with two kinds of cores has a row for each; they are added up.
    """
    values: dict[str, float] = {}
    odd: dict[str, str] = {}
    for line, row in enumerate(text.splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            continue
        cells = row.split(",")
        event = _EVENT.fullmatch(cells[2]) if len(cells) > 2 else None
        if event is None:
            raise ProfileError(name, line, f"{row[:40]!r} is no row of it; accepted: {ACCEPTED}")
        metric = _BY_EVENT.get(event[1])
        if metric is None:
            continue
        number = _number(cells[0])
        if number is None:
            if cells[0] not in _NOTHING:
                words = f"{event[1]} is {cells[0][:40]!r}, no number from 0"
                raise ProfileError(name, line, f"{words}; accepted: {ACCEPTED}")
            odd[event[1]] = cells[0]
        else:
            values[metric] = values.get(metric, 0.0) + number
    if not values:
        told = f" ({', '.join(sorted({*odd.values()}))})" if odd else ""
        raise ProfileError(name, 1, f"nothing was counted{told}; accepted: {ACCEPTED}")
    for ratio, above, below, scale in _RATIOS:
        if above in values and values.get(below):
            values[ratio] = scale * values[above] / values[below]
    return (KernelProfile(KERNEL, values, odd, Vendor.CPU),)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= MOST else None
