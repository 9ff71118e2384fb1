"""Config classes: cases that a dispatcher would send the same way, and what each class gains (R19).

The columns are real parameters of the problem's cases, named by its author, never a label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from campaigns.rules.noise.gain import Gain, improved, regressed

_Kept = TypeVar("_Kept")


def class_of(params: Mapping[str, object], columns: Sequence[str]) -> str:
    """The class of one case, by its values: "D=1024", "M=1, N=4096"; "" without columns."""
    return ", ".join(f"{name}={params.get(name, '–')}" for name in columns)


def grouped(
    by_case: Mapping[str, _Kept], classes: Mapping[str, str]
) -> dict[str, dict[str, _Kept]]:
    """Class → its cases in their given order; a case without a class is left out."""
    found: dict[str, dict[str, _Kept]] = {}
    for case, kept in by_case.items():
        if name := classes.get(case):
            found.setdefault(name, {})[case] = kept
    return found


@dataclass(frozen=True, slots=True)
class Divergence:
    """One class gains and another loses, so a kernel for each would keep the gain."""

    winners: tuple[tuple[str, Gain], ...]
    losers: tuple[tuple[str, Gain], ...]

    @property
    def words(self) -> str:
        """One sentence with the interval and the pair count of each class."""
        return (
            f"Config classes differ: {_listed(self.winners)}, but {_listed(self.losers)}, each "
            "against the incumbent. Dispatching to a separate kernel per class could keep the gain."
        )


def divergence(gains: Mapping[str, Gain], noise: float) -> Divergence | None:
    """The reason for a split; None unless one class is shown to gain and another to lose."""
    winners = tuple((name, gain) for name, gain in gains.items() if improved(gain, noise))
    losers = tuple((name, gain) for name, gain in gains.items() if regressed(gain, noise))
    return Divergence(winners, losers) if winners and losers else None


def _listed(named: Iterable[tuple[str, Gain]]) -> str:
    return ", ".join(f"{name} {gain.brief}" for name, gain in named)
