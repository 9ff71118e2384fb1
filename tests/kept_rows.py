"""Rows that many tests begin with: made once a process, then put back as they were.

Only into tables that are empty, and with their keys, so that what refers to them holds; no key is
given again, as the database counted past them when it gave them. A test of what made the rows makes
them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import Model

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Kept:
    """What the making answered, and the rows that it left: table → (columns, rows)."""

    answer: Any
    tables: dict[str, tuple[list[str], list[tuple[Any, ...]]]]


_kept: dict[Hashable, Kept] = {}


def made_once(
    key: Hashable, labels: Iterable[str], make: Callable[[], Answer], *, user: Any = None
) -> Answer:
    """The answer of `make`, which runs the first time, and where the apps have rows already.

    key: tells apart what is made. labels: the apps whose tables `make` writes. user: the one whom
    all of its rows refer to that refer to a user.
    """
    models = [
        model
        for label in labels
        for model in apps.get_app_config(label).get_models()
        if not model._meta.proxy
    ]
    if not _are_empty(models):
        return make()
    if key not in _kept:
        answer = make()
        _kept[key] = Kept(answer, {m._meta.db_table: read(m._meta.db_table) for m in models})
        return answer
    with transaction.atomic(), additions_allowed([*_kept[key].tables]):
        for model in models:
            _write(model, *_kept[key].tables[model._meta.db_table], user)
    kept: Answer = _kept[key].answer
    return kept


def read(table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns of a model's table, and its rows as the database has them.

    Without what the database computes itself, such as the lexemes of the search on PostgreSQL.
    """
    model = next(model for model in apps.get_models() if model._meta.db_table == table)
    names = ", ".join(f'"{field.column}"' for field in model._meta.concrete_fields)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {names} FROM {table} ORDER BY 1")
        return [column[0] for column in cursor.description], cursor.fetchall()


def _are_empty(models: list[type[Model]]) -> bool:
    some = " OR ".join(f"EXISTS (SELECT 1 FROM {model._meta.db_table})" for model in models)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT CASE WHEN {some} THEN 1 ELSE 0 END")
        return cursor.fetchone() == (0,)


def _write(model: type[Model], columns: list[str], rows: list[tuple[Any, ...]], user: Any) -> None:
    if not rows:
        return
    users = {f.column for f in model._meta.concrete_fields if f.related_model is get_user_model()}
    if owned := [place for place, column in enumerate(columns) if column in users]:
        rows = [tuple(user.pk if i in owned and old else old for i, old in enumerate(row))
                for row in rows]  # fmt: skip
    names = ", ".join(f'"{column}"' for column in columns)
    places = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({places})", rows)


@contextmanager
def additions_allowed(tables: list[str]) -> Iterator[None]:
    """Without the triggers of SQLite that refuse a new row in a state to which rows are brought."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
        refusing = {
            name: sql
            for name, table, sql in cursor.fetchall()
            if table in tables and " BEFORE INSERT ON " in sql
        }
        for name in refusing:
            cursor.execute(f"DROP TRIGGER {name}")
        yield
        for sql in refusing.values():
            cursor.execute(sql)
