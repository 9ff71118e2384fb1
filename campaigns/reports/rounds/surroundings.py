"""What went on around a measurement, in words and rows for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from campaigns.evaluator.contract import Moment, Report
from campaigns.rules.noise.drift import LEAST_OTHERS, LEAST_PRESSURE, LEAST_STOLEN, on_gpu
from campaigns.rules.noise.passport import Conditions, Length, Range, told_floor
from campaigns.rules.wording import counted, digits, share

UNTOLD = "–"


@dataclass(frozen=True, slots=True)
class SeenTable:
    """The moments of one evaluation. rows: case, when, and a cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def seen_table(report: Report | None) -> SeenTable | None:
    """Every moment of a report as a row; columns that the host does not report are left out."""
    moments = report.surroundings if report else ()
    if report is None or not moments:
        return None
    shown = [
        (title, write)
        for title, write in _columns(gpu=any(map(on_gpu, report.cases)))
        if any(write(moment) != UNTOLD for moment in moments)
    ]
    return SeenTable(
        columns=("Case", "After block", *(title for title, _ in shown)),
        rows=tuple(
            (moment.case, _when(moment), *(write(moment) for _, write in shown))
            for moment in moments
        ),
    )


def conditions_words(seen: Conditions) -> list[tuple[str, str]]:
    """What was seen while a passport was taken: a name and a range with its unit."""
    told = [
        ("clock", _range(seen.clock_mhz, lambda v: f"{v:,.0f}", " MHz")),
        ("temperature", _range(seen.temperature_c, lambda v: f"{v:.0f}", " °C")),
        ("power", _range(seen.power_w, lambda v: f"{v:.0f}", " W")),
        ("held down by", ", ".join(seen.throttled) or "nothing seen"),
        ("others on the device", _range(seen.others, lambda v: digits(v, 2), "")),
        ("load average", _range(seen.load, lambda v: digits(v, 2), "")),
        ("tasks waited", _range(seen.pressure, share, " of the time")),
        ("stolen", _range(seen.stolen, share, " of the time")),
    ]
    return [(name, words) for name, words in told if words]


def floors_words(lengths: Sequence[Length]) -> str:
    """The noise floor of each length: "34.3 µs: 1 %, 1.20 ms: 1.4 %"."""
    return ", ".join(map(told_floor, lengths))


def busy_words(report: Report | None) -> str:
    """That others used the host during a measurement, in one line; "" where they hardly did."""
    moments = report.surroundings if report else ()
    if report is None or not moments:
        return ""
    gpu = any(map(on_gpu, report.cases))
    worst = {
        name: max((getattr(moment, name) or 0.0 for moment in moments), default=0.0)
        for name in ("others", "pressure", "stolen")
    }
    found = []
    if gpu and worst["others"] >= 1:
        found.append(f"others ran up to {counted(round(worst['others']), 'task')} on the device")
    if not gpu and worst["others"] >= LEAST_OTHERS:
        found.append(f"others used up to {worst['others']:.1f} CPUs")
    if worst["pressure"] >= LEAST_PRESSURE:
        found.append(f"tasks waited for a CPU up to {share(worst['pressure'])} of the time")
    if worst["stolen"] >= LEAST_STOLEN:
        found.append(f"the hypervisor took up to {share(worst['stolen'])} of the time")
    return f"Busy host while this was measured: {', '.join(found)}." if found else ""


def _columns(*, gpu: bool) -> list[tuple[str, Callable[[Moment], str]]]:
    others = "Other processes" if gpu else "CPUs used by others"
    return [
        ("Clock, MHz", lambda m: _number(m.clock_mhz, lambda v: f"{v:,.0f}")),
        ("Temperature, °C", lambda m: _number(m.temperature_c, lambda v: f"{v:.0f}")),
        ("Power, W", lambda m: _number(m.power_w, lambda v: f"{v:.0f}")),
        ("Held down by", lambda m: ", ".join(m.throttled) or UNTOLD),
        (others, lambda m: _number(m.others, lambda v: f"{v:.0f}" if gpu else f"{v:.1f}")),
        ("Load", lambda m: _number(m.load, lambda v: f"{v:.1f}")),
        ("Tasks waited", lambda m: _number(m.pressure, share)),
        ("Stolen", lambda m: _number(m.stolen, share)),
    ]


def _when(moment: Moment) -> str:
    return str(moment.block) if moment.block else "none yet"


def _number(value: float | None, write: Callable[[float], str]) -> str:
    return UNTOLD if value is None else write(value)


def _range(found: Range | None, write: Callable[[float], str], unit: str) -> str:
    if found is None:
        return ""
    low, high = write(found.low), write(found.high)
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
