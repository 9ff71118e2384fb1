"""How a candidate divides its work over the device: waves of blocks, intensity of a tile (R4).

Launches come from the runner's own tracer. They inform people; no floor, stop or verdict uses them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from campaigns.evaluator.contract import CaseReport, KernelLaunch, Param, Report, Source
from campaigns.models import Campaign
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.target.tiles import Waves, matmul_tile
from campaigns.rules.verdict.report_words import launch_words
from campaigns.rules.wording import digits, duration
from campaigns.syntax.tunables import find_tunables
from knowledge.lookup.value import cited_or_none, unit_count
from knowledge.models import Platform
from knowledge.specs.cited import UNKNOWN, Cited

NOT = "N/A: "
NO_LAUNCH = f"{NOT}no launch was traced; the backend has none, or the tracer reported nothing"
NO_TILE = f"{NOT}the bytes of a block are known only for a matrix product"
# The numbers of a source that say how large a tile is: two sides, or one for both.
SIDES = (("BLOCK_M", "BLOCK_N"), ("TILE", "TILE"))
UNIT_NAMES = {"sm_count": "SM", "cu_count": "CU"}


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


@dataclass(frozen=True, slots=True)
class UnitLimits:
    """What a platform can hold at once. threads: of one unit, at the most; None is UNKNOWN."""

    units: Cited | None
    threads: Cited | None


def splits_of(
    campaign: Campaign, report: Report | None, source: Source, target: CampaignTarget
) -> Splits:
    """The splits of one evaluation of `source`; empty without a timed case."""
    timed = [case for case in (report.cases if report else ()) if case.candidate]
    if not timed:
        return Splits((), None)
    launched = any(case.candidate and case.candidate.launch for case in timed)
    device = _device(campaign.platform) if launched else UnitLimits(None, None)
    is_product = campaign.problem.op == "matmul"
    sides = _sides(source, campaign.backend) if is_product else None
    rows = campaign.problem.cases.all() if is_product else ()
    params = {row.name: row.params for row in rows}
    found = []
    for case in timed:
        launch = case.candidate.launch if case.candidate else None
        waves = _waves(launch, device)
        tile = NO_TILE
        if is_product:
            tile = _tile(sides, params.get(case.case, {}), launch, campaign.problem.dtype)
        found.append(
            CaseSplit(
                case=case.case,
                launch=_launch_words(launch),
                waves=_waves_words(waves, launch, device),
                time=_time(case, waves, target),
                tile=tile,
            )
        )
    return Splits(tuple(found), device.units)


def _device(platform: Platform) -> UnitLimits:
    threads = cited_or_none(platform, "max_threads_per_sm")
    return UnitLimits(unit_count(platform), threads)


def _waves(launch: KernelLaunch | None, device: UnitLimits) -> Waves | None:
    if launch is None or device.units is None:
        return None
    blocks, units = math.prod(launch.grid), int(device.units.value)
    return Waves(blocks, units, _at_once(launch, device, blocks / units))


def _at_once(launch: KernelLaunch, device: UnitLimits, even: float) -> int | None:
    """Blocks of a unit at the same time, from the tracer's estimate of occupancy."""
    if launch.occupancy_percent is None or device.threads is None:
        return None
    threads = launch.occupancy_percent / 100 * device.threads.value
    # The estimate knows of no more blocks than there are, which says nothing of how many would fit.
    return max(1, min(round(threads / math.prod(launch.block)), math.ceil(even)))


def _launch_words(launch: KernelLaunch | None) -> str:
    if launch is None:
        return NO_LAUNCH
    grid, block = (" × ".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
    words = f"grid {grid}, block {block}, {launch_words(launch)}"
    more = launch.kernels - 1
    return f"{words}; the longest of {launch.kernels} kernels in a call" if more else words


def _waves_words(waves: Waves | None, launch: KernelLaunch | None, device: UnitLimits) -> str:
    if launch is None:
        return NO_LAUNCH
    if waves is None or device.units is None:
        return f"{math.prod(launch.grid):,} blocks; number of units: {UNKNOWN}"
    words = waves.words(UNIT_NAMES.get(device.units.metric, "unit"))
    return words if waves.waves else f"{words}; how many run at once: {UNKNOWN}"


def _time(case: CaseReport, waves: Waves | None, target: CampaignTarget) -> str:
    known = target.cases.get(case.case)
    if waves is None or known is None or not known.floor_us:
        return ""
    bound = duration(known.floor_us * waves.quantisation)
    return f"{duration(known.floor_us)} × {digits(waves.quantisation)} = {bound}"


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
    width = re.search(r"\d+", dtype)
    if sides is None:
        return f"N/A: the source names no tile ({_names()})"
    if not _counts(sizes) or width is None:
        return "N/A: the case has no whole numbers M, N and K"
    m, n, k = (int(size) for size in sizes if size is not None)
    rows, columns = sides
    tiles = -(-m // rows) * -(-n // columns)
    if launch is not None and math.prod(launch.grid) != tiles:
        blocks = math.prod(launch.grid)
        return f"N/A: {rows} × {columns} makes {tiles:,} tiles, and {blocks:,} blocks were launched"
    tile = matmul_tile(rows, columns, k, int(width.group()) // 8)
    return f"{rows} × {columns} outputs: {digits(tile.intensity)} op/B in one tile"


def _counts(sizes: Iterable[object]) -> bool:
    return all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in sizes)


def _names() -> str:
    return " or ".join("/".join(dict.fromkeys(pair)) for pair in SIDES)
