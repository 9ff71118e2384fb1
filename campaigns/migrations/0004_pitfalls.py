"""Pitfalls and placeholders, and the triggers that keep them as they were written."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

SEALED = {"campaigns_pitfall": EVERY_ROW, "campaigns_placeholder": EVERY_ROW}
LATE = {
    "campaigns_pitfall": "EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state IN ('done', 'aborted'))",
    "campaigns_placeholder": "EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state <> 'draft')",
}


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0003_kept_rows"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Pitfall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("message", models.TextField()),
                ("how_to_obtain", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pitfalls",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Placeholder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("question", models.CharField(max_length=40)),
                ("value", models.FloatField()),
                ("unit", models.CharField(max_length=16)),
                ("shown", models.CharField(max_length=80)),
                ("reason", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "allowed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placeholders",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "question"), name="one_placeholder_per_question"
                    )
                ],
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", SEALED),
        refuse(TriggerEvent.DELETE, "kept", SEALED),
        refuse(TriggerEvent.INSERT, "late", LATE),
    ]
