"""How much of a device's cited peaks a measured time uses, and which of them holds it back (R4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from campaigns.rules.target.ceilings import QUESTIONS, Ceilings
from campaigns.rules.target.roofline import (
    MEASURED_SLACK,
    Bound,
    Floor,
    MemoryLevel,
    Ridge,
    Work,
    choose_ceiling,
    limit_floor,
    place,
    ridges,
)
from campaigns.rules.target.tiles import Waves
from campaigns.rules.wording import amount, duration, share
from knowledge.specs.cited import Cited, EvidenceClass

_MICROSECONDS = 1e6


class AbovePeakError(ValueError):
    """More than a cited peak allows: the time or the work is wrong. The message shows both."""


@dataclass(frozen=True, slots=True)
class CeilingShare:
    """What was reached beside one ceiling, in its unit. question: bandwidth or compute."""

    question: str
    achieved: float
    ceiling: Cited

    @property
    def share(self) -> float:
        return self.achieved / self.ceiling.value

    @property
    def words(self) -> str:
        """One line: "3.33 TB/s, 69.4 % of memory_bandwidth 4.8 TB/s (documented)"."""
        name = f"{self.ceiling.metric} {self.ceiling.display} ({self.ceiling.evidence})"
        return f"{amount(self.achieved, self.ceiling.unit)}, {share(self.share)} of {name}"


@dataclass(frozen=True, slots=True)
class Utilisation:
    """A time beside the ceilings of what was done in it.

    shares: of each question the peak, then the ceiling that a target would rest on, where that is
    another. floor: the time that the peaks allow; None where none is known. bound: None without
    both kinds of work and both peaks.
    """

    time_us: float
    shares: tuple[CeilingShare, ...]
    ridge: Ridge
    floor: Floor | None
    bound: Bound | None = None
    intensity: float | None = None
    waves: Waves | None = None

    @property
    def tile_floor_us(self) -> float | None:
        """The least time of one block on the rate of one unit."""
        return self.waves.tile_floor_us(self.floor.floor_us) if self.waves and self.floor else None

    @property
    def waves_floor_us(self) -> float | None:
        """The least time of all blocks in their waves; never below the floor."""
        return self.waves.floor_us(self.floor.floor_us) if self.waves and self.floor else None

    @property
    def used(self) -> tuple[Cited, ...]:
        """Every ceiling that a number here rests on, once."""
        found = [one.ceiling for one in self.shares]
        found += [one for one in (self.ridge.bandwidth, self.ridge.compute) if one]
        return tuple(dict.fromkeys(found))


def utilisation_under(
    time_us: float,
    needs: Mapping[str, float],
    ceilings: Ceilings,
    *,
    dtype: str,
    slack: float = MEASURED_SLACK,
    waves: Waves | None = None,
) -> Utilisation:
    """Place a time. needs: question → bytes or operations of one call; what is not given is absent.

    slack: how far a measured ceiling may be exceeded; a documented one may not. Raises
    AbovePeakError, and ValueError for a time or an amount that is not above zero.
    """
    for name, value in {"time_us": time_us, **needs}.items():
        if not value > 0:
            raise ValueError(f"{name}: {value!r}; accepted: above zero")
    known = {"bandwidth": ceilings.bandwidths, "compute": ceilings.computes}
    peaks = {name: peak_of(found) for name, found in known.items()}
    shares, floors = [], []
    for name, need in needs.items():
        peak, chosen = peaks[name], choose_ceiling(known[name])
        if peak is None or chosen is None:
            continue
        achieved = need / time_us * _MICROSECONDS
        shares += [CeilingShare(name, achieved, one) for one in dict.fromkeys((peak, chosen))]
        floors.append(limit_floor(need, [peak], QUESTIONS[name], slack))
        if time_us < floors[-1].floor_us:
            raise AbovePeakError(_above(shares[-1 if peak == chosen else -2], need, time_us))
    bandwidth, compute = peaks["bandwidth"], peaks["compute"]
    placed = None
    if needs.keys() == QUESTIONS.keys():
        placed = place(Work(needs["compute"], needs["bandwidth"]), bandwidth, compute)
    (ridge,) = ridges({dtype: [c for c in [compute] if c]}, _dram(bandwidth))
    return Utilisation(
        time_us,
        tuple(shares),
        ridge,
        max(floors, key=lambda floor: floor.floor_us, default=None),
        placed.bound if placed else None,
        placed.work.intensity if placed else None,
        waves,
    )


def peak_of(ceilings: Sequence[Cited]) -> Cited | None:
    """The highest documented ceiling; where none is documented, the highest of all."""
    documented = [one for one in ceilings if one.evidence == EvidenceClass.DOCUMENTED]
    return max(documented or ceilings, key=lambda one: one.value, default=None)


def _dram(bandwidth: Cited | None) -> dict[MemoryLevel, list[Cited]]:
    return {MemoryLevel.DRAM: [bandwidth] if bandwidth else []}


def _above(reached: CeilingShare, need: float, time_us: float) -> str:
    done = f"{amount(need, reached.ceiling.unit.removesuffix('/s'))} in {duration(time_us)}"
    cached = ", or the bytes came out of a cache" if reached.question == "bandwidth" else ""
    return (
        f"{reached.question}: {done} would be {reached.words}: the time or the work is wrong"
        f"{cached}: {reached.ceiling.citation}"
    )
