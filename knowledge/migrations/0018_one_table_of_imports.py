"""The imports of experience move into the table of all imports, with the number that each had.

Their keys are shifted past those that are there, so no later import gets a number of one of them.
It can be taken back only where there were none.
"""

import datetime

import django.db.models.deletion
from django.conf import settings
from django.core.management.color import no_style
from django.db import migrations, models
from django.db.migrations import RunPython

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

# As in 0011: SQLite makes the table anew, without its triggers.
FACTS = "uuid origin label campaign round strategy_name gain gain_low gain_high pairs params"
CHANGED = " OR ".join(
    f"OLD.{name} <> NEW.{name} OR (OLD.{name} IS NULL) <> (NEW.{name} IS NULL)"
    for name in FACTS.split()
)
FROZEN = refuse(TriggerEvent.UPDATE, "frozen", {"knowledge_experience": CHANGED})
KEPT = refuse(TriggerEvent.DELETE, "kept", {"knowledge_experience": EVERY_ROW})
# SQLite lost this one when an earlier migration made the table anew.
BATCHES = refuse(TriggerEvent.DELETE, "kept", {"knowledge_batch": EVERY_ROW})
MOVE = """
INSERT INTO knowledge_batch (id, kind, former, origin, format, state, files, answers, plan, why,
author_id, created_at, decided_at, progress)
SELECT id + {shift}, 'experience', id, origin, format, state, files, answers, plan, why,
author_id, created_at, decided_at, '{{}}' FROM knowledge_experienceimport
"""


def lifted(operation):
    """The operation that takes this one back."""
    return RunPython(operation.reverse_code, operation.code)


def move(apps, schema_editor):
    Batch = apps.get_model("knowledge", "Batch")
    connection = schema_editor.connection
    shift = Batch.objects.aggregate(last=models.Max("pk"))["last"] or 0
    with connection.cursor() as cursor:
        cursor.execute(MOVE.format(shift=shift))
        for statement in connection.ops.sequence_reset_sql(no_style(), [Batch]):
            cursor.execute(statement)
    for name in ("Experience", "Lesson"):
        rows = apps.get_model("knowledge", name).objects.exclude(batch=None)
        rows.update(batch_id=models.F("batch_id") + shift)
    people = dict(apps.get_model(settings.AUTH_USER_MODEL).objects.values_list("username", "pk"))
    for batch in Batch.objects.filter(kind="experience", state="undone"):
        by, at = batch.plan.pop("undone_by", ""), batch.plan.pop("undone_at", "")
        batch.undone_by_id = people.get(by)
        batch.undone_at = datetime.datetime.fromisoformat(at) if at else batch.decided_at
        batch.save(update_fields=["plan", "undone_by", "undone_at"])
    if connection.vendor == "postgresql":
        # It changes no table for whose rows it still has something to check.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def forget_batches(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        BATCHES.reverse_code(apps, schema_editor)


def pointing(**options):
    """Entries and lessons point at the table of all imports."""
    for model, related_name in (("experience", "entries"), ("lesson", "lessons")):
        field = models.ForeignKey(
            "knowledge.Batch",
            django.db.models.deletion.PROTECT,
            null=True,
            blank=True,
            related_name=related_name,
            **options,
        )
        yield migrations.AlterField(model, "batch", field)


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0017_imports_in_parts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddField(
            "batch",
            "kind",
            models.CharField(
                max_length=16,
                choices=[
                    ("wiki", "documents and values"),
                    ("experience", "experience and lessons"),
                ],
                default="wiki",
            ),
        ),
        migrations.AddField(
            "batch", "former", models.PositiveBigIntegerField(null=True, blank=True)
        ),
        migrations.AddField("batch", "format", models.CharField(max_length=40, blank=True)),
        migrations.AddField("batch", "answers", models.JSONField(default=dict, blank=True)),
        migrations.AlterField("batch", "origin", models.CharField(max_length=120)),
        lifted(FROZEN),
        lifted(KEPT),
        *pointing(db_constraint=False),
        RunPython(move, RunPython.noop),
        *pointing(),
        FROZEN,
        KEPT,
        migrations.DeleteModel("ExperienceImport"),
        RunPython(forget_batches),
        BATCHES,
    ]
