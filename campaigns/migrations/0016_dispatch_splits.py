"""Rounds that split the dispatch by config class, and which kernel each class then runs.

Null, and so without a default: SQLite would rebuild the table for one, and drop its triggers.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0015_imported")]
    operations = [
        migrations.AlterField(
            "round",
            "kind",
            models.CharField(
                choices=[
                    ("baseline", "Baseline"),
                    ("attempt", "Attempt"),
                    ("sweep", "Sweep"),
                    ("split", "Split"),
                ],
                default="attempt",
                max_length=20,
            ),
        ),
        migrations.AddField("round", "split", models.JSONField(null=True, blank=True)),
    ]
