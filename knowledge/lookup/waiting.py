"""What waits for a person's decision in the wiki and in what was learned, the oldest first.

The queue is long and a page of it short: all of it is keys and dates alone, and a page asks for
the rest of its own rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.db.models import Count, Max, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from knowledge.experience.lessons.listing import open_disagreements, proposed_lessons
from knowledge.lookup.usage import Replacement, uses
from knowledge.models import DRIFT, Action, Flag, Spec, SpecChange, SpecState


class WaitingKind(StrEnum):
    """What may wait, in the order in which a page offers them."""

    ROUND = "round"
    RESULT = "result"
    SPEC = "spec"
    LESSON = "lesson"
    DISAGREEMENT = "disagreement"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that waits, since when. not_for: keys of the people who may not, or did, decide.

    asks: what is to be done, where a page does not find it out for itself.
    """

    since: datetime
    kind: WaitingKind
    key: int
    not_for: frozenset[int]
    asks: str = ""


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """The same as a page shows it. asks: what is to be done; affects: what depends on it."""

    waiting: Waiting
    title: str
    url: str
    asks: str
    author: str
    affects: str


Rows = Mapping[tuple[WaitingKind, int], WaitingRow]


def waiting_values() -> list[Waiting]:
    """Every proposal and every flagged value, each once; two queries.

    One whose citation drifted waits for that answer, since the first of all that waits on it.
    """
    asked = Q(changes__action__in=[Action.PROPOSED, Action.RESTORED])
    proposals = Spec.objects.filter(state=SpecState.PROPOSED).order_by()
    dated = proposals.annotate(since=Coalesce(Max("changes__at", filter=asked), "created_at"))
    found = {
        key: Waiting(at, WaitingKind.SPEC, key, _known(owner))
        for key, owner, at in dated.values_list("pk", "proposed_by", "since")
    }
    flags = Flag.objects.open().exclude(spec__state=SpecState.RETIRED)
    for key, kind, raiser, at in flags.values_list("spec", "kind", "raised_by", "raised_at"):
        before = found.get(key, Waiting(at, WaitingKind.SPEC, key, frozenset()))
        drifts = kind in DRIFT or before.kind is WaitingKind.DRIFT
        found[key] = Waiting(
            min(at, before.since),
            WaitingKind.DRIFT if drifts else WaitingKind.SPEC,
            key,
            before.not_for | _known(raiser),
        )
    return list(found.values())


def waiting_in_wiki() -> list[Waiting]:
    """Values, lessons and disagreements; four queries."""
    lessons = proposed_lessons().values_list("pk", "created_at", "proposed_by")
    sides = open_disagreements().values_list("pk", "found_at", "lesson__proposed_by")
    return [
        *waiting_values(),
        *(Waiting(at, WaitingKind.LESSON, key, _known(owner)) for key, at, owner in lessons),
        *(Waiting(at, WaitingKind.DISAGREEMENT, key, _known(owner)) for key, at, owner in sides),
    ]


def marks_in_wiki() -> list[Subquery]:
    """Values of which one changes whenever what waits may have changed, each as a subquery."""
    opens = (Flag.objects.open(), proposed_lessons(), open_disagreements())
    newest = (rows.model.objects.order_by("-pk") for rows in (SpecChange.objects.all(), *opens))
    return [
        *(Subquery(rows.values("pk")[:1]) for rows in newest),
        *(Subquery(counted(rows)) for rows in opens),
    ]


def counted(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Their number, for a subquery."""
    found: QuerySet[Any] = rows.order_by().values(all=Value(1)).annotate(n=Count("pk"))
    return found.values("n")


def _known(person: int | None) -> frozenset[int]:
    return frozenset() if person is None else frozenset({person})


def rows_in_wiki(waiting: Iterable[Waiting]) -> Rows:
    """What a page says of these; a fixed number of queries."""
    by_kind: dict[WaitingKind, dict[int, Waiting]] = defaultdict(dict)
    for one in waiting:
        by_kind[one.kind][one.key] = one
    values = by_kind[WaitingKind.SPEC] | by_kind[WaitingKind.DRIFT]
    found = {(row.waiting.kind, row.waiting.key): row for row in _values(values)}
    lessons = by_kind[WaitingKind.LESSON]
    for lesson in proposed_lessons().filter(pk__in=lessons):
        scope = ", ".join(lesson.scope.values()) or "everything"
        found[WaitingKind.LESSON, lesson.pk] = WaitingRow(
            lessons[lesson.pk], str(lesson), lesson.get_absolute_url(), "approval",
            lesson.proposer, scope,
        )  # fmt: skip
    sides = by_kind[WaitingKind.DISAGREEMENT]
    for item in open_disagreements().filter(pk__in=sides):
        found[WaitingKind.DISAGREEMENT, item.pk] = WaitingRow(
            sides[item.pk], str(item), item.get_absolute_url(), "a choice between two sides",
            "found automatically", str(item.first.track),
        )  # fmt: skip
    return found


def _values(waiting: Mapping[int, Waiting]) -> Iterable[WaitingRow]:
    specs = Spec.objects.for_sheet().select_related("replaces__platform").in_bulk([*waiting])
    flags: dict[int, list[str]] = defaultdict(list)
    for flag in Flag.objects.open().filter(spec__in=specs):
        flags[flag.spec_id].append(f"flag ‘{flag.get_kind_display()}’")
    swaps = []
    for spec in specs.values():
        replaced = spec.replaces if spec.state == SpecState.PROPOSED else None
        swaps.append(Replacement(replaced, spec) if replaced else Replacement(spec))
    for spec, used in zip(specs.values(), uses(swaps), strict=True):
        moving = sum(use.moves for use in used)
        moves = f"; {moving} target{'s' if moving > 1 else ''} would move" if moving else ""
        affects = f"{len(used)} use{'s' if len(used) > 1 else ''}{moves}" if used else "nothing yet"
        title = f"{spec.platform.slug} {spec.metric}: {spec.shown}"
        asks = ", ".join(flags[spec.pk]) or "approval"
        yield WaitingRow(
            waiting[spec.pk], title, spec.get_absolute_url(), asks, spec.proposer, affects
        )


def queue_behind(referer: str) -> str | None:
    """The filter of the queue that a page was opened from, by its address; None without one."""
    try:
        asked = parse_qs(urlsplit(referer).query).get("queue", [])
    except ValueError:
        return None
    named = (kind.value for kind in WaitingKind)
    return next((kind for kind in named if kind in asked), "") if asked else None
