"""What a search hands out to other devices and hosts."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0020_sweeps"),
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
                    ("share", "Share"),
                    ("build", "Build"),
                    ("decide", "Decide"),
                    ("remeasure", "Remeasure"),
                    ("report", "Report"),
                    ("reproduce", "Reproduce"),
                ],
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="SweepOrder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("params", models.JSONField()),
                ("source", models.TextField()),
                ("holder", models.CharField(blank=True, max_length=120)),
                ("built", models.TextField(blank=True)),
                ("screened", models.TextField(blank=True)),
                ("digest", models.CharField(blank=True, max_length=40)),
                ("artefact", models.BinaryField(null=True)),
                (
                    "evaluation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="campaigns.evaluation",
                    ),
                ),
                (
                    "sweep",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="orders",
                        to="campaigns.sweep",
                    ),
                ),
            ],
            options={
                "ordering": ("sweep", "number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("sweep", "number"), name="one_sweep_order_number"
                    )
                ],
            },
        ),
    ]
