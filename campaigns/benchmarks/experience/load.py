"""Made-up attempts as rows, written in bulk: no index is kept while rows go in."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.db import connection, models, transaction

from campaigns.benchmarks.experience.made_up import MadeUpAttempt, MadeUpContext
from knowledge.experience.families import family_of
from knowledge.experience.indexed import entry_row, track_row
from knowledge.experience.terms import AttemptLabel, idea_key, shape_class
from knowledge.experience.track import COLUMNS, RECENT, bounds
from knowledge.models import Experience, ExperienceOrigin, SearchRow, SearchWord, TrackRecord
from knowledge.search.index import search_row
from knowledge.search.tokens import LONGEST_WORD

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


def fill(attempts: Iterable[MadeUpAttempt]) -> None:
    """Write these attempts, their contexts and the search index over both."""
    totals: dict[MadeUpContext, _Totals] = {}
    words: Counter[str] = Counter(dict(SearchWord.objects.values_list("word", "rows")))
    SearchWord.objects.all().delete()
    with _bare_tables():
        entries = (_entry(n, each, totals) for n, each in enumerate(attempts, 1))
        for part in _parts(entries):
            _load(Experience, part)
            _load(SearchRow, [_indexed(entry_row(entry), words) for entry in part])
        for tracks in _parts(_track(each) for each in totals.values()):
            _load(TrackRecord, tracks)
            _load(SearchRow, [_indexed(track_row(track), words) for track in tracks])
        for some in _parts(SearchWord(word=word, rows=n) for word, n in words.items()):
            _load(SearchWord, some)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _entry(n: int, attempt: MadeUpAttempt, totals: dict[MadeUpContext, _Totals]) -> Experience:
    at = BEGUN + datetime.timedelta(seconds=20 * n)
    context = totals.get(attempt.context)
    if context is None:
        track = _context(len(totals) + 1, attempt.context)
        context = totals[attempt.context] = _Totals(track)
    context.labels.append(attempt.label)
    context.track.last_at = at
    if attempt.gain is not None:
        context.gains.append(attempt.gain)
    return Experience(
        pk=n,
        uuid=attempt.key,
        track=context.track,
        origin=ExperienceOrigin.IMPORTED,
        label=attempt.label,
        strategy_name=attempt.context.strategy,
        title=attempt.title,
        change=attempt.change,
        params=attempt.params,
        params_key=idea_key(attempt.context.strategy, attempt.params),
        precondition=attempt.precondition,
        gain=attempt.gain,
        gain_low=attempt.low,
        gain_high=attempt.high,
        pairs=40,
        baseline="the incumbent",
        notes=attempt.notes,
        happened_at=at,
        created_at=at,
    )


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
    """The context with its totals, as `knowledge.experience.track` would count them."""
    track, gains = totals.track, sorted(totals.gains)
    track.tried, track.gains = len(totals.labels), len(gains)
    for label, n in Counter(totals.labels).items():
        setattr(track, COLUMNS[label], n)
    track.recent_failures = sum(not label.worked for label in totals.labels[-RECENT:])
    if gains:
        low, high = bounds(len(gains))
        track.gain_median = gains[(len(gains) - 1) // 2]
        track.gain_low, track.gain_high = gains[low], gains[high]
    return track


def _indexed(entry: Any, words: Counter[str]) -> SearchRow:
    row = search_row(entry)
    words.update(word for word in row.words.split() if len(word) <= LONGEST_WORD)
    return row


def _parts(rows: Iterable[Any]) -> Iterator[list[Any]]:
    rows = iter(rows)
    while part := list(islice(rows, AT_ONCE)):
        yield part


def _load(model: type[models.Model], rows: Sequence[models.Model]) -> None:
    """Insert rows as they are. A key of 0 or None is left to the database."""
    fields = [each for each in model._meta.concrete_fields if each is not model._meta.auto_field]
    if rows[0].pk is not None and model._meta.auto_field is not None:
        fields.append(model._meta.auto_field)
    readers = [(each.attname, _written(each)) for each in fields]
    values = ([as_sql(getattr(row, name)) for name, as_sql in readers] for row in rows)
    names = ", ".join(f'"{each.column}"' for each in fields)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(fields))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(values))


def _written(column: models.Field[Any, Any]) -> Callable[[Any], Any]:
    """How a value of this field is given to the database."""
    if isinstance(column, models.JSONField):
        return json.dumps
    if isinstance(column, models.DateTimeField | models.UUIDField):
        return lambda value: column.get_db_prep_save(value, connection)
    if column.choices:
        return str
    return lambda value: value


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
