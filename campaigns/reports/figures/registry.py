"""Every figure of a campaign: its name in addresses, and how it is drawn from a sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from campaigns.charts import case_heat, kernel_parts, phase_times, roof_share
from campaigns.charts.case_heat import CaseHeat
from campaigns.charts.claimed import ClaimedChart
from campaigns.charts.drawing import Drawing
from campaigns.charts.marks import Chart, NoChart
from campaigns.charts.passport import PassportChart
from campaigns.charts.sweep_course import CourseChart
from campaigns.charts.sweep_strips import StripsChart
from campaigns.records.time_spent import spent_by_phase
from campaigns.reports.figures import facts
from campaigns.reports.pictures import deltas_of, progress_of, roofline_of
from campaigns.reports.sheet import CampaignSheet

if TYPE_CHECKING:
    from pandas import DataFrame

AnyChart = (
    Chart | Drawing | CaseHeat | PassportChart | ClaimedChart | CourseChart | StripsChart | NoChart
)
# What the address may ask: parameter → its values, the usual one first. Those of a case are the
# campaign's own.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "x": ("round", "time"),
    "case": (),
}


@dataclass(frozen=True, slots=True)
class FigureQuery:
    """A sheet with what the address asks of a figure. link: round number → address."""

    sheet: CampaignSheet
    link: facts.Link
    x: str = ""
    case: str = ""

    def __post_init__(self) -> None:
        for name, known in self.options.items():
            value = getattr(self, name)
            if value and value not in known:
                accepted = ", ".join(known) or "nothing: no case is known yet"
                raise ValueError(f"{name}: {value[:80]!r}; accepted: {accepted}")

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """Parameter → what it may be."""
        return {**OPTIONS, "case": tuple(self.sheet.target.cases)}

    def chosen(self, name: str) -> str:
        """The value of a parameter; the usual one where the address has none."""
        value: str = getattr(self, name)
        return value or next(iter(self.options[name]), "")


@dataclass(frozen=True, slots=True)
class FigureKind:
    """One figure. options: the parameters that it heeds."""

    name: str
    draw: Callable[[FigureQuery], AnyChart]
    options: tuple[str, ...] = ()


def _roof(asked: FigureQuery) -> AnyChart:
    by_time = asked.chosen("x") == "time"
    points = facts.shares(asked.sheet, asked.link, by_time=by_time)
    x_title = "hours since the campaign began" if by_time else "round"
    target = asked.sheet.target
    return roof_share.build(points, target.fraction, target.roof_words, x_title)


def _parts(asked: FigureQuery) -> AnyChart:
    case = asked.chosen("case")
    return kernel_parts.build(facts.parts_of(asked.sheet, asked.link, case), case)


def _phases(asked: FigureQuery) -> AnyChart:
    spent = spent_by_phase(asked.sheet.campaign, timezone.now())
    return phase_times.build(facts.phases_of(spent))


_KINDS = (
    FigureKind("progress", lambda asked: progress_of(asked.sheet, asked.link)),
    FigureKind(
        "roofline",
        lambda asked: roofline_of(asked.sheet, asked.link, asked.chosen("case")),
        ("case",),
    ),
    FigureKind("deltas", lambda asked: deltas_of(asked.sheet, asked.link)),
    FigureKind(
        "heatmap", lambda asked: case_heat.build(facts.gains_by_case(asked.sheet, asked.link))
    ),
    FigureKind("roof", _roof, ("x",)),
    FigureKind("parts", _parts, ("case",)),
    FigureKind("phases", _phases),
)
FIGURES: Mapping[str, FigureKind] = {kind.name: kind for kind in _KINDS}


def table_of(chart: AnyChart) -> DataFrame:
    """Exactly what is drawn, a row a mark. Raises LookupError for a figure that cannot be drawn."""
    # Only here: pandas takes a second to load, which no other page should wait for.
    from pandas import DataFrame

    if isinstance(chart, NoChart):
        raise LookupError(chart.sentence)
    if not isinstance(chart, Chart):
        return DataFrame(list(chart.table.records()))
    return DataFrame([_record(chart, row.point, row.values) for row in chart.rows])


def _record(chart: Chart, point: Any, values: tuple[float | None, ...]) -> dict[str, Any]:
    columns = dict(zip(chart.columns, values, strict=True))
    return {"Round": point.number, "Verdict": point.verdict.value, **columns}
