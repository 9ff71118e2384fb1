"""The history of specs is refused every change by the database itself, and so is its deletion."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

FROZEN = {
    "knowledge_specchange": EVERY_ROW,
    "knowledge_waiver": EVERY_ROW,
    "knowledge_flag": "OLD.answered_at IS NOT NULL",
}
KEPT = {
    "knowledge_spec": EVERY_ROW,
    "knowledge_document": EVERY_ROW,
    "knowledge_specchange": EVERY_ROW,
    "knowledge_waiver": EVERY_ROW,
    "knowledge_flag": EVERY_ROW,
    "knowledge_batch": EVERY_ROW,
}


def name_measured(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Documents that this installation measured have no folder to be imported from again."""
    documents = apps.get_model("knowledge", "Document")
    documents.objects.filter(path__startswith="docs/measured/").update(origin="measured")


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0004_curation")]
    operations = [
        migrations.RunPython(name_measured, migrations.RunPython.noop),
        refuse(TriggerEvent.UPDATE, "frozen", FROZEN),
        refuse(TriggerEvent.DELETE, "kept", KEPT),
    ]
