"""A stored value with all that is known of it, as specs.json of an export keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Prefetch, Q, QuerySet

from knowledge.exchange.readers.exported_specs import KEPT_FILE, MARK, VERSION, Row
from knowledge.models import Action, Citation, Flag, Spec, SpecChange, SpecState, Waiver
from knowledge.specs.facts import SpecFacts

PART_BYTES = 1_500_000  # what does not fit goes into the next part
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


def with_everything(keys: Sequence[int]) -> dict[int, Spec]:
    """The specs of these keys with all that is stored of them, as it came; five queries."""
    cited = Citation.objects.select_related("revision__document").defer("revision__text")
    flags = Flag.objects.select_related("revision__document", "raised_by", "answered_by")
    every: list[tuple[str, QuerySet[Any]]] = [
        ("citations", cited),
        ("flags", flags.defer("revision__text")),
        ("changes", SpecChange.objects.select_related("by")),
        ("waivers", Waiver.objects.select_related("by")),
    ]
    specs = Spec.objects.filter(pk__in=keys).select_related("platform", "proposed_by")
    for name, rows in every:
        specs = specs.prefetch_related(Prefetch(name, rows.order_by("pk")))
    return {spec.pk: spec for spec in specs}


@dataclass(frozen=True, slots=True)
class FilePosition:
    """Where a value stands in the file. earlier: it does not rest on a text of the export."""

    number: int
    instead: bool
    earlier: bool


def spec_row(spec: Spec, places: Mapping[int, FilePosition]) -> Row:
    """A value of `with_everything` as the file keeps it; what it replaces is in `places` too."""
    *_, citation = spec.citations.all()
    own = places[spec.pk]
    return {
        "id": own.number,
        "platform": spec.platform.slug,
        **stated(spec),
        "state": spec.state,
        "by": _by(spec.proposed_by, spec.elsewhere),
        "at": brought_at(spec),
        "replaces": places[spec.replaces_id].number if spec.replaces_id else None,
        "instead": own.instead,
        "path": citation.revision.document.path,
        "lines": [citation.first_line, citation.last_line],
        "quote": citation.quote,
        "revision": citation.revision.sha256 if own.earlier else "",
        "waivers": [
            {
                "constraint": waiver.constraint,
                "reason": (waiver.elsewhere or {}).get("reason", waiver.reason),
                "by": _by(waiver.by, waiver.elsewhere),
                "at": _at(waiver.at, waiver.elsewhere),
            }
            for waiver in spec.waivers.all()
        ],
        "flags": [_flag(flag) for flag in spec.flags.all()],
        "history": [
            {
                "action": change.action,
                "by": _by(change.by, change.elsewhere),
                "at": _at(change.at, change.elsewhere),
                "state": change.state,
                "rank": change.rank,
                "before": change.before,
                "after": change.after,
                "why": (change.elsewhere or {}).get("why", change.why),
            }
            for change in spec.changes.all()
        ],
    }


def stated(said: Spec | SpecFacts) -> Row:
    """What a value says; the same of a stored one and of a line, to compare them."""
    return {
        "metric": said.metric,
        "shown": said.shown,
        "qualifiers": dict(sorted(said.qualifiers.items())),
        "evidence": str(said.evidence),
        "kind": str(said.source_kind),
        "source": said.source,
        "source_url": said.source_url,
        "note": said.note,
        "rank": str(said.rank),
    }


def brought_at(spec: Spec) -> str:
    """When a value was brought in, as ISO 8601; where it comes from elsewhere, there."""
    return _at(spec.created_at, spec.elsewhere)


def _flag(flag: Flag) -> Row:
    known = flag.elsewhere or {}
    noticed = flag.revision
    return {
        "kind": flag.kind,
        "path": noticed.document.path if noticed is not None else "",
        "revision": noticed.sha256 if noticed is not None else "",
        "lines": [line for line in (flag.first_line, flag.last_line) if line is not None],
        "quote": flag.quote,
        "note": flag.note,
        "by": _by(flag.raised_by, known),
        "at": _at(flag.raised_at, known),
        "answer": flag.answer,
        "answered_by": _by(flag.answered_by, known, "answered_by"),
        "answered_at": _at(flag.answered_at, known, "answered_at"),
        "why": known.get("why", flag.why),
    }


def _by(person: Any, elsewhere: Mapping[str, str] | None, name: str = "by") -> str:
    """Who did it: a user, or as the file says that it was imported from; "" for a command."""
    return person.get_username() if person is not None else (elsewhere or {}).get(name, "")


def _at(moment: datetime | None, elsewhere: Mapping[str, str] | None, name: str = "at") -> str:
    own = moment.astimezone(UTC).isoformat(timespec="microseconds") if moment is not None else ""
    return str((elsewhere or {}).get(name) or own)


def write_kept(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, str]]:
    """The files of these rows, each with its section, in the order of SECTIONS.

    `exported_specs.read_kept` reads them back to equal values. At least one file.
    """
    part, size = 1, 0
    found: dict[str, list[str]] = {}
    for section, row in rows:
        line = json.dumps(row, ensure_ascii=False)
        more = len(line.encode())
        if size and size + more > PART_BYTES:
            yield _file(part, found, more=True)
            part, size, found = part + 1, 0, {}
        size += more
        found.setdefault(section, []).append(line)
    yield _file(part, found, more=False)


def _file(part: int, found: Mapping[str, list[str]], *, more: bool) -> tuple[str, str]:
    sections = [f'"{name}": [\n' + ",\n".join(rows) + "\n],\n" for name, rows in found.items()]
    head = f'{{"{MARK}": {VERSION}, "part": {part},\n'
    text = head + "".join(sections) + f'"more": {json.dumps(more)}}}\n'
    return KEPT_FILE if part == 1 else f"specs-{part}.json", text


@contextmanager
def snapshot() -> Iterator[None]:
    """A transaction that only reads, and sees nothing of what others write meanwhile.

    Nobody waits for it: on SQLite it begins without the write lock, which every other transaction
    takes; see kopt.database. Inside of another transaction it is as good as that one.
    """
    if connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    sqlite: Any = connection if connection.vendor == "sqlite" else None
    before = sqlite.transaction_mode if sqlite else ""
    try:
        if sqlite:
            sqlite.transaction_mode = "DEFERRED"
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    finally:
        if sqlite:
            sqlite.transaction_mode = before
