"""Stored revisions and citations are refused their deletion by the database itself."""

from django.db import migrations

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

KEPT = {"knowledge_revision": EVERY_ROW, "knowledge_citation": EVERY_ROW}


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0002_frozen_rows")]
    operations = [refuse(TriggerEvent.DELETE, "kept", KEPT)]
