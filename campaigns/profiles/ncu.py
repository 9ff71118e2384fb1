"""Read what `ncu --csv --page raw` prints: a table with a row a launch, units in its second row."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from campaigns.profiles.metrics import COUNTERS, METRICS, SCALES, Unit

ACCEPTED = "what `ncu --csv --page raw` prints, with all of its lines"
FIRST, NAME = "ID", "Kernel Name"
# Counters that say nothing of a launch.
NOTHING = ("", "n/a", "no data")
MOST_LAUNCHES = 10_000


class ProfileError(ValueError):
    """A file that is no profile. line: in it, from 1."""

    def __init__(self, name: str, line: int, words: str) -> None:
        super().__init__(f"{name}:{line}: {words}")


@dataclass(frozen=True, slots=True)
class KernelProfile:
    """One launch. values: by the names of `metrics.METRICS`; what was not counted is left out.

    odd: counters that had no number, with what stood there.
    """

    kernel: str
    values: dict[str, float]
    odd: dict[str, str] = field(default_factory=dict)

    def ratio(self, above: str, below: str) -> float | None:
        """One value over another; None where one is missing or the divisor is 0."""
        top, bottom = self.values.get(above), self.values.get(below)
        return top / bottom if top is not None and bottom else None


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


def one_of(found: Sequence[KernelProfile], pattern: str, name: str) -> KernelProfile:
    """The first launch of the one kernel that the pattern finds. Raises ProfileError.

    Several kernels are never merged: the numbers of one say nothing of another.
    """
    try:
        hits = [one for one in found if re.search(pattern, one.kernel)]
    except re.error as error:
        raise ProfileError(name, 1, f"kernel: {pattern!r} is no pattern: {error}") from None
    kernels = sorted({one.kernel for one in hits or found})
    if not hits:
        raise ProfileError(name, 1, f"kernel: {pattern!r} finds none of {', '.join(kernels)}")
    if len(kernels) > 1:
        raise ProfileError(name, 1, f"kernel: {pattern!r} finds several: {', '.join(kernels)}")
    return hits[0]


def _head(cells: list[str], name: str, line: int) -> list[str]:
    if NAME not in cells or COUNTERS.isdisjoint(cells):
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
        if math.isfinite(number) and number >= 0:
            values[metric.name] = number
        else:
            odd[metric.counter] = text[:40]
    return KernelProfile(told[NAME][0], values, odd)


def _units(unit: Unit) -> str:
    return ", ".join(text for text, (own, _) in SCALES.items() if own is unit) or "no unit"
