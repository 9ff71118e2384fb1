"""Read what ncu counted, a row a launch, and where its samples saw warps, line by line."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter, defaultdict

from campaigns.evaluator.contract.programs import NCU_SAMPLES
from campaigns.profiles.kernel_profile import (
    MOST,
    MOST_LAUNCHES,
    MOST_PCT,
    HotLine,
    KernelProfile,
    ProfileError,
    Unit,
    shown,
    untyped,
)
from campaigns.profiles.metrics import DEFAULT_COUNTERS, METRICS, SCALES

ACCEPTED = "what `ncu --csv --page raw` prints, with all of its lines"
FIRST, NAME = "ID", "Kernel Name"
# A sample's state → what it waits for, where a metric has another name. Those that wait for
# nothing are no stalls: an instruction is issued, or another warp's was.
STATES = {
    "dispatch": "dispatch_stall",
    "imc": "imc_miss",
    "lg": "lg_throttle",
    "long_sb": "long_scoreboard",
    "math": "math_pipe_throttle",
    "mio": "mio_throttle",
    "no_inst": "no_instruction",
    "short_sb": "short_scoreboard",
    "sleep": "sleeping",
    "tex": "tex_throttle",
}
NO_STALLS = ("selected", "not_selected")
MOST_LINES = 20
# What a candidate may have written is bounded: a number of a line or of samples, and a name.
WHOLE = re.compile(r"[0-9]{1,12}").fullmatch
PLACE_CHARACTERS = 80
# Counters that say nothing of a launch.
NOTHING = ("", "n/a", "no data")


def read_raw(text: str, name: str) -> tuple[KernelProfile, ...]:
    """The launches in their order. name: of the file, for errors. Raises ProfileError."""
    lines = text.splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith(f'"{FIRST}",')), None)
    if begin is None:
        raise ProfileError(name, 1, f"no table of launches; accepted: {ACCEPTED}")
    reader = csv.reader(io.StringIO("\n".join(lines[begin:])))
    found: list[KernelProfile] = []
    head: list[str] = []
    units: list[str] = []
    try:
        for cells in reader:
            line = begin + reader.line_num
            if not head:
                head = _head(cells, name, line)
            elif len(cells) != len(head):
                words = f"{len(cells)} cells where the head has {len(head)}: it is cut off"
                raise ProfileError(name, line, f"{words}; accepted: {ACCEPTED}")
            elif not units:
                units = cells
            else:
                told = dict(zip(head, zip(cells, units, strict=True), strict=True))
                found.append(_launch(name, line, told))
            if len(found) > MOST_LAUNCHES:
                raise ProfileError(name, line, f"over {MOST_LAUNCHES} launches; profile fewer")
    except csv.Error as error:
        raise ProfileError(
            name, begin + reader.line_num, f"{error}; accepted: {ACCEPTED}"
        ) from None
    if not found:
        raise ProfileError(name, len(lines), f"no launch was profiled; accepted: {ACCEPTED}")
    return tuple(found)


def read_samples(text: str, name: str) -> dict[str, tuple[HotLine, ...]]:
    """`untyped` kernel → its lines, the hottest first (R28), of a table of `NCU_SAMPLES`.

    Raises ProfileError.
    """
    waits: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    reader = csv.reader(io.StringIO(text))
    if next(reader, None) != [*NCU_SAMPLES]:
        raise ProfileError(name, 1, f"no samples; accepted: a table of {', '.join(NCU_SAMPLES)}")
    try:
        for cells in filter(None, reader):
            if len(cells) != len(NCU_SAMPLES) or not (WHOLE(cells[2]) and WHOLE(cells[4])):
                raise ProfileError(name, reader.line_num, f"accepted: {', '.join(NCU_SAMPLES)}")
            kernel, file, line, state, samples = cells
            if state not in NO_STALLS:
                place = waits[shown(untyped(kernel))][f"{file[:PLACE_CHARACTERS]}:{line}"]
                place[STATES.get(state, state[:PLACE_CHARACTERS])] += int(samples)
    except csv.Error as error:
        raise ProfileError(name, reader.line_num, f"{error}; accepted: samples") from None
    return {kernel: _hottest(own) for kernel, own in waits.items()}


def _hottest(waits: dict[str, Counter[str]]) -> tuple[HotLine, ...]:
    total = sum(states.total() for states in waits.values())
    lines = [
        HotLine("", source, f"stall_{states.most_common(1)[0][0]}", number, number / total)
        for source, states in waits.items()
        if (number := states.total())
    ]
    return tuple(sorted(lines, key=lambda one: -one.waited)[:MOST_LINES])


def _head(cells: list[str], name: str, line: int) -> list[str]:
    if NAME not in cells or set(DEFAULT_COUNTERS).isdisjoint(cells):
        raise ProfileError(name, line, f"no counter that kopt reads; accepted: {ACCEPTED}")
    return cells


def _launch(name: str, line: int, told: dict[str, tuple[str, str]]) -> KernelProfile:
    values: dict[str, float] = {}
    odd: dict[str, str] = {}
    for metric in METRICS.values():
        text, unit = told.get(metric.counter, ("", ""))
        if text.strip().lower() in NOTHING:
            continue
        own, scale = SCALES.get(unit, (metric.unit, 1.0))
        if own is not metric.unit:
            words = f"{metric.counter} is in {unit!r}; accepted: {_units(metric.unit)}"
            raise ProfileError(name, line, words)
        try:
            number = float(text.replace(",", "")) * scale
        except ValueError:
            number = math.nan
        if 0 <= number <= (MOST_PCT if own is Unit.PERCENT else MOST):
            values[metric.name] = number
        else:
            odd[metric.counter] = text[:40]
    return KernelProfile(shown(told[NAME][0]), values, odd)


def _units(unit: Unit) -> str:
    return ", ".join(text for text, (own, _) in SCALES.items() if own is unit) or "no unit"
