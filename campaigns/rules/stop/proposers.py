"""Who may propose rounds of a campaign, and how many rounds each may have."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from campaigns.rules.stop.policy import ROUND_LIMIT


class ProposerKind(StrEnum):
    """Who suggests a candidate. Persons and agents hand theirs in; the search is built in."""

    SEARCH = "search"
    PERSON = "person"
    AGENT = "agent"

    @property
    def words(self) -> str:
        return "built-in search" if self is ProposerKind.SEARCH else self.value

    @property
    def several(self) -> str:
        return "people" if self is ProposerKind.PERSON else f"{self.words}s"


# Kind → the most rounds it may have; None is no limit of its own. Other kinds may not propose.
Budgets = Mapping[str, int | None] | Mapping[ProposerKind, int | None]
USUAL: Budgets = {ProposerKind.SEARCH: None, ProposerKind.PERSON: None}
ACCEPTED = f"{', '.join(ProposerKind)}, each alone or with its most rounds, such as agent=5"


class ProposersError(ValueError):
    """Proposers that no campaign can have; the message says what is accepted."""


def read_budgets(given: Mapping[Any, Any]) -> dict[ProposerKind, int | None]:
    """Check budgets and put them in the order of `ProposerKind`. Raises ProposersError."""
    for name, most in given.items():
        if name not in set(ProposerKind):
            raise ProposersError(f"proposers: {name!r:.60}; accepted: {ACCEPTED}")
        whole = isinstance(most, int) and not isinstance(most, bool)
        if most is not None and not (whole and 1 <= most < ROUND_LIMIT):
            raise ProposersError(
                f"proposers: {name}={most!s:.20}; accepted: 1 to {ROUND_LIMIT - 1} rounds"
            )
    if not given:
        raise ProposersError("proposers: nobody may propose; accepted: at least one of them")
    return {kind: given[kind] for kind in ProposerKind if kind in given}


def parse_budgets(text: str) -> dict[ProposerKind, int | None]:
    """Read "search=10,person,agent=5". Raises ProposersError."""
    found: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, most = (piece.strip() for piece in part.partition("="))
        if name in found:
            raise ProposersError(f"proposers: {name} is given twice; accepted: once")
        digits = most.isascii() and most.isdigit() and len(most) <= 9
        found[name] = (int(most) if digits else most) if equals else None
    return read_budgets(found)


def told_budgets(budgets: Budgets) -> str:
    """Text that `parse_budgets` reads."""
    return ",".join(kind if most is None else f"{kind}={most}" for kind, most in budgets.items())


def rounds_left(
    budgets: Mapping[ProposerKind, int | None], used: Mapping[ProposerKind, int]
) -> dict[ProposerKind, bool]:
    """Kind → whether it may have another round, for each that may propose at all."""
    return {kind: most is None or used.get(kind, 0) < most for kind, most in budgets.items()}
