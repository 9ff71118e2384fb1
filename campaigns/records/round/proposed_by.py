"""Who proposed a round."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.models import Round, RoundKind
from campaigns.rules.stop.proposers import ProposerKind


@dataclass(frozen=True, slots=True)
class ProposedBy:
    """kind: None for the baseline, which nobody proposes. name: of a person or an agent."""

    kind: ProposerKind | None
    name: str = ""

    @property
    def words(self) -> str:
        """For people: "alice (person)", "built-in search"."""
        if self.kind is None:
            return ""
        return f"{self.name} ({self.kind.words})" if self.name else self.kind.words

    @property
    def facts(self) -> dict[str, str | None]:
        """As data."""
        return {"kind": self.kind, "name": self.name}


def proposed_by(round_: Round) -> ProposedBy:
    """A dispatch split is the machine's own, as is every round that nobody handed in."""
    handed = round_.submission
    if handed is not None:
        return ProposedBy(ProposerKind(handed.kind), handed.name)
    return ProposedBy(None if round_.kind == RoundKind.BASELINE else ProposerKind.SEARCH)
