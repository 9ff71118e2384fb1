"""A stored value with all that is known of it, as specs.json of an export keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q

from knowledge.exchange.readers.exported_specs import (
    ExportedChange,
    ExportedFlag,
    ExportedSpec,
    ExportedWaiver,
    StatedFacts,
)
from knowledge.models import Action, Citation, Flag, Spec, SpecChange, SpecState, Waiver
from knowledge.specs.citation import CitationLine
from knowledge.specs.facts import SpecFacts

IMPORTED = "imported ("  # how the history of a document's own line begins


def special_specs() -> set[int]:
    """Keys of the specs of which a document's line cannot say all: what people did to them."""
    more = Q(proposed_by__isnull=False) | Q(replaces__isnull=False) | Q(elsewhere__isnull=False)
    more |= ~Q(state=SpecState.APPROVED) | Q(waivers__isnull=False) | Q(flags__isnull=False)
    more |= Q(replacements__isnull=False)
    found = set(Spec.objects.filter(more).order_by().values_list("pk", flat=True))
    alone = Q(action=Action.APPROVED, by__isnull=True, elsewhere__isnull=True, before="")
    alone &= Q(why="") | Q(why__startswith=IMPORTED)
    told = SpecChange.objects.exclude(alone).order_by()
    found |= set(told.values_list("spec", flat=True))
    for many in ("changes", "citations"):
        counted = Spec.objects.order_by().annotate(count=Count(many)).filter(count__gt=1)
        found |= set(counted.values_list("pk", flat=True))
    return found


@dataclass(slots=True)
class SpecWithHistory:
    """A value with all that is stored of it, each in the order in which it came."""

    spec: Spec
    citations: list[Citation] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    changes: list[SpecChange] = field(default_factory=list)
    waivers: list[Waiver] = field(default_factory=list)


def with_everything(keys: Sequence[int]) -> dict[int, SpecWithHistory]:
    """The specs of these keys; five queries."""
    specs = Spec.objects.filter(pk__in=keys).select_related("platform", "proposed_by")
    found = {spec.pk: SpecWithHistory(spec) for spec in specs}
    cited = Citation.objects.select_related("revision__document").defer("revision__text")
    for citation in cited.filter(spec__in=keys).order_by("pk"):
        found[citation.spec_id].citations.append(citation)
    flags = Flag.objects.select_related("revision__document", "raised_by", "answered_by")
    for flag in flags.defer("revision__text").filter(spec__in=keys).order_by("pk"):
        found[flag.spec_id].flags.append(flag)
    changes = SpecChange.objects.filter(spec__in=keys).order_by("pk")
    for change in changes.select_related("by"):
        found[change.spec_id].changes.append(change)
    waivers = Waiver.objects.filter(spec__in=keys).order_by("pk")
    for waiver in waivers.select_related("by"):
        found[waiver.spec_id].waivers.append(waiver)
    return found


@dataclass(frozen=True, slots=True)
class FilePosition:
    """Where a value stands in the file. earlier: it does not rest on a text of the export."""

    number: int
    instead: bool
    earlier: bool


def kept_spec(
    whole: SpecWithHistory, places: Mapping[int, FilePosition]
) -> ExportedSpec[StatedFacts]:
    """The value as the file keeps it; what it replaces is among `places` too."""
    spec, citation = whole.spec, whole.citations[-1]
    own = places[spec.pk]
    return ExportedSpec(
        number=own.number,
        platform=spec.platform.slug,
        facts=stated(spec),
        citation=CitationLine(
            *(spec.metric, spec.shown, citation.revision.document.path),
            *(citation.first_line, citation.last_line),
        ),
        quote=citation.quote,
        state=spec.state,
        replaces=places[spec.replaces_id].number if spec.replaces_id else 0,
        by=_by(spec.proposed_by, spec.elsewhere, "by"),
        at=brought_at(spec),
        instead=own.instead,
        revision=citation.revision.sha256 if own.earlier else "",
        waivers=tuple(map(_waiver, whole.waivers)),
        flags=tuple(map(_flag, whole.flags)),
        history=tuple(map(_step, whole.changes)),
    )


def stated(said: Spec | SpecFacts) -> StatedFacts:
    """The same of a stored value and of a line, to compare them."""
    source = (str(said.source_kind), said.source, said.source_url)
    own = (said.metric, said.shown, dict(said.qualifiers), str(said.evidence))
    return StatedFacts(*own, *source, said.note, str(said.rank))


def brought_at(spec: Spec) -> str:
    """When a value was brought in, as ISO 8601; where it comes from elsewhere, there."""
    return str((spec.elsewhere or {}).get("at") or _iso(spec.created_at))


def _step(change: SpecChange) -> ExportedChange:
    known = change.elsewhere or {}
    return ExportedChange(
        change.action,
        _by(change.by, known, "by"),
        known.get("at") or _iso(change.at),
        change.state,
        change.rank,
        change.before,
        change.after,
        known.get("why", change.why),
    )


def _flag(flag: Flag) -> ExportedFlag:
    known = flag.elsewhere or {}
    lines = [line for line in (flag.first_line, flag.last_line) if line is not None]
    noticed = flag.revision
    answered_at = _iso(flag.answered_at) if flag.answered_at is not None else ""
    return ExportedFlag(
        kind=flag.kind,
        path=noticed.document.path if noticed is not None else "",
        revision=noticed.sha256 if noticed is not None else "",
        lines=tuple(lines),
        quote=flag.quote,
        note=flag.note,
        by=_by(flag.raised_by, known, "by"),
        at=known.get("at") or _iso(flag.raised_at),
        answer=flag.answer,
        answered_by=_by(flag.answered_by, known, "answered_by"),
        answered_at=known.get("answered_at") or answered_at,
        why=known.get("why", flag.why),
    )


def _waiver(waiver: Waiver) -> ExportedWaiver:
    known = waiver.elsewhere or {}
    return ExportedWaiver(
        waiver.constraint,
        known.get("reason", waiver.reason),
        _by(waiver.by, known, "by"),
        known.get("at") or _iso(waiver.at),
    )


def _by(person: Any, elsewhere: Mapping[str, str] | None, name: str) -> str:
    """Who did it: a user, or as the file says that it was imported from; "" for a command."""
    return person.get_username() if person is not None else (elsewhere or {}).get(name, "")


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


@contextmanager
def snapshot() -> Iterator[None]:
    """A transaction that only reads, and sees nothing of what others write meanwhile.

    Nobody waits for it. Inside of another transaction it is as good as that one.
    """
    if connection.in_atomic_block:
        yield
        return
    with _reading(), transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@contextmanager
def _reading() -> Iterator[None]:
    """Begin without the write lock, which every transaction on SQLite takes; see kopt.database."""
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    sqlite: Any = connection  # the attribute is of this database alone
    before = sqlite.transaction_mode
    sqlite.transaction_mode = "DEFERRED"
    try:
        yield
    finally:
        sqlite.transaction_mode = before
