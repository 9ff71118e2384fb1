"""Stored revisions and citations are refused every change by the database itself."""

from django.db import migrations

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

SEALED = {"knowledge_revision": EVERY_ROW, "knowledge_citation": EVERY_ROW}


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]
    operations = [refuse(TriggerEvent.UPDATE, "frozen", SEALED)]
