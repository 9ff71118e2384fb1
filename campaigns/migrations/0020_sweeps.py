"""Sweeps: what is searched in a round, and every point that was tried."""

import django.db.models.deletion
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

ROWS = {"campaigns_sweep": EVERY_ROW, "campaigns_sweeppoint": EVERY_ROW}


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0019_device_waits"),
    ]

    operations = [
        migrations.AlterField(
            model_name="evaluation",
            name="kind",
            field=models.CharField(
                choices=[
                    ("baseline", "Baseline"),
                    ("screen", "Screen"),
                    ("sweep", "Sweep"),
                    ("decide", "Decide"),
                    ("remeasure", "Remeasure"),
                    ("report", "Report"),
                    ("reproduce", "Reproduce"),
                ],
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="Sweep",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("knobs", models.JSONField()),
                ("size", models.CharField(max_length=60)),
                ("strategy", models.CharField(max_length=40)),
                ("seed", models.PositiveBigIntegerField(default=0)),
                ("seeds", models.JSONField(default=list)),
                ("most_points", models.PositiveIntegerField()),
                ("most_s", models.FloatField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sweep",
                        to="campaigns.round",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="SweepPoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("params", models.JSONField()),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("passed", "passed"),
                            ("build_failed", "build_failed"),
                            ("wrong_result", "wrong_result"),
                            ("cheated", "cheated"),
                            ("crashed", "crashed"),
                            ("timed_out", "timed_out"),
                            ("broken_host", "broken_host"),
                            ("pruned", "pruned"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("time_us", models.FloatField(blank=True, null=True)),
                ("times_us", models.JSONField(default=dict)),
                ("ended_early", models.BooleanField(default=False)),
                ("facts", models.JSONField(default=dict)),
                ("build_s", models.FloatField(default=0.0)),
                ("screen_s", models.FloatField(default=0.0)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "evaluation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="points",
                        to="campaigns.evaluation",
                    ),
                ),
                (
                    "sweep",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="points",
                        to="campaigns.sweep",
                    ),
                ),
            ],
            options={
                "ordering": ("sweep", "number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("sweep", "number"), name="one_sweep_point_number"
                    )
                ],
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", ROWS),
        refuse(TriggerEvent.DELETE, "kept", ROWS),
    ]
