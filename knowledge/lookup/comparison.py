"""Platforms side by side: one row per question, and what the answers are to each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Q

from knowledge.lookup.needs import Question, question_of
from knowledge.lookup.standing import standings
from knowledge.models import Platform, Spec
from knowledge.specs.facts import ABSENT_VALUE, UNKNOWN_VALUE, Rank, named_values
from knowledge.specs.metrics import ORDER, Group, group_of

FEWEST, MOST = 2, 6


class Relation(StrEnum):
    """What the values of one row are to each other."""

    EQUAL = "equal"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """What one platform answers; `spec` is None where nobody has said anything.

    standing: state of its citation. elsewhere: other qualifiers under which it does answer.
    """

    spec: Spec | None
    standing: str = ""
    elsewhere: str = ""

    @property
    def known(self) -> bool:
        return self.spec is not None and self.spec.shown != UNKNOWN_VALUE

    def record(self) -> dict[str, Any] | None:
        """The value as plain values; None where nobody knows it."""
        if self.spec is None or not self.known:
            return None
        return {
            "id": self.spec.pk,
            "value": self.spec.value,
            "unit": self.spec.unit,
            "shown": self.spec.shown,
            "evidence": self.spec.evidence,
            "citation": str(self.spec.citation or ""),
            "citation_state": self.standing,
        }


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One question and its answers, in the order of the platforms."""

    metric: str
    qualifiers: dict[str, str]
    cells: tuple[ComparedValue, ...]

    @property
    def group(self) -> Group:
        return group_of(self.metric)

    @property
    def relation(self) -> Relation:
        specs = self._known
        complete = len(specs) == len(self.cells)
        if not complete and any(cell.elsewhere for cell in self.cells):
            return Relation.NOT_COMPARABLE
        if len(self._evidence) > 1:
            return Relation.NOT_COMPARABLE
        values = {spec.shown if spec.value is None else spec.value for spec in specs}
        if len(values) > 1:
            return Relation.DIFFERS
        return Relation.EQUAL if complete else Relation.UNKNOWN

    @property
    def reason(self) -> str:
        """Why the answers cannot be compared."""
        if self.relation is not Relation.NOT_COMPARABLE:
            return ""
        if len(self._evidence) > 1:
            return " against ".join(self._evidence)
        return "asked with other qualifiers"

    @property
    def _known(self) -> list[Spec]:
        return [cell.spec for cell in self.cells if cell.spec is not None and cell.known]

    @property
    def _evidence(self) -> list[str]:
        """The evidence classes of values; that a part lacks something is of no class."""
        classes = (spec.evidence for spec in self._known if spec.shown != ABSENT_VALUE)
        return list(dict.fromkeys(classes))

    def record(self, platforms: Sequence[Platform]) -> dict[str, Any]:
        """The row as plain values; of what is not known the cell is None."""
        cells = zip(platforms, self.cells, strict=True)
        return {
            "group": self.group,
            "metric": self.metric,
            "qualifiers": self.qualifiers,
            "relation": self.relation,
            "reason": self.reason,
            "values": {platform.slug: cell.record() for platform, cell in cells},
        }


@dataclass(frozen=True, slots=True)
class PlatformComparison:
    """All rows about some platforms, and how many of them are equal."""

    platforms: tuple[Platform, ...]
    rows: tuple[ComparedRow, ...]

    @property
    def equal(self) -> int:
        return sum(row.relation is Relation.EQUAL for row in self.rows)

    @property
    def differing(self) -> tuple[ComparedRow, ...]:
        return tuple(row for row in self.rows if row.relation is not Relation.EQUAL)


def compare(platforms: Sequence[Platform]) -> PlatformComparison:
    """The preferred answers and the stored UNKNOWN; the queries do not grow with them."""
    chosen = Q(rank=Rank.PREFERRED) | Q(shown=UNKNOWN_VALUE)
    specs = Spec.objects.approved().filter(chosen, platform__in=platforms)
    listed = list(specs.for_sheet())
    found = standings(listed)
    # A preferred value goes before the UNKNOWN that it has not yet replaced.
    listed.sort(key=lambda spec: spec.rank == Rank.PREFERRED)
    answers: dict[Question, dict[int, Spec]] = defaultdict(dict)
    for spec in listed:
        answers[question_of(spec)][spec.platform_id] = spec
    used: dict[tuple[int, str], list[str]] = defaultdict(list)
    for spec in listed:
        if spec.known:
            words = named_values(spec.qualifiers)
            used[spec.platform_id, spec.metric].append(words or "no qualifier")
    rows = []
    for question in sorted(answers, key=lambda q: (ORDER.index(group_of(q[0])), q)):
        cells = []
        for platform in platforms:
            answer = answers[question].get(platform.pk)
            if answer is None:
                elsewhere = ", ".join(used[platform.pk, question[0]])
                cells.append(ComparedValue(None, elsewhere=elsewhere))
            else:
                cells.append(ComparedValue(answer, found.get(answer.pk, "")))
        rows.append(ComparedRow(question[0], dict(question[1]), tuple(cells)))
    return PlatformComparison(tuple(platforms), tuple(rows))
