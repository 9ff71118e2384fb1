"""The series of accepted kernels: three kinds of events, and a kind of evaluation."""

import django.db.models.fields.json
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0028_decisions"),
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
