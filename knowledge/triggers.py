"""Database triggers that refuse to change a sealed row, whoever asks (law 7; see models.guarded).

SQLite drops a table's triggers when Django rebuilds the table: a later migration that alters one
of these tables has to run the operation again.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython
from django.db.migrations.state import StateApps

EVERY_ROW = "TRUE"

SQLITE = """
CREATE TRIGGER {table}_{mark} BEFORE UPDATE ON {table} WHEN {sealed}
BEGIN SELECT RAISE(ABORT, '{table}: a recorded row is never changed'); END
"""
POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION {app}_refuse_change() RETURNS trigger AS $$
BEGIN RAISE EXCEPTION '%%: a recorded row is never changed', TG_TABLE_NAME
USING ERRCODE = 'integrity_constraint_violation'; END
$$ LANGUAGE plpgsql
"""
POSTGRESQL = """
CREATE TRIGGER {table}_{mark} BEFORE UPDATE ON {table} FOR EACH ROW WHEN ({sealed})
EXECUTE FUNCTION {app}_refuse_change()
"""


def refuse_updates(app: str, mark: str, sealed: Mapping[str, str]) -> RunPython:
    """The operation that makes one trigger, named `<table>_<mark>`, for each table in `sealed`.

    sealed: table → the condition under which a row is sealed, as SQL over the OLD row. Raises
    RuntimeError when it runs on another database than SQLite and PostgreSQL.
    """

    def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
        vendor = schema_editor.connection.vendor
        if vendor == "postgresql":
            schema_editor.execute(POSTGRESQL_FUNCTION.format(app=app), params=())
        elif vendor != "sqlite":
            raise RuntimeError(f"database '{vendor}'; accepted: sqlite, postgresql")
        trigger = SQLITE if vendor == "sqlite" else POSTGRESQL
        for table, condition in sealed.items():
            schema_editor.execute(trigger.format(app=app, mark=mark, table=table, sealed=condition))

    def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
        on_table = schema_editor.connection.vendor == "postgresql"
        for table in sealed:
            where = f" ON {table}" if on_table else ""
            schema_editor.execute(f"DROP TRIGGER {table}_{mark}{where}")
        if on_table:
            schema_editor.execute(f"DROP FUNCTION {app}_refuse_change()")

    return RunPython(install, remove)
