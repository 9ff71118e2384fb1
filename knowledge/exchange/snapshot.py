"""Reads that belong together: all of them see the wiki as it was at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


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
