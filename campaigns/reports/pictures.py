"""A campaign's sheet → the three charts, each with links from its marks to their rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from campaigns.charts import deltas, progress, roofline
from campaigns.charts.marks import NoChart
from campaigns.records.explained.profiles import counted_bytes
from campaigns.reports.sheet import CampaignSheet
from campaigns.rules.noise.gain import geomean
from campaigns.rules.wording import share

Link = Callable[[int], str]
_MICROSECONDS = 1e6
# Before step 0 the ceilings are not read yet, so none is missing.
NOT_SET = "The roof is drawn once the target is set."


@dataclass(frozen=True, slots=True)
class Pictures:
    """What the chart templates draw. case: the one that the roofline is about."""

    progress: progress.ProgressChart | NoChart
    roofline: roofline.RooflineChart | NoChart
    deltas: deltas.DeltaChart | NoChart
    case: str
    cases: tuple[str, ...]


def pictures(sheet: CampaignSheet, link: Link, case: str = "") -> Pictures:
    """Draw a campaign. link: round number → address. case: for the roofline, else the first."""
    known = tuple(sheet.target.cases)
    shown = case if case in known else next(iter(known), "")
    return Pictures(
        progress=progress_of(sheet, link),
        roofline=roofline_of(sheet, link, shown),
        deltas=deltas_of(sheet, link),
        case=shown,
        cases=known,
    )


def progress_of(sheet: CampaignSheet, link: Link) -> progress.ProgressChart | NoChart:
    """How far to the target?"""
    times = [
        progress.ProgressPoint(
            row.number, row.word, link(row.number), row.time_us, row.incumbent_us
        )
        for row in sheet.rows
    ]
    return progress.build(times, _target(sheet))


def deltas_of(sheet: CampaignSheet, link: Link) -> deltas.DeltaChart | NoChart:
    """Was it real?"""
    gains = [
        deltas.DeltaPoint(row.number, row.word, link(row.number), row.gain, row.noise)
        for row in sheet.rows
        if row.gain and row.noise and row.number > 1
    ]
    return deltas.build(gains)


def _target(sheet: CampaignSheet) -> progress.TargetLine | None:
    times = [case.target_us for case in sheet.target.cases.values() if case.target_us]
    if not times or len(times) < len(sheet.target.cases):
        return None
    sources = tuple(progress.SourceLink(c.citation, c.href) for c in sheet.target.citations)
    formula = f"geometric mean of {len(times)} cases' floors ÷ {share(sheet.target.fraction)}"
    if len(times) == 1:
        formula = next(iter(sheet.target.cases.values())).formula
    return progress.TargetLine(geomean(times), formula, sources)


def roofline_of(sheet: CampaignSheet, link: Link, case: str) -> roofline.RooflineChart | NoChart:
    """Where is it on one case, and what bounds it?"""
    if not sheet.target.is_set:
        return NoChart("roofline", "Roofline", NOT_SET)
    known = sheet.target.cases.get(case)
    points = []
    for row in sheet.rows:
        # Of an invalid round, too, to be seen above the roof.
        time = next((one.time for one in row.results if one.case == case), None)
        if known and time:
            reached = known.flops / time.median * _MICROSECONDS
            number, href = row.number, link(row.number)
            points.append(roofline.RoofPoint(number, row.word, href, known.intensity, reached))
    return roofline.build(
        points,
        [roofline.Roof(cited) for cited in sheet.target.bandwidths],
        [roofline.Roof(cited) for cited in sheet.target.computes],
        sheet.target.fraction,
        case,
        known.flops / moved if known and (moved := counted_bytes(sheet.campaign, case)) else None,
    )
