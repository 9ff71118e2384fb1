"""One repository: its rounds, what they gained together, and how the branch is taken."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.lineage.own_repository import OwnRepository
from campaigns.models import EvaluationState, Repository, RepositoryRound, RepositoryState
from campaigns.records.repositories.results import proven_of, result_of
from campaigns.rules.harness.decide import OWN_HARNESS, HarnessClass, Proven
from campaigns.rules.noise.chained import chained
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import Reason, VerdictWord

BROUGHT = "what was brought"


@dataclass(frozen=True, slots=True)
class RoundLine:
    """One round. gain: the score's, against the incumbent of its time; None where there is none.

    proven: what kopt's judge found; None where it was not asked.
    """

    row: RepositoryRound
    gain: Gain | None
    proven: Proven | None
    classes: tuple[HarnessClass, ...]

    @property
    def word(self) -> str:
        """The stored verdict; "running" before it."""
        return str(self.row.verdict or VerdictWord.RUNNING)

    @property
    def why(self) -> str:
        """The reason in words, where there is a verdict; else what is being done."""
        return Reason(self.row.reason).words if self.row.reason else self.row.doing

    @property
    def is_kept(self) -> bool:
        return bool(self.row.commit)

    @property
    def against(self) -> str:
        return "itself" if self.row.is_baseline else "the incumbent"


@dataclass(frozen=True, slots=True)
class RepositorySheet:
    """rounds: the newest first. gain: product of all kept rounds; None before the first."""

    repository: Repository
    rounds: tuple[RoundLine, ...]
    gain: Gain | None

    @property
    def kept(self) -> int:
        return sum(line.is_kept for line in self.rounds)

    @property
    def is_live(self) -> bool:
        """Whether something may change by itself."""
        return any(line.row.state != EvaluationState.DONE for line in self.rounds)

    @property
    def takes_changes(self) -> bool:
        return self.repository.state == RepositoryState.OPEN

    @property
    def headline(self) -> str:
        """What matters most, in one sentence."""
        if self.gain is not None:
            rounds = f"{self.kept} kept round{'s' if self.kept > 1 else ''}"
            return f"{self.gain.words} against {BROUGHT} over {rounds}, {OWN_HARNESS}"
        if not self.repository.noise:
            return self.repository.stop_sentence or "The baseline is being measured."
        return "No round has been kept yet."

    @property
    def take(self) -> tuple[str, ...]:
        """Commands that bring the branch into the user's own repository."""
        path = OwnRepository(self.repository.pk).path
        branch = self.repository.branch
        return (f"git fetch {path} {branch}:{branch}",)

    @property
    def clone(self) -> str:
        """The command that gives somebody the incumbent to work on."""
        return f"git clone -b {self.repository.branch} {OwnRepository(self.repository.pk).path}"


def line_of(row: RepositoryRound) -> RoundLine:
    result = result_of(row)
    gain, classes = (result.score, result.classes) if result else (None, ())
    return RoundLine(row, gain, proven_of(row), classes)


def sheet_of(repository: Repository) -> RepositorySheet:
    lines = [line_of(row) for row in repository.rounds.order_by("-number")]
    gains = [line.gain for line in reversed(lines) if line.is_kept and line.gain is not None]
    return RepositorySheet(repository, tuple(lines), chained(gains))
