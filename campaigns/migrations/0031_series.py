"""The series of accepted kernels: three kinds of events, and a kind of evaluation."""

import django.db.models.fields.json
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import TriggerEvent, refuse

# As in 0025, with the new kind.
LATE = (
    "NEW.state <> 'queued' OR (NEW.kind NOT IN ({kinds}) AND EXISTS "
    "(SELECT 1 FROM campaigns_round r JOIN campaigns_candidate c ON c.round_id = r.id "
    "WHERE c.id = NEW.candidate_id AND r.state = 'closed'))"
)
EARLIER = "'report', 'reproduce', 'eager', 'compile', 'compile-max-autotune', 'library'"
BEFORE, AFTER = (
    refuse(TriggerEvent.INSERT, "late", {"campaigns_evaluation": LATE.format(kinds=kinds)})
    for kinds in (EARLIER, f"{EARLIER}, 'series'")
)


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0030_archived_campaigns"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SeriesAnswer",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.CreateModel(
            name="SeriesEntry",
            fields=[],
            options={
                "verbose_name_plural": "series entries",
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.CreateModel(
            name="SeriesWish",
            fields=[],
            options={
                "verbose_name_plural": "series wishes",
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.AlterField(
            model_name="evaluation",
            name="kind",
            field=models.CharField(
                choices=[
                    ("baseline", "Baseline"),
                    ("screen", "Screen"),
                    ("sweep", "Sweep"),
                    ("share", "Share"),
                    ("build", "Build"),
                    ("decide", "Decide"),
                    ("remeasure", "Remeasure"),
                    ("report", "Report"),
                    ("reproduce", "Reproduce"),
                    ("series", "Series"),
                    ("eager", "Eager"),
                    ("compile", "Compile"),
                    ("compile-max-autotune", "Compile Max"),
                    ("library", "Library"),
                ],
                max_length=20,
            ),
        ),
        migrations.RunPython(BEFORE.reverse_code, BEFORE.code),
        AFTER,
        migrations.AddConstraint(
            model_name="event",
            constraint=models.UniqueConstraint(
                models.F("campaign"),
                django.db.models.fields.json.KeyTextTransform("evaluation", "data"),
                condition=models.Q(("kind", "series_sorted")),
                name="one_sort_per_measurement",
            ),
        ),
        migrations.AddConstraint(
            model_name="event",
            constraint=models.UniqueConstraint(
                models.F("campaign"),
                django.db.models.fields.json.KeyTextTransform("entry", "data"),
                condition=models.Q(("kind", "series_answered")),
                name="one_answer_per_entry",
            ),
        ),
    ]
