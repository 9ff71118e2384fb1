"""Made-up attempts as rows, written in bulk: no index is kept while rows go in."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Max

from campaigns.benchmarks.experience.made_up import MadeUpAttempt, MadeUpContext
from knowledge.experience.attempts.index import entry_row, track_row
from knowledge.experience.attempts.standing import COLUMNS, RECENT
from knowledge.experience.terms import AttemptLabel, family_of, idea_key, shape_class
from knowledge.experience.wording import spread_of
from knowledge.models import (
    Experience,
    ExperienceOrigin,
    SearchRow,
    SearchWord,
    Strategy,
    TrackRecord,
)
from knowledge.search.index import Entry, counted_words, search_row

BEGUN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
FTS = "knowledge_searchrow_fts"
AT_ONCE = 5_000
TABLES = (TrackRecord, Experience, SearchRow, SearchWord)


@dataclass(slots=True)
class _Totals:
    """A context with the labels of its attempts, oldest first, and their gains."""

    track: TrackRecord
    labels: list[AttemptLabel] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)


def fill(attempts: Iterable[MadeUpAttempt], n: int) -> None:
    """Write these n attempts, their contexts and the search index over both.

    Contexts get the lower keys of the index: the newest rows of it are attempts.
    """
    totals: dict[MadeUpContext, _Totals] = {}
    words: Counter[str] = Counter(dict(SearchWord.objects.values_list("word", "rows")))
    first = SearchRow.objects.aggregate(last=Max("pk"))["last"] or 0
    known = {strategy.slug: strategy for strategy in Strategy.objects.all()}
    SearchWord.objects.all().delete()
    with _bare_tables():
        for part in _parts(enumerate(attempts, 1)):
            entries, found = _Table(Experience), []
            # One object after the other in the same place: making each costs more than writing it.
            entry = Experience(origin=ExperienceOrigin.IMPORTED, pairs=40, baseline="the incumbent")
            for number, attempt in part:
                _become(entry, number, attempt, totals)
                entries.add(entry)
                found.append(_indexed(entry_row(entry), first + n + number))
            entries.write()
            _write_found(found, words)
        for tracks in _parts(_track(each) for each in totals.values()):
            contexts, found = _Table(TrackRecord), []
            for track in tracks:
                contexts.add(track)
                strategy = known.get(track.strategy)
                found.append(_indexed(track_row(track, strategy), first + track.pk))
            contexts.write()
            _write_found(found, words)
        for counted in _parts(words.items()):
            table = _Table(SearchWord)
            for word, rows in counted:
                table.add(SearchWord(word=word, rows=rows))
            table.write()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _become(
    entry: Experience,
    number: int,
    attempt: MadeUpAttempt,
    totals: dict[MadeUpContext, _Totals],
) -> None:
    """Let the entry be this attempt, and count it in its context."""
    at = BEGUN + datetime.timedelta(seconds=20 * number)
    context = totals.get(attempt.context)
    if context is None:
        track = _context(len(totals) + 1, attempt.context)
        context = totals[attempt.context] = _Totals(track)
    context.labels.append(attempt.label)
    context.track.last_at = at
    if attempt.gain is not None:
        context.gains.append(attempt.gain)
    entry.pk, entry.uuid, entry.track = number, attempt.key, context.track
    entry.happened_at = entry.created_at = at
    entry.strategy_name = attempt.context.strategy
    entry.params_key = idea_key(attempt.context.strategy, attempt.params)
    for name in ("label", "title", "change", "params", "precondition", "gain", "notes"):
        setattr(entry, name, getattr(attempt, name))
    entry.gain_low, entry.gain_high = attempt.low, attempt.high


def _context(key: int, made_up: MadeUpContext) -> TrackRecord:
    return TrackRecord(
        pk=key,
        strategy=made_up.strategy,
        family=family_of(made_up.op),
        op=made_up.op,
        dtype=made_up.dtype,
        backend=made_up.backend,
        platform=made_up.platform,
        vendor=made_up.vendor,
        arch=made_up.arch,
        shape_class=shape_class(made_up.size),
        size_log2=made_up.size,
        bottleneck=made_up.bottleneck,
    )


def _track(totals: _Totals) -> TrackRecord:
    """The context with its totals, as `knowledge.experience.attempts.standing` would count them."""
    track, spread = totals.track, spread_of(totals.gains)
    track.tried, track.gains = len(totals.labels), spread.n
    for label, n in Counter(totals.labels).items():
        setattr(track, COLUMNS[label], n)
    track.recent_failures = sum(not label.worked for label in totals.labels[-RECENT:])
    track.gain_median, track.gain_low, track.gain_high = spread.median, spread.low, spread.high
    return track


def _indexed(entry: Entry, key: int) -> SearchRow:
    row = search_row(entry)
    row.pk = key
    return row


def _write_found(rows: list[SearchRow], words: Counter[str]) -> None:
    """Write rows of the index and count their words."""
    words.update(counted_words(rows))
    table = _Table(SearchRow)
    for row in rows:
        table.add(row)
    table.write()


def _parts(rows: Iterable[Any]) -> Iterator[list[Any]]:
    rows = iter(rows)
    while part := list(islice(rows, AT_ONCE)):
        yield part


class _Table:
    """Rows that go into one table at once."""

    def __init__(self, model: type[models.Model]) -> None:
        fields = model._meta.concrete_fields
        self.name = model._meta.db_table
        self.columns = ", ".join(f'"{each.column}"' for each in fields)
        self.marks = ", ".join(["%s"] * len(fields))
        self._all = attrgetter(*(each.attname for each in fields))
        self._special = [(n, as_sql) for n, each in enumerate(fields) if (as_sql := _as_sql(each))]
        self._rows: list[list[Any]] = []

    def add(self, row: models.Model) -> None:
        values = list(self._all(row))
        for at, as_sql in self._special:
            values[at] = as_sql(values[at])
        self._rows.append(values)

    def write(self) -> None:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY {self.name} ({self.columns}) FROM STDIN") as copy:
                    for row in self._rows:
                        copy.write_row(row)
            else:
                insert = f"INSERT INTO {self.name} ({self.columns}) VALUES ({self.marks})"
                cursor.executemany(insert, self._rows)


def _as_sql(column: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """How a value of this field is given to the database; None for as it is."""
    if isinstance(column, models.JSONField):
        return lambda value: json.dumps(value) if value else str(value)
    if isinstance(column, models.DateTimeField | models.UUIDField):
        return lambda value: column.get_db_prep_save(value, connection)
    return str if column.choices else None


@contextmanager
def _bare_tables() -> Iterator[None]:
    """Take indexes, constraints and triggers off the tables, and make them anew at the end."""
    off, on = _postgresql() if connection.vendor == "postgresql" else _sqlite()
    with connection.cursor() as cursor, connection.constraint_checks_disabled():
        for statement in off:
            cursor.execute(statement)
        with transaction.atomic():
            yield
        for statement in on:
            cursor.execute(statement)


def _postgresql() -> tuple[list[str], list[str]]:
    off, on = [], ["SET maintenance_work_mem = '1GB'"]
    with connection.cursor() as cursor:
        for model in TABLES:
            table = model._meta.db_table
            cursor.execute(
                "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
                "WHERE conrelid = %s::regclass AND contype IN ('f', 'u')",
                [table],
            )
            for name, definition in cursor.fetchall():
                off.append(f'ALTER TABLE {table} DROP CONSTRAINT "{name}" CASCADE')
                on.append(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
            cursor.execute(
                "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s "
                "AND indexname NOT IN (SELECT conname FROM pg_constraint)",
                [table],
            )
            for name, definition in cursor.fetchall():
                off.append(f'DROP INDEX "{name}"')
                on.append(definition)
    return off, on


def _sqlite() -> tuple[list[str], list[str]]:
    off, on = [], []
    tables = [model._meta.db_table for model in TABLES]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') "
            "AND sql IS NOT NULL AND tbl_name IN (%s, %s, %s, %s)",
            tables,
        )
        for kind, name, definition in cursor.fetchall():
            off.append(f'DROP {kind} "{name}"')
            on.append(definition.replace("%", "%%"))
    on.append(f"INSERT INTO {FTS}({FTS}) VALUES ('rebuild')")
    return off, on
