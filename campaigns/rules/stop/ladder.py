"""Measures after consecutive rounds without a gain, one per step of the ladder (R48)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.verdict.decision import UNJUDGED, Reason

LEAST_DIRECTIONS = 3
MOST_DIRECTIONS = 6
BY_PERSON = "needs a person"


class Rung(StrEnum):
    """A measure. The last step, the end after eight, is a limit of `rules.stop.policy`."""

    DIAGNOSE = "diagnose"
    REVIEW = "review"
    MACHINE_CODE = "machine_code"
    COMPARE = "compare"
    RESTART = "restart"


RUNGS = {1: Rung.DIAGNOSE, 2: Rung.REVIEW, 3: Rung.MACHINE_CODE, 4: Rung.COMPARE, 5: Rung.RESTART}


def rung(non_accepts: int, last: Reason, *, restart_settled: bool) -> Rung | None:
    """The measure after a round; None if the campaign just continues.

    non_accepts: in a row. last: the reason of the round's verdict; a broken host causes no step
    (law 8). restart_settled: a restart is offered once.
    """
    found = None if last in UNJUDGED else RUNGS.get(non_accepts)
    return None if found is Rung.RESTART and restart_settled else found


@dataclass(frozen=True, slots=True)
class Way:
    """An untried technique. expected: the expected speed-up.

    by_itself: whether the search can apply it to this source; else a person or model must.
    catalogue: its id in the catalogue of strategies; "" where it has none.
    """

    strategy: str
    category: str
    title: str
    why: str
    expected: float
    by_itself: bool = True
    catalogue: str = ""

    @property
    def named(self) -> str:
        """ "Pad shared tiles (layout and data movement; needs a person)"."""
        who = "" if self.by_itself else f"; {BY_PERSON}"
        return f"{self.title} ({self.category}{who})"


@dataclass(frozen=True, slots=True)
class Directions:
    """The directions of a stagnation review, most different from the last failures first."""

    ways: tuple[Way, ...]
    note: str


def directions(untried: Iterable[Way], recent: Collection[str]) -> Directions:
    """The best of each category, then the next best, at most six.

    recent: the categories of the rounds that failed last, which come after the others.
    """
    ranked = sorted(
        untried, key=lambda way: (way.category in recent, not way.by_itself, -way.expected)
    )
    firsts: dict[str, Way] = {}
    for way in ranked:
        firsts.setdefault(way.category, way)
    rest = [way for way in ranked if way not in firsts.values()]
    ways = (*firsts.values(), *rest)[:MOST_DIRECTIONS]
    note = ""
    if not ways:
        note = "the catalogue holds no untried technique"
    elif len(firsts) < LEAST_DIRECTIONS:
        word = "category is" if len(firsts) == 1 else "categories are"
        note = f"only {len(firsts)} {word} left of the {LEAST_DIRECTIONS} that a review should name"
    elif by_hand := sum(not way.by_itself for way in ways):
        verb = "needs" if by_hand == 1 else "need"
        note = f"{by_hand} of {len(ways)} {verb} a person or a model"
    return Directions(ways, note)


def tally(reasons: Iterable[Reason]) -> str:
    """ "2 slower, 1 crashed", the most frequent first."""
    counts = Counter(reason.words for reason in reasons)
    return ", ".join(f"{count} {words}" for words, count in counts.most_common())


MOST_REPAIRS = 3
# Failures that another version of the same idea may fix. Cheating gets no repair, another source
# does not fix a broken host, and a correct but slower kernel has had its trial.
MENDABLE = frozenset({Reason.BUILD_FAILED, Reason.WRONG_RESULT, Reason.CRASHED, Reason.TIMED_OUT})


def may_repair(reason: Reason, earlier: Sequence[bool]) -> bool:
    """Whether to ask the proposer for a repair.

    earlier: for each answer of this round, whether it held a candidate; one without ends the
    repairs.
    """
    return reason in MENDABLE and len(earlier) < MOST_REPAIRS and all(earlier)


FRACTION = 0.5


def masked(attempts: Iterable[int], protected: Collection[int], seed: int) -> tuple[int, ...]:
    """About half of the attempts' round numbers, drawn by the seed; never a protected one.

    protected: the baseline and the incumbent.
    """
    eligible = sorted(set(attempts) - set(protected))
    count = round(FRACTION * len(eligible) + 0.25)
    return tuple(sorted(random.Random(seed).sample(eligible, count)))
