"""What a round's report says: one row a case, and what its worker saw around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from campaigns.evaluator.contract import CaseReport, Moment, Report
from campaigns.records.verdicts import CaseResult
from campaigns.reports.rows import RoundRow
from campaigns.rules.noise.drift import LEAST_OTHERS, LEAST_PRESSURE, LEAST_STOLEN, on_gpu
from campaigns.rules.noise.passport import Conditions, Length, Range, told_floor
from campaigns.rules.target.ceilings import CampaignTarget, CaseTarget
from campaigns.rules.verdict.case_limits import CaseEffect, GuardPolicy, case_effect
from campaigns.rules.wording import counted, digits, share


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case; `result` is None before a verdict and `facts` None before a report.

    time_us: on the basis of all pages; None where the round proves no time.
    """

    name: str
    result: CaseResult | None
    facts: CaseReport | None
    target: CaseTarget | None
    effect: CaseEffect | None
    time_us: float | None = None

    @property
    def share(self) -> float | None:
        """Floor over time."""
        floor = self.target.floor_us if self.target else None
        return floor / self.time_us if floor and self.time_us else None


def case_rows(
    row: RoundRow,
    report: Report | None,
    target: CampaignTarget,
    floor: float,
    guard: GuardPolicy = GuardPolicy.DEFAULT,
) -> tuple[CaseRow, ...]:
    """Join what a round's verdict and report say about each case, the worst gain first.

    floor: the campaign's noise floor as a fraction.
    """
    by_result = {result.case: result for result in row.results}
    by_fact = {fact.case: fact for fact in report.cases} if report else {}
    rows = [
        CaseRow(
            name=name,
            result=by_result.get(name),
            facts=by_fact.get(name),
            target=target.cases.get(name),
            effect=_effect(by_result.get(name), floor, guard),
            time_us=row.times.get(name),
        )
        for name in dict.fromkeys([*by_result, *by_fact])
    ]
    return tuple(sorted(rows, key=_worst_first))


def _effect(result: CaseResult | None, floor: float, guard: GuardPolicy) -> CaseEffect | None:
    if result is None or result.gain is None:
        return None
    return case_effect(result.gain, floor, guard)


def _worst_first(row: CaseRow) -> tuple[bool, float]:
    wrong = row.facts is not None and not row.facts.correct
    gain = row.result.gain.gain if row.result and row.result.gain else 0.0
    return (not wrong, gain)


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
