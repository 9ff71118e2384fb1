"""Whether the database can be used: its tables, its disk, and the few connections to it."""

from __future__ import annotations

import errno
import os
import pkgutil
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

REMEDY = "apply them with `.venv/bin/python manage.py migrate`"
NAMED = 3
FULL = (errno.ENOSPC, errno.EDQUOT)
# SQLite's words for it: of a write, and of the shared memory that its readers need, too.
SQLITE_FULL = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_WRITE")
FULL_TEXT = "database or disk is full"
POSTGRESQL_FULL = "53100"
STILL = "What is stored can still be read; nothing new is stored until space is freed."


class MissingMigrations(DatabaseError):
    """The database is not prepared; the message says by which command it will be.

    What does without a database does without an unprepared one, too.
    """


class EmptyDatabase(MissingMigrations):
    """None of kopt's migrations was ever applied, as in a fresh clone."""


class _Prepared:
    known = False


def missing_migrations() -> list[str]:
    """The migrations that are not applied, such as `knowledge.0014_tokens`.

    The names of the files are compared with one table; loading them takes ten times as long.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    missing = []
    for app in apps.get_app_configs():
        name, _ = MigrationLoader.migrations_module(app.label)
        spec = find_spec(name) if name else None
        files = pkgutil.iter_modules(spec.submodule_search_locations) if spec else ()
        wanted = sorted(file.name for file in files if file.name[0] not in "_~")
        missing += [f"{app.label}.{one}" for one in wanted if (app.label, one) not in applied]
    return missing


def require_migrations() -> None:
    """Raise MissingMigrations, or DatabaseError; once it is prepared the process remembers."""
    if _Prepared.known:
        return
    missing = missing_migrations()
    if missing:
        named = ", ".join(missing[:NAMED]) + (", …" if len(missing) > NAMED else "")
        count = "1 migration is" if len(missing) == 1 else f"{len(missing)} migrations are"
        message = f"database: {count} missing ({named}); {REMEDY}"
        applied = MigrationRecorder(connection).applied_migrations()
        raise MissingMigrations(message) if applied else EmptyDatabase(message)
    _Prepared.known = True


def ask_no_more() -> None:
    """Let this process work with what there is: it prepares the database, or examines it."""
    _Prepared.known = True


def full_disk(error: BaseException) -> str:
    """What is full and what still works, in one or two sentences; empty for any other error."""
    one: BaseException | None = error
    while one is not None:
        if getattr(one, "sqlstate", None) == POSTGRESQL_FULL:
            return f"The disk of the database server is full. {STILL}"
        if getattr(one, "sqlite_errorname", "") in SQLITE_FULL or str(one) == FULL_TEXT:
            return _full(Path(connection.settings_dict["NAME"]).parent)
        if isinstance(one, OSError) and one.errno in FULL:
            # Else the folder with the fullest disk among those that kopt writes to.
            folders = (Path(settings.DATA_DIR), Path(tempfile.gettempdir()), Path(os.getcwd()))
            fullest = min(folders, key=lambda folder: shutil.disk_usage(folder).free)
            return _full(Path(one.filename).parent if one.filename else fullest)
        one = one.__cause__ or one.__context__
    return ""


def _full(folder: Path) -> str:
    return f"The disk of {folder} is full. {STILL}"


def give_connection_back() -> None:
    """Give this thread's connection back before a long wait; the next query takes another one.

    A transaction cannot go on over another connection: within one nothing is done.
    """
    if not connection.in_atomic_block:
        connection.close()
