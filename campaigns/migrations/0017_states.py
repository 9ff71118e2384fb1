"""What the states of a campaign leave behind, and the triggers that keep it."""

import django.db.models.deletion
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

SEALED = {
    "campaigns_phase": EVERY_ROW,
    "campaigns_evidence": EVERY_ROW,
    "campaigns_repair": EVERY_ROW,
    "campaigns_review": EVERY_ROW,
    "campaigns_restart": EVERY_ROW,
    "campaigns_unmasking": EVERY_ROW,
}
FINISHED = (
    "EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state IN ('done', 'aborted'))"
)
LATE = {
    "campaigns_evidence": FINISHED,
    "campaigns_review": FINISHED,
    "campaigns_restart": FINISHED,
    "campaigns_unmasking": FINISHED,
    "campaigns_repair": "EXISTS (SELECT 1 FROM campaigns_round r "
    "WHERE r.id = NEW.round_id AND r.state = 'closed')",
}
# Who was about to ask the proposer gathers first what the answer is to rest on.
PROFILE_FIRST = "UPDATE campaigns_campaign SET state = 'profile' WHERE state = 'analyze'"
HELD_TOO = (
    "UPDATE campaigns_campaign SET paused_from = 'profile' "
    "WHERE state = 'paused' AND paused_from = 'analyze'"
)


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0016_dispatch_splits"),
    ]

    operations = [
        migrations.AddField(
            model_name="round",
            name="draft",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="state",
            field=models.CharField(
                choices=[
                    ("draft", "Draft"),
                    ("confirmed", "Confirmed"),
                    ("prepare", "Prepare"),
                    ("baseline", "Baseline"),
                    ("profile", "Profile"),
                    ("analyze", "Analyze"),
                    ("implement", "Implement"),
                    ("validate", "Validate"),
                    ("repair", "Repair"),
                    ("decide", "Decide"),
                    ("stagnation", "Stagnation"),
                    ("restart", "Restart"),
                    ("report", "Report"),
                    ("paused", "Paused"),
                    ("done", "Done"),
                    ("aborted", "Aborted"),
                ],
                default="draft",
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("after", models.PositiveIntegerField()),
                ("sessions", models.PositiveIntegerField()),
                ("facts", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="campaigns.campaign",
                    ),
                ),
                (
                    "incumbent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="campaigns.candidate",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "evidence",
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "incumbent", "after"), name="one_evidence_per_round"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="round",
            name="evidence",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rounds",
                to="campaigns.evidence",
            ),
        ),
        migrations.CreateModel(
            name="Phase",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(max_length=20)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="phases",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Repair",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("why", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "candidate",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repair",
                        to="campaigns.candidate",
                    ),
                ),
                (
                    "failed",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repair",
                        to="campaigns.evaluation",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repairs",
                        to="campaigns.round",
                    ),
                ),
            ],
            options={
                "ordering": ("round", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("round", "number"), name="one_repair_number")
                ],
            },
        ),
        migrations.CreateModel(
            name="Restart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("after", models.PositiveIntegerField()),
                (
                    "answer",
                    models.CharField(
                        choices=[("taken", "Taken"), ("declined", "Declined")], max_length=20
                    ),
                ),
                ("why", models.TextField()),
                ("seed", models.BigIntegerField()),
                ("masked", models.JSONField(default=list)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "campaign",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="restart",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("after", models.PositiveIntegerField()),
                ("streak", models.PositiveIntegerField()),
                ("failures", models.JSONField(default=dict)),
                ("directions", models.JSONField(default=list)),
                ("note", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reviews",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "after"), name="one_review_per_round"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Unmasking",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="unmaskings",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "number"), name="one_unmasking_per_round"
                    )
                ],
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", SEALED),
        refuse(TriggerEvent.DELETE, "kept", SEALED),
        refuse(TriggerEvent.INSERT, "late", LATE),
        migrations.RunSQL([PROFILE_FIRST, HELD_TOO], migrations.RunSQL.noop),
    ]
