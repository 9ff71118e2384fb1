"""A database that a benchmark has for itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connection

from knowledge.lookup.migrations import ask_no_more


@contextmanager
def own_database() -> Iterator[Path]:
    """Point the connection at a fresh database with all tables, and back afterwards.

    On SQLite it is a file, on PostgreSQL a database of the same server with `test_` before its
    name. Also a folder to work in. Both are gone afterwards.
    """
    ask_no_more()
    before = connection.settings_dict["NAME"]
    test = connection.settings_dict["TEST"]
    with TemporaryDirectory(prefix="kopt-bench-") as folder:
        if connection.vendor == "sqlite":
            test["NAME"] = str(Path(folder) / "bench.sqlite3")
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield Path(folder)
        finally:
            connection.creation.destroy_test_db(str(before), verbosity=0)
