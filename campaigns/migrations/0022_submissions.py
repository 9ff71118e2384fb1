"""Candidates that people and agents hand in, and who may propose in a campaign.

New columns are null: SQLite would rebuild the table for a default, and drop its triggers.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

ROWS = {"campaigns_submission": EVERY_ROW}
LATE = {
    "campaigns_submission": "EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state IN ('done', 'aborted'))"
}
CONFIRMED = {
    "campaigns_campaign": "OLD.state <> 'draft' AND (NEW.proposers <> OLD.proposers "
    "OR (NEW.proposers IS NULL) <> (OLD.proposers IS NULL))"
}
STATES = (
    *("draft", "confirmed", "prepare", "baseline", "profile", "analyze", "awaiting", "implement"),
    *("validate", "repair", "decide", "stagnation", "restart", "report", "paused", "done"),
    "aborted",
)


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0021_sweep_orders"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("campaign", "proposers", models.JSONField(null=True, blank=True)),
        migrations.AlterField(
            "campaign",
            "state",
            models.CharField(
                choices=[(state, state.capitalize()) for state in STATES],
                default="draft",
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("person", "Person"), ("agent", "Agent")], max_length=20
                    ),
                ),
                ("name", models.CharField(max_length=150)),
                ("hypothesis", models.JSONField()),
                ("file_name", models.CharField(max_length=100)),
                ("text", models.TextField()),
                ("flags", models.JSONField(default=list)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "against",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="campaigns.candidate",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="submissions",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={"ordering": ("pk",)},
        ),
        migrations.AddField(
            "round",
            "submission",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rounds",
                to="campaigns.submission",
            ),
        ),
        migrations.AddConstraint(
            "round",
            models.UniqueConstraint(
                condition=models.Q(("submission__isnull", False)),
                fields=("submission",),
                name="one_round_per_submission",
            ),
        ),
        refuse(TriggerEvent.UPDATE, "sealed", ROWS),
        refuse(TriggerEvent.DELETE, "kept", ROWS),
        refuse(TriggerEvent.INSERT, "late", LATE),
        refuse(TriggerEvent.UPDATE, "proposing", CONFIRMED),
    ]
