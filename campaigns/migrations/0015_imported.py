"""Trails of other systems as they were read; what else people say of a campaign, frozen with it.

The new column is null, and so without a default: SQLite would rebuild the table for one, and drop
its triggers.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

PARTS = {"campaigns_importedround": EVERY_ROW, "campaigns_importedfile": EVERY_ROW}
WHOLE = {"campaigns_importedcampaign": "OLD.sealed", **PARTS}
CONFIRMED = {
    "campaigns_campaign": "OLD.state <> 'draft' AND (NEW.intake <> OLD.intake "
    "OR (NEW.intake IS NULL) <> (OLD.intake IS NULL))"
}
# A trail comes in as a whole: its last row seals it.
LATE = dict.fromkeys(
    PARTS,
    "EXISTS (SELECT 1 FROM campaigns_importedcampaign c WHERE c.id = NEW.campaign_id AND c.sealed)",
)


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0014_commits"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ImportedCampaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("system", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=200)),
                ("title", models.TextField(blank=True)),
                ("operator", models.TextField(blank=True)),
                ("platform", models.TextField(blank=True)),
                ("backend", models.TextField(blank=True)),
                ("incumbent", models.TextField(blank=True)),
                ("stop_reason", models.TextField(blank=True)),
                ("facts", models.JSONField(default=list)),
                ("tips", models.JSONField(default=list)),
                ("missing", models.JSONField(default=list)),
                ("left_out", models.JSONField(default=list)),
                ("sealed", models.BooleanField(default=False)),
                ("imported_at", models.DateTimeField(auto_now_add=True)),
                (
                    "imported_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="ImportedFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("path", models.CharField(max_length=500)),
                ("text", models.TextField()),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="files",
                        to="campaigns.importedcampaign",
                    ),
                ),
            ],
            options={
                "ordering": ("campaign", "path"),
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "path"), name="one_imported_path")
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportedRound",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ordinal", models.PositiveIntegerField()),
                ("number", models.BigIntegerField(blank=True, null=True)),
                ("name", models.TextField()),
                ("title", models.TextField(blank=True)),
                ("hypothesis", models.TextField(blank=True)),
                ("rationale", models.TextField(blank=True)),
                ("status", models.TextField(blank=True)),
                ("kept", models.BooleanField(null=True)),
                ("masked", models.BooleanField(null=True)),
                ("figure", models.FloatField(null=True)),
                ("unit", models.TextField(blank=True)),
                ("metric", models.TextField(blank=True)),
                ("convention", models.TextField(blank=True)),
                ("amends", models.TextField(blank=True)),
                ("path", models.TextField()),
                ("line", models.PositiveIntegerField()),
                ("kernel", models.TextField(blank=True)),
                ("at", models.TextField(blank=True)),
                ("claims", models.JSONField(default=list)),
                ("missing", models.JSONField(default=list)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rounds",
                        to="campaigns.importedcampaign",
                    ),
                ),
            ],
            options={
                "ordering": ("campaign", "ordinal"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "ordinal"), name="one_imported_ordinal"
                    )
                ],
            },
        ),
        migrations.AddField("campaign", "intake", models.JSONField(null=True, blank=True)),
        refuse(TriggerEvent.UPDATE, "intake", CONFIRMED),
        refuse(TriggerEvent.UPDATE, "sealed", WHOLE),
        refuse(TriggerEvent.DELETE, "kept", WHOLE),
        refuse(TriggerEvent.INSERT, "late", LATE),
    ]
