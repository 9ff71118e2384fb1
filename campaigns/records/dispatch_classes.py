"""Which config class runs which round's kernel, as the records have it (R19)."""

from __future__ import annotations

from collections.abc import Iterable

from campaigns.models import Case, Round
from campaigns.rules.dispatch.classes import class_of


def classes_by_case(cases: Iterable[Case]) -> dict[str, str]:
    """Case → its config class, in their order; empty names without class columns."""
    return {case.name: class_of(case.params, case.problem.config_class) for case in cases}


def taken_by(round_: Round) -> frozenset[str]:
    """The classes that take the specialised kernel of a dispatch split; none in other rounds."""
    return frozenset((round_.split or {}).get("taken", ()))


def runs_of(round_: Round, classes: list[str]) -> dict[str, int]:
    """Class → the number of the round in which its kernel came, for a candidate of this round.

    A source that is no dispatch split runs its own round's kernel in every class; what a source
    that a proposer wrote may choose between is not known.
    """
    stored = (round_.split or {}).get("runs", {})
    return {name: int(stored.get(name, round_.number)) for name in classes}


NO_SPLIT = "no_split"
