"""How a candidate divides its work over the device: waves of blocks, intensity of a tile (R4).

Launches come from the runner's own tracer. They inform people; no floor, stop or verdict uses them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from campaigns.evaluator.contract import KernelLaunch, Param, Report, Source
from campaigns.models import Campaign
from campaigns.records.target.utilisation import UNIT_NAMES
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.target.tiles import Waves, matmul_tile
from campaigns.rules.verdict.report_words import launch_words
from campaigns.rules.wording import digits, duration
from campaigns.syntax.tunables import find_tunables
from knowledge.lookup.value import cited_or_none, unit_count, unknown_words
from knowledge.specs.cited import UNKNOWN, Cited

NOT = "N/A: "
NO_LAUNCH = f"{NOT}no launch was traced; the backend has none, or the tracer reported nothing"
NO_TILE = f"{NOT}the bytes of a block are known only for a matrix product"
# The numbers of a source that say how large a tile is: two sides, or one for both.
SIDES = (("BLOCK_M", "BLOCK_N"), ("TILE", "TILE"))


@dataclass(frozen=True, slots=True)
class CaseSplit:
    """One case. launch, waves, time and tile are in words; time is empty where it has no floor."""

    case: str
    launch: str
    waves: str
    time: str
    tile: str


@dataclass(frozen=True, slots=True)
class Splits:
    """Every case that was timed, and the cited number of units that the waves were counted with."""

    cases: tuple[CaseSplit, ...]
    units: Cited | None

    @property
    def nothing(self) -> tuple[str, ...]:
        """Why no case has anything to show, each reason once; empty where one has."""
        if any(one.launch != NO_LAUNCH or not one.tile.startswith(NOT) for one in self.cases):
            return ()
        said = (text for one in self.cases for text in (one.launch, one.tile))
        return tuple(text.removeprefix(NOT) for text in dict.fromkeys(said))


def splits_of(
    campaign: Campaign, report: Report | None, source: Source, target: CampaignTarget
) -> Splits:
    """The splits of one evaluation of `source`; empty without a timed case."""
    timed = [(case.case, case.candidate) for case in report.cases] if report else []
    arms = {name: arm.launch for name, arm in timed if arm}
    units = threads = sides = None
    if any(arms.values()):
        units = unit_count(campaign.platform)
        threads = cited_or_none(campaign.platform, "max_threads_per_sm")
    is_product = bool(arms) and campaign.problem.op == "matmul"
    params: dict[str, Mapping[str, Param]] = {}
    if is_product:
        sides = _sides(source, campaign.backend)
        params = {row.name: row.params for row in campaign.problem.cases.all()}
    found = []
    for name, launch in arms.items():
        tile = NO_TILE
        if is_product:
            tile = _tile(sides, params.get(name, {}), launch, campaign.problem.dtype)
        if launch is None:
            found.append(CaseSplit(name, NO_LAUNCH, NO_LAUNCH, "", tile))
            continue
        waves = _waves(launch, units, threads)
        case, time = target.cases.get(name), ""
        if waves and case and case.floor_us:
            bound = duration(waves.floor_us(case.floor_us))
            time = f"{duration(case.floor_us)} × {digits(waves.quantisation)} = {bound}"
        if waves is None or units is None:
            unknown = unknown_words(campaign.platform, *UNIT_NAMES)
            told = f"{math.prod(launch.grid):,} blocks; number of units: {unknown}"
        else:
            told = waves.words(UNIT_NAMES.get(units.metric, "unit"))
            told += "" if waves.waves else f"; how many run at once: {UNKNOWN}"
        found.append(CaseSplit(name, _launch_words(launch), told, time, tile))
    return Splits(tuple(found), units)


def _waves(launch: KernelLaunch, units: Cited | None, threads: Cited | None) -> Waves | None:
    """Blocks of a unit at the same time are from the tracer's estimate of occupancy.

    threads: of one unit, at the most. None where the number of units is not known.
    """
    if units is None:
        return None
    blocks, count = math.prod(launch.grid), int(units.value)
    if launch.occupancy_percent is None or threads is None:
        return Waves(blocks, count, None)
    at_once = round(launch.occupancy_percent / 100 * threads.value / math.prod(launch.block))
    # The estimate knows of no more blocks than there are, which says nothing of how many would fit.
    return Waves(blocks, count, max(1, min(at_once, math.ceil(blocks / count))))


def _launch_words(launch: KernelLaunch) -> str:
    grid, block = (" × ".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
    words = f"grid {grid}, block {block}, {launch_words(launch)}"
    more = launch.kernels - 1
    return f"{words}; the longest of {launch.kernels} kernels in a call" if more else words


def _sides(source: Source, backend: str) -> tuple[int, int] | None:
    """Rows and columns of the tile that the constants of a source name."""
    values = {t.name: t.value for t in find_tunables(source, backend)}
    for rows, columns in SIDES:
        pair = values.get(rows), values.get(columns)
        if pair[0] and pair[1]:
            return pair[0], pair[1]
    return None


def _tile(
    sides: tuple[int, int] | None,
    params: Mapping[str, Param],
    launch: KernelLaunch | None,
    dtype: str,
) -> str:
    sizes = [params.get(name) for name in ("M", "N", "K")]
    whole = [n for n in sizes if isinstance(n, int) and not isinstance(n, bool) and n > 0]
    width = re.search(r"\d+", dtype)
    if sides is None:
        names = " or ".join("/".join(dict.fromkeys(pair)) for pair in SIDES)
        return f"{NOT}the source names no tile ({names})"
    if len(whole) < len(sizes) or width is None:
        return f"{NOT}the case has no whole numbers M, N and K"
    (m, n, k), (rows, columns) = whole, sides
    tiles = -(-m // rows) * -(-n // columns)
    if launch is not None and math.prod(launch.grid) != tiles:
        blocks = math.prod(launch.grid)
        return f"{NOT}{rows} × {columns} makes {tiles:,} tiles, and {blocks:,} blocks were launched"
    tile = matmul_tile(rows, columns, k, int(width.group()) // 8)
    return f"{rows} × {columns} outputs: {digits(tile.intensity)} op/B in one tile"
