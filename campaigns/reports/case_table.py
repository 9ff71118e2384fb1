"""What a round's report says: one row a case, and what its worker saw around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from campaigns.evaluator.contract import CaseReport, Moment, Report
from campaigns.records.cases import MeasuredCase, measured_case
from campaigns.records.verdicts import CaseResult
from campaigns.reports.rows import RoundRow
from campaigns.rules.noise.drift import LEAST_OTHERS, LEAST_PRESSURE, LEAST_STOLEN, on_gpu
from campaigns.rules.noise.passport import Conditions, Length, Range, told_floor
from campaigns.rules.target.ceilings import CampaignTarget, CaseTarget
from campaigns.rules.verdict.case_limits import CaseEffect, GuardPolicy, case_effect
from campaigns.rules.wording import NamedNumber, counted, digits, share


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case. checked: of the sessions whose times `result` has; of a report before a verdict.

    result: None before a verdict. facts: how it was timed; None before a report. time_us: None
    where the round proves no time.
    """

    name: str
    result: CaseResult | None
    checked: MeasuredCase
    facts: CaseReport | None
    target: CaseTarget | None
    effect: CaseEffect | None
    time_us: float | None = None

    @property
    def share(self) -> float | None:
        """Floor over time; of `target.limit`."""
        floor = self.target.floor_us if self.target else None
        if not floor or not self.time_us:
            return None
        return NamedNumber(floor / self.time_us, f"share of {getattr(self.time_us, 'name', '')}")


def case_rows(
    row: RoundRow,
    report: Report | None,
    target: CampaignTarget,
    guard: GuardPolicy = GuardPolicy.DEFAULT,
) -> tuple[CaseRow, ...]:
    """What a round's verdict says about each case, the worst gain first; a report's before it."""
    by_result = {result.case: result for result in row.results}
    by_fact = {fact.case: fact for fact in report.cases} if report else {}
    checked = {name: result.checked for name, result in by_result.items()}
    checked = checked or {name: measured_case(fact) for name, fact in by_fact.items()}
    rows: list[tuple[bool, float, CaseRow]] = []
    for name, found in checked.items():
        result, fact, known = by_result.get(name), by_fact.get(name), target.cases.get(name)
        gain = result.gain if result else None
        effect = case_effect(gain, row.noise, guard) if gain and row.noise else None
        case = CaseRow(name, result, found, fact, known, effect, row.times.get(name))
        rows.append((found.correct, gain.gain if gain else 0.0, case))
    return tuple(case for _, _, case in sorted(rows, key=lambda one: one[:2]))


UNTOLD = "–"


@dataclass(frozen=True, slots=True)
class SeenTable:
    """The moments of one evaluation. rows: case, when, and a cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def seen_table(report: Report | None) -> SeenTable | None:
    """Every moment of a report as a row; columns that the host does not report are left out."""
    if report is None or not report.surroundings:
        return None
    gpu = any(map(on_gpu, report.cases))
    others = "Other processes" if gpu else "CPUs used by others"

    def cells(moment: Moment) -> dict[str, str]:
        return {
            "Case": moment.case,
            "After block": str(moment.block) if moment.block else "none yet",
            "Clock, MHz": _number(moment.clock_mhz, "{:,.0f}".format),
            "Temperature, °C": _number(moment.temperature_c, "{:.0f}".format),
            "Power, W": _number(moment.power_w, "{:.0f}".format),
            "Held down by": ", ".join(moment.throttled) or UNTOLD,
            others: _number(moment.others, "{:.0f}".format if gpu else "{:.1f}".format),
            "Load": _number(moment.load, "{:.1f}".format),
            "Tasks waited": _number(moment.pressure, share),
            "Stolen": _number(moment.stolen, share),
        }

    rows = list(map(cells, report.surroundings))
    always = ("Case", "After block")
    shown = [n for n in rows[0] if n in always or any(row[n] != UNTOLD for row in rows)]
    return SeenTable(tuple(shown), tuple(tuple(row[name] for name in shown) for row in rows))


def conditions_words(seen: Conditions) -> list[tuple[str, str]]:
    """What was seen while a passport was taken: a name and a range with its unit."""
    told = [
        ("clock", _range(seen.clock_mhz, "{:,.0f}".format, " MHz")),
        ("temperature", _range(seen.temperature_c, "{:.0f}".format, " °C")),
        ("power", _range(seen.power_w, "{:.0f}".format, " W")),
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
    """Say that others used the host during a measurement, in one line; "" where they hardly did."""
    if report is None or not report.surroundings:
        return ""
    gpu = any(map(on_gpu, report.cases))
    others, pressure, stolen = (
        max(getattr(moment, name) or 0.0 for moment in report.surroundings)
        for name in ("others", "pressure", "stolen")
    )
    found = []
    if gpu and others >= 1:
        found.append(f"others ran up to {counted(round(others), 'task')} on the device")
    if not gpu and others >= LEAST_OTHERS:
        found.append(f"others used up to {others:.1f} CPUs")
    if pressure >= LEAST_PRESSURE:
        found.append(f"tasks waited for a CPU up to {share(pressure)} of the time")
    if stolen >= LEAST_STOLEN:
        found.append(f"the hypervisor took up to {share(stolen)} of the time")
    return f"Busy host while this was measured: {', '.join(found)}." if found else ""


def _number(value: float | None, write: Callable[[float], str]) -> str:
    return UNTOLD if value is None else write(value)


def _range(found: Range | None, write: Callable[[float], str], unit: str) -> str:
    if found is None:
        return ""
    low, high = write(found.low), write(found.high)
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
