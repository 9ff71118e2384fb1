"""One repository: its rounds, and what each kept one gained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from campaigns.models import EvaluationState
from campaigns.repositories.models import Repository, RepositoryRound, proven_of, result_of
from campaigns.rules.harness.decide import OWN_HARNESS, HarnessClass, Proven
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.wording import counted

INCUMBENT = "the incumbent of its time"


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
    def against(self) -> str:
        return "itself" if self.row.is_baseline else "the incumbent"


@dataclass(frozen=True, slots=True)
class RepositorySheet:
    """kept: how many rounds were. gain: of the last of them; None before the first.

    rounds: the newest first; empty in a list of repositories.
    """

    repository: Repository
    kept: int
    gain: Gain | None
    rounds: tuple[RoundLine, ...] = ()

    @property
    def headline(self) -> str:
        """What matters most, in one sentence."""
        if self.gain is not None:
            last = f"{self.gain.words} against {INCUMBENT}, {OWN_HARNESS}"
            return f"{counted(self.kept, 'round')} kept; the last one {last}"
        if not self.repository.noise:
            return self.repository.stop_sentence or "The baseline is being measured."
        return "No round has been kept yet."

    @property
    def is_live(self) -> bool:
        """Whether something may change by itself."""
        return any(line.row.state != EvaluationState.DONE for line in self.rounds)


def line_of(row: RepositoryRound) -> RoundLine:
    result = result_of(row)
    gain, classes = (result.score, result.classes) if result else (None, ())
    return RoundLine(row, gain, proven_of(row), classes)


def sheet_of(repository: Repository) -> RepositorySheet:
    rounds = repository.rounds.defer("patch", "log", "change", "rationale")
    lines = tuple(line_of(row) for row in rounds.order_by("-number"))
    kept = [line.row for line in reversed(lines) if line.row.commit]
    return _sheet(repository, kept, lines)


def summaries_of(repositories: Iterable[Repository]) -> list[RepositorySheet]:
    """Summarise several, in one query of their rounds."""
    listed = list(repositories)
    kept = RepositoryRound.objects.filter(repository__in=listed).exclude(commit="")
    found: dict[int, list[RepositoryRound]] = defaultdict(list)
    for row in kept.only("repository_id", "number", "result").order_by("number"):
        found[row.repository_id].append(row)
    return [_sheet(one, found[one.pk]) for one in listed]


def _sheet(
    repository: Repository, kept: Sequence[RepositoryRound], lines: tuple[RoundLine, ...] = ()
) -> RepositorySheet:
    """kept: the rounds that were, in their order."""
    gains = [result.score for result in map(result_of, kept) if result]
    return RepositorySheet(repository, len(kept), gains[-1] if gains else None, lines)
