"""A time beside what the wiki has approved of a platform: shares, ridge, floor, waves (R4)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from campaigns.records.target.ceilings import MissingSpec, missing_spec
from campaigns.rules.target.ceilings import Ceilings
from campaigns.rules.target.roofline import MEASURED_SLACK, measured_slack
from campaigns.rules.target.tiles import Waves
from campaigns.rules.target.utilisation import Utilisation, utilisation_under
from campaigns.rules.wording import digits, duration, share
from knowledge.lookup.value import (
    ACCUMULATES,
    bandwidth_ceilings,
    compute_ceilings,
    host_busy_share,
    how_to_obtain,
    unit_count,
    unknown_words,
)
from knowledge.models import Platform
from knowledge.specs.cited import Cited, EvidenceClass

LACKING = "there is no share of it"
UNIT_NAMES = {"sm_count": "SM", "cu_count": "CU"}


@dataclass(frozen=True, slots=True)
class TimedCall:
    """One call: its time, and the work that was done in it; None is not asked about.

    blocks: over which the work is spread evenly.
    """

    time_us: float
    flops: float | None = None
    bytes: float | None = None
    blocks: int | None = None

    @property
    def needs(self) -> dict[str, float]:
        """Question → amount of work."""
        given = {"bandwidth": self.bytes, "compute": self.flops}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class UtilisationSheet:
    """The shares with the values that they rest on, and what was asked about but is unknown."""

    work: TimedCall
    found: Utilisation
    units: Cited | None
    busy: Cited | None
    missing: tuple[MissingSpec, ...]

    @property
    def citations(self) -> tuple[str, ...]:
        """The citation line of every value in use."""
        used = (*self.found.used, self.units, self.busy)
        return tuple(dict.fromkeys(one.citation for one in used if one))

    @property
    def facts(self) -> dict[str, Any]:
        """Plain data; None where it is unknown or was not asked about."""
        found, floor, waves = self.found, self.found.floor, self.found.waves
        return {
            **asdict(self.work),
            "shares": [asdict(one) | {"share": one.share} for one in found.shares],
            "flops_per_byte": found.intensity,
            "ridge_flops_per_byte": found.ridge.flops_per_byte,
            "bound": found.bound.value if found.bound else None,
            "floor_us": floor.floor_us if floor else None,
            "floor": floor.arithmetic if floor else None,
            "units": int(self.units.value) if self.units else None,
            "waves": waves.busiest if waves else None,
            "tile_floor_us": found.tile_floor_us,
            "waves_floor_us": found.waves_floor_us,
            "citations": list(self.citations),
            "missing": [asdict(one) for one in self.missing],
        }

    @property
    def lines(self) -> list[str]:
        """Text with a line for each fact."""
        found = self.found
        lines = [f"{one.question:9}  {one.words}" for one in found.shares]
        lines += [f"{one.question:9}  {one.shown}" for one in self.missing]
        side = ""
        if found.bound and found.intensity:
            side = f"; the work has {digits(found.intensity)} op/B: {found.bound} is the limit"
        lines.append(f"ridge      {found.ridge.text}{side}")
        if found.floor:
            reached = share(found.floor.floor_us / found.time_us)
            lines.append(
                f"floor      {found.floor.arithmetic}, {reached} of {duration(found.time_us)}"
            )
        if found.waves and self.units:
            lines.append(f"waves      {found.waves.words(UNIT_NAMES[self.units.metric])}")
        if found.tile_floor_us and found.waves_floor_us and found.floor and found.waves:
            most = share(found.floor.floor_us / found.waves_floor_us)
            lines.append(
                f"tile       {duration(found.tile_floor_us)} at the least, on one of "
                f"{found.waves.units} parts of the peak; {found.waves.busiest:,} in turn take "
                f"{duration(found.waves_floor_us)}, at most {most} of the peak"
            )
        return [*lines, *self.citations]


def utilisation_of(
    platform: Platform, dtype: str, work: TimedCall, accumulate: str = ACCUMULATES[0]
) -> UtilisationSheet:
    """Ask the wiki for the platform's ceilings, and place the time under them.

    Raises AbovePeakError, and ValueError for a number that is not above zero.
    """
    computes = compute_ceilings(platform, dtype, accumulate=accumulate)
    ceilings = Ceilings(tuple(bandwidth_ceilings(platform)), tuple(computes), {})
    missing = [
        missing_spec(platform, question, dtype, accumulate, LACKING)
        for question in ceilings.missing
        if question in work.needs
    ]
    units = waves = None
    if work.blocks is not None:
        units = unit_count(platform)
        if units is None:
            missing.append(_no_units(platform))
        else:
            waves = Waves(work.blocks, int(units.value))
    busy = host_busy_share(platform)
    found = utilisation_under(
        work.time_us,
        work.needs,
        ceilings,
        dtype=dtype,
        slack=measured_slack(busy.value) if busy else MEASURED_SLACK,
        waves=waves,
    )
    is_measured = found.floor and found.floor.limit.evidence == EvidenceClass.MEASURED
    return UtilisationSheet(work, found, units, busy if is_measured else None, tuple(missing))


def _no_units(platform: Platform) -> MissingSpec:
    names = " or ".join(UNIT_NAMES)
    shown = unknown_words(platform, *UNIT_NAMES)
    message = f"units: {shown}: no approved {names} of {platform.slug}; there are no waves."
    return MissingSpec("units", message, how_to_obtain(platform, next(iter(UNIT_NAMES))), shown)
