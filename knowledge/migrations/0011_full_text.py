"""The full-text index over the words of the search rows, and the rows that are never rewritten."""

from django.db import migrations
from django.db.migrations import RunPython

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

TABLE = "knowledge_searchrow"
FTS = "knowledge_searchrow_fts"
# Facets stand in the index as words such as "op=matmul" and "arch=sm-90".
SQLITE = (
    f"""CREATE VIRTUAL TABLE {FTS} USING fts5(
    words, content='{TABLE}', content_rowid='id', detail=none,
    tokenize="unicode61 remove_diacritics 0 tokenchars '=-_'")""",
    f"""CREATE TRIGGER {TABLE}_added AFTER INSERT ON {TABLE} BEGIN
    INSERT INTO {FTS}(rowid, words) VALUES (new.id, new.words); END""",
    f"""CREATE TRIGGER {TABLE}_gone AFTER DELETE ON {TABLE} BEGIN
    INSERT INTO {FTS}({FTS}, rowid, words) VALUES ('delete', old.id, old.words); END""",
    f"""CREATE TRIGGER {TABLE}_moved AFTER UPDATE OF words ON {TABLE} BEGIN
    INSERT INTO {FTS}({FTS}, rowid, words) VALUES ('delete', old.id, old.words);
    INSERT INTO {FTS}(rowid, words) VALUES (new.id, new.words); END""",
)
# The words as they are: no dictionary of the server decides what counts as one.
POSTGRESQL = (
    f"""ALTER TABLE {TABLE} ADD COLUMN lexemes tsvector
    GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED""",
    f"CREATE INDEX {TABLE}_lexemes ON {TABLE} USING gin (lexemes)",
)
SQLITE_BACK = (
    *(f"DROP TRIGGER {TABLE}_{name}" for name in ("added", "gone", "moved")),
    f"DROP TABLE {FTS}",
)
POSTGRESQL_BACK = (f"DROP INDEX {TABLE}_lexemes", f"ALTER TABLE {TABLE} DROP COLUMN lexemes")

KEPT = {
    "knowledge_experiencechange": EVERY_ROW,
    "knowledge_adoption": EVERY_ROW,
    "knowledge_lessonevidence": EVERY_ROW,
    "knowledge_lessonchange": EVERY_ROW,
}
# The facts of an attempt; its context may be another when the catalogue learns a name.
FACTS = "uuid origin label campaign round strategy_name gain gain_low gain_high pairs params"
ENTRY = {
    "knowledge_experience": " OR ".join(
        f"OLD.{name} <> NEW.{name} OR (OLD.{name} IS NULL) <> (NEW.{name} IS NULL)"
        for name in FACTS.split()
    )
}


def run(statements):
    """The operation that runs the statements of the database's own kind."""

    def act(apps, schema_editor):
        for statement in statements[schema_editor.connection.vendor]:
            schema_editor.execute(statement, params=())

    return act


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0010_experience")]
    operations = [
        RunPython(
            run({"sqlite": SQLITE, "postgresql": POSTGRESQL}),
            run({"sqlite": SQLITE_BACK, "postgresql": POSTGRESQL_BACK}),
        ),
        refuse(TriggerEvent.UPDATE, "frozen", KEPT | ENTRY),
        refuse(TriggerEvent.DELETE, "kept", KEPT | {"knowledge_experience": EVERY_ROW}),
    ]
