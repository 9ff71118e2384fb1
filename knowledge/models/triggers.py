"""Database triggers that hold records as they are, whoever asks (law 7; see models.guarded).

SQLite drops a table's triggers when Django rebuilds the table: a later migration that alters one
of these tables has to run its operations again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython
from django.db.migrations.state import StateApps

EVERY_ROW = "TRUE"

SQLITE = """
CREATE TRIGGER {table}_{mark} BEFORE {event} ON {table} WHEN {condition}
BEGIN SELECT RAISE(ABORT, '{table}: {refusal}'); END
"""
# The condition stands in the function, as a WHEN of PostgreSQL cannot look at other tables.
POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION {table}_{mark}() RETURNS trigger AS $$
BEGIN
IF {condition} THEN
RAISE EXCEPTION '{table}: {refusal}' USING ERRCODE = 'integrity_constraint_violation';
END IF;
RETURN {row};
END
$$ LANGUAGE plpgsql
"""
POSTGRESQL = """
CREATE TRIGGER {table}_{mark} BEFORE {event} ON {table} FOR EACH ROW
EXECUTE FUNCTION {table}_{mark}()
"""


class TriggerEvent(StrEnum):
    """What a trigger refuses."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


REFUSALS = {
    TriggerEvent.INSERT: "a recorded row is never added to",
    TriggerEvent.UPDATE: "a recorded row is never changed",
    TriggerEvent.DELETE: "a recorded row is never deleted",
}


def refuse(event: TriggerEvent, mark: str, conditions: Mapping[str, str]) -> RunPython:
    """The operation that makes one trigger, named `<table>_<mark>`, for each table in `conditions`.

    conditions: table → when to refuse, as SQL over the OLD row, or the NEW one of an INSERT. Raises
    RuntimeError when it runs on another database than SQLite and PostgreSQL.
    """

    def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
        vendor = schema_editor.connection.vendor
        if vendor not in ("sqlite", "postgresql"):
            raise RuntimeError(f"database '{vendor}'; accepted: sqlite, postgresql")
        statements = [SQLITE] if vendor == "sqlite" else [POSTGRESQL_FUNCTION, POSTGRESQL]
        for table, condition in conditions.items():
            words = {"table": table, "mark": mark, "condition": condition, "event": event.value}
            words |= {
                "refusal": REFUSALS[event],
                "row": "OLD" if event is TriggerEvent.DELETE else "NEW",
            }
            for statement in statements:
                schema_editor.execute(statement.format(**words), params=())

    def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
        on_table = schema_editor.connection.vendor == "postgresql"
        for table in conditions:
            where = f" ON {table}" if on_table else ""
            schema_editor.execute(f"DROP TRIGGER {table}_{mark}{where}")
            if on_table:
                schema_editor.execute(f"DROP FUNCTION IF EXISTS {table}_{mark}()")

    return RunPython(install, remove)
