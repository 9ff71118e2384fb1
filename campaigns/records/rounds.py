"""What a round tries, who proposed it, and the evidence that the next one rests on (R21, R27)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.db.models import QuerySet

from campaigns.models import Campaign, Evidence, Round, Submission
from campaigns.rules.search_log import SearchStep
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.rules.verdict.buckets import Bucket, Declared


@dataclass(frozen=True, slots=True)
class StoredHypothesis:
    """What a round tries, why, and how far it should move which metric.

    cites, searched: as in `campaigns.proposers.base.Hypothesis`; empty in old rows.
    """

    strategy: str = ""
    title: str = ""
    change: str = ""
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    expected_metric: str = ""
    expected_direction: str = ""
    expected_amount: float | None = None
    risks: str = ""
    scope: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    bucket: Bucket | None = None
    work_us: float | None = None
    step_us: float | None = None
    follows: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    searched: tuple[SearchStep, ...] = ()

    @property
    def declared(self) -> Declared:
        """What it says of its transfer to real use; a row of before buckets declares none."""
        return Declared(self.bucket, self.work_us, self.step_us)


def hypothesis_of(round_: Round) -> StoredHypothesis | None:
    """Read `round.hypothesis`; None for the baseline, which tries nothing."""
    return msgspec.convert(round_.hypothesis, StoredHypothesis) if round_.hypothesis else None


@dataclass(frozen=True, slots=True)
class TriedIdea:
    """Holds of a hypothesis only what tells ideas apart; the rest need not be readable."""

    strategy: str = ""
    params: dict[str, Any] = field(default_factory=dict)


def tried_in(row: Round | Submission) -> TriedIdea | None:
    """What a round tried, or what was handed in for one; None for the baseline."""
    return msgspec.convert(row.hypothesis, TriedIdea) if row.hypothesis else None


def declared_of(round_: Round) -> Declared | None:
    """How the round's gain reaches real use; None for the baseline."""
    return msgspec.convert(round_.hypothesis, Declared) if round_.hypothesis else None


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
        """Plain data."""
        return {"kind": self.kind, "name": self.name}


def proposed_by(round_: Round) -> ProposedBy:
    """A dispatch split is the machine's own, as is every round that nobody handed in."""
    handed = round_.submission
    if handed is not None:
        return ProposedBy(ProposerKind(handed.kind), handed.name)
    return ProposedBy(ProposerKind.SEARCH if round_.traits.is_attempt else None)


def evidence_of(campaign: Campaign) -> Evidence | None:
    """The newest facts about the present incumbent; None before they were gathered."""
    return campaign.evidence.filter(incumbent=campaign.incumbent_id).last()


# What is closed never changes, so it is read once: a table of a campaign has hundreds of rounds.
MOST_KEPT = 1_000
_closed: dict[tuple[Any, ...], Round] = {}
# By what a closed round is told from another one of the same key, in another database.
_MARKS = ("pk", "closed_at", "verdict__decided_at", "verdict__sentence", "chosen__digest")
_RELATED = ("verdict", "against__round", "chosen", "submission")


def read_rounds(rounds: QuerySet[Round], *annotations: str) -> Sequence[Round]:
    """In order of number with verdict, rival, judged candidate and submission; at most two queries.

    annotations: of the queryset, each an attribute of the rounds.
    """
    rows = list(rounds.order_by("number").values_list(*_MARKS, *annotations))
    marks = [row[: len(_MARKS)] for row in rows]
    # One look a mark: another thread may empty it at any time.
    known = {mark: one for mark in marks if (one := _closed.get(mark))}
    missing = {mark[0]: mark for mark in marks if mark not in known}
    if missing:
        found = Round.objects.filter(pk__in=missing).select_related(*_RELATED)
        known |= {missing[one.pk]: one for one in found}
        if len(_closed) + len(missing) > MOST_KEPT:
            _closed.clear()
        _closed.update(
            {mark: known[mark] for mark in missing.values() if mark[1] and mark in known}
        )
    read = []
    for row, mark in zip(rows, marks, strict=True):
        if mark in known:
            one = copy.copy(known[mark])
            vars(one).update(zip(annotations, row[len(_MARKS) :], strict=True))
            read.append(one)
    return read
