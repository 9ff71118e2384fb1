"""Config classes, what each gains, and the dispatch split that diverging ones call for (R19).

The columns of a class are real parameters of the problem's cases, named by its author, never a
label.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from campaigns.rules.noise.gain import Gain, improved, regressed
from campaigns.rules.verdict.decision import Gate, GateOutcome, Reason, stopped
from campaigns.rules.wording import share

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


STRATEGY = "dispatch split"
SPLIT = "split"
# Verdicts on kernels that passed every gate except speed; no other kernel is usable in a split.
_SOUND = frozenset(
    (
        *(Reason.PROMOTED, Reason.SLOWER, Reason.CASE_REGRESSED, Reason.WITHIN_NOISE),
        *(Reason.NEEDS_SECOND_SESSION, Reason.NOT_REPEATED),
    )
)


@dataclass(frozen=True, slots=True)
class Call:
    """The split that a round calls for. taken: the classes that run faster with the other kernel.

    reversed: the round was accepted, so the other kernel is the previous incumbent.
    """

    divergence: Divergence
    taken: tuple[tuple[str, Gain], ...]
    reversed: bool

    @property
    def expected(self) -> tuple[tuple[str, float], ...]:
        """Class → its expected gain against the incumbent at that time."""
        return tuple(
            (name, 1 / (1 + gain.gain) - 1 if self.reversed else gain.gain)
            for name, gain in self.taken
        )


def call_for_split(reason: Reason, gains: Mapping[str, Gain], noise: float) -> Call | None:
    """The split that a verdict with this reason and these gains by class calls for, or None."""
    apart = divergence(gains, noise)
    if apart is None or reason not in _SOUND:
        return None
    accepted = reason is Reason.PROMOTED
    return Call(apart, apart.losers if accepted else apart.winners, accepted)


def expected_saving(call: Call, cases: Mapping[str, int]) -> float:
    """The share of the time, over all cases, that the split should save. cases: class → count."""
    total = sum(cases.values())
    logs = math.fsum(
        cases.get(name, 0) * math.log1p(gain) for name, gain in call.expected if gain > -1
    )
    return 1 - math.exp(-logs / total) if total else 0.0


def judge_split(
    gains: Mapping[str, Gain], clock: Mapping[str, Gain], taken: frozenset[str], noise: float
) -> GateOutcome:
    """A split is kept only if each class that takes the variant gains and no other class loses.

    clock: the same by the judge's clock if device time decides; both must agree.
    """
    limit = f"{', '.join(sorted(taken))} gains more than {share(noise)}, and no other class loses"
    clocks = (gains, clock) if clock else (gains,)
    for told in clocks:
        lost = [name for name, g in told.items() if name not in taken and regressed(g, noise)]
        if lost:
            found = _told(min(lost, key=lambda name: told[name].gain), told)
            sentence = f"Rejected: the split makes another class slower, {found}."
            return stopped(SPLIT, found, limit, Reason.CLASS_REGRESSED, sentence)
    for told in clocks:
        for name in sorted(taken):
            if name not in told or not improved(told[name], noise):
                found = _told(name, told)
                sentence = f"No change shown: {found}, and the split is for that class."
                return stopped(SPLIT, found, limit, Reason.CLASS_NOT_GAINED, sentence)
    return GateOutcome(
        Gate(SPLIT, True, ", ".join(_told(name, gains) for name in sorted(taken)), limit)
    )


def _told(name: str, gains: Mapping[str, Gain]) -> str:
    gain = gains.get(name)
    if gain is None:
        return f"{name}: not measured"
    return f"{name}: {gain.over('the incumbent')}"
