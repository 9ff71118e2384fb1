"""Whether the database has the tables of this version of kopt."""

from __future__ import annotations

import pkgutil
from importlib.util import find_spec

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

REMEDY = "apply them with `.venv/bin/python manage.py migrate`"
NAMED = 3


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
