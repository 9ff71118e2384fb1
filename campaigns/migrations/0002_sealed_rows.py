"""Triggers that refuse to change a sealed row, whoever asks (law 7; see campaigns.models.guarded).

SQLite drops a table's triggers when Django rebuilds the table: a later migration that alters one
of these tables has to run `install` again.
"""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# Table → the condition under which a row is sealed, as SQL over the OLD row.
SEALED = {
    "campaigns_problem": "TRUE",
    "campaigns_case": "TRUE",
    "campaigns_protocol": "TRUE",
    "campaigns_candidate": "TRUE",
    "campaigns_verdict": "TRUE",
    "campaigns_event": "TRUE",
    "campaigns_evaluation": "OLD.state = 'done'",
    "campaigns_round": "OLD.state = 'closed'",
}

SQLITE = """
CREATE TRIGGER {table}_sealed BEFORE UPDATE ON {table} WHEN {sealed}
BEGIN SELECT RAISE(ABORT, '{table}: a recorded row is never changed'); END
"""
POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION campaigns_refuse_change() RETURNS trigger AS $$
BEGIN RAISE EXCEPTION '%%: a recorded row is never changed', TG_TABLE_NAME
USING ERRCODE = 'integrity_constraint_violation'; END
$$ LANGUAGE plpgsql
"""
POSTGRESQL = """
CREATE TRIGGER {table}_sealed BEFORE UPDATE ON {table} FOR EACH ROW WHEN ({sealed})
EXECUTE FUNCTION campaigns_refuse_change()
"""


def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    vendor = schema_editor.connection.vendor
    if vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_FUNCTION, params=())
    elif vendor != "sqlite":
        raise RuntimeError(f"database '{vendor}'; accepted: sqlite, postgresql")
    trigger = SQLITE if vendor == "sqlite" else POSTGRESQL
    for table, sealed in SEALED.items():
        schema_editor.execute(trigger.format(table=table, sealed=sealed))


def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    on_table = schema_editor.connection.vendor == "postgresql"
    for table in SEALED:
        schema_editor.execute(f"DROP TRIGGER {table}_sealed" + (f" ON {table}" if on_table else ""))
    if on_table:
        schema_editor.execute("DROP FUNCTION campaigns_refuse_change()")


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
