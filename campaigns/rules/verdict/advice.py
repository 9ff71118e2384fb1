"""What became of the rounds that followed a finding of a profile: how far it is trusted (R26)."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.rules.wording import change, share

# How the name begins by which a hypothesis cites a finding.
FINDING = "finding:"
# Cited so often and accepted never, a finding raises no idea any more.
LOST_AFTER = 4


@dataclass(frozen=True, slots=True)
class AdviceRecord:
    """Of judged rounds that cite one finding.

    gain: the median over the `measured` ones, each against its own incumbent; 0.12 is 12 % faster.
    promised: the median of the share of the time that the finding could take at most; None where it
    told none.
    """

    rounds: int
    accepted: int
    measured: int = 0
    gain: float | None = None
    promised: float | None = None

    @property
    def is_lost(self) -> bool:
        return self.rounds >= LOST_AFTER and not self.accepted

    @property
    def words(self) -> str:
        """What was realised beside what was promised, for people."""
        told = [f"cited in {self.rounds} round{'s' * (self.rounds != 1)}, {self.accepted} accepted"]
        if self.gain is not None:
            against = f"against each incumbent, n={self.measured}"
            told.append(f"median {change(self.gain)} ({against})")
        if self.promised is not None:
            told.append(f"it promised at most {share(self.promised)} of the time")
        return ", ".join(told)
