"""Triggers that refuse to change a stored revision or citation, whoever asks.

SQLite drops a table's triggers when Django rebuilds the table: a later migration that alters
Revision or Citation has to run `install` again.
"""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

TABLES = ("knowledge_revision", "knowledge_citation")

SQLITE = """
CREATE TRIGGER {table}_frozen BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, '{table} rows are never changed'); END
"""
POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION knowledge_refuse_change() RETURNS trigger AS $$
BEGIN RAISE EXCEPTION '%% rows are never changed', TG_TABLE_NAME
USING ERRCODE = 'integrity_constraint_violation'; END
$$ LANGUAGE plpgsql
"""
POSTGRESQL = """
CREATE TRIGGER {table}_frozen BEFORE UPDATE ON {table}
FOR EACH ROW EXECUTE FUNCTION knowledge_refuse_change()
"""


def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    vendor = schema_editor.connection.vendor
    if vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_FUNCTION, params=())
    elif vendor != "sqlite":
        raise RuntimeError(f"database '{vendor}'; accepted: sqlite, postgresql")
    for table in TABLES:
        trigger = SQLITE if vendor == "sqlite" else POSTGRESQL
        schema_editor.execute(trigger.format(table=table))


def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    on_table = schema_editor.connection.vendor == "postgresql"
    for table in TABLES:
        schema_editor.execute(f"DROP TRIGGER {table}_frozen" + (f" ON {table}" if on_table else ""))
    if on_table:
        schema_editor.execute("DROP FUNCTION knowledge_refuse_change()")


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
