"""The comments on one subject as pages and the API show them: threads, with what was taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from knowledge.models import Comment, SubjectKind

# A round's page has the comments on its cases and on its diff as well.
PARTS: dict[str, tuple[str, ...]] = {
    SubjectKind.ROUND: (SubjectKind.ROUND, SubjectKind.CASE, SubjectKind.DIFF)
}


@dataclass(slots=True)
class Said:
    """One comment with its answers. retracted: when it was taken back; its text is "" then."""

    comment: Comment
    retracted: datetime | None = None
    replies: list[Said] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "" if self.retracted else self.comment.text

    @property
    def facts(self) -> dict[str, Any]:
        """Plain data; of a comment that was taken back author and time stay."""
        row = self.comment
        return {
            "id": row.pk,
            "kind": row.kind,
            "key": row.key,
            "anchor": row.anchor,
            "parent": row.parent_id,
            "text": self.text,
            "by": row.by.get_username(),
            "at": row.at,
            "retracted_at": self.retracted,
        }


@dataclass(frozen=True, slots=True)
class Thread:
    """Everything said on a subject and its parts, oldest first."""

    kind: str
    key: str
    said: tuple[Said, ...]

    @property
    def count(self) -> int:
        """How many comments stand."""
        return sum(not each.retracted for each in self.all)

    @property
    def all(self) -> list[Said]:
        """Each comment, answers behind what they answer."""
        return [one for each in self.said for one in (each, *each.replies)]

    @property
    def general(self) -> list[Said]:
        """What is said of the subject itself."""
        return self.at(self.kind, "")

    @property
    def placed(self) -> list[Said]:
        """What is said of its parts."""
        return [each for each in self.said if each.comment.kind != self.kind]

    def at(self, kind: str, anchor: str) -> list[Said]:
        """What is said of one part: a case by its name, a line such as "L12"."""
        return [
            each for each in self.said if (each.comment.kind, each.comment.anchor) == (kind, anchor)
        ]


def thread_of(kind: str, key: str) -> Thread:
    """The thread of a subject; one query, however many comments and parts it has."""
    kinds = PARTS.get(kind, (kind,))
    rows = Comment.objects.filter(key=key, kind__in=kinds).select_related("by").order_by("pk")
    return Thread(kind, key, tuple(_threads(rows)))


def _threads(rows: Iterable[Comment]) -> list[Said]:
    listed = list(rows)
    retracted = {row.retracts_id: row.at for row in listed if row.retracts_id}
    top: list[Said] = []
    answers: dict[int, list[Said]] = defaultdict(list)
    for row in listed:
        if row.retracts_id:
            continue
        said = Said(row, retracted.get(row.pk), answers[row.pk])
        (answers[row.parent_id] if row.parent_id else top).append(said)
    return top
