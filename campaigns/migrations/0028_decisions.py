"""What people decide about rounds and results; never changed, never deleted."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0001_squashed_0027_fewer_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ReviewDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "word",
                    models.CharField(
                        choices=[
                            ("approved", "approved"),
                            ("returned", "returned"),
                            ("invalid", "marked invalid"),
                            ("rerun", "sent for a re-run"),
                            ("undone", "taken back"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
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
                        related_name="decisions",
                        to="campaigns.campaign",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="campaigns.round",
                    ),
                ),
                (
                    "undoes",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="undone",
                        to="campaigns.reviewdecision",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "permissions": [("review_round", "Can decide about rounds and results of others")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("undoes__isnull", False), ("word", "undone")),
                            models.Q(
                                ("undoes__isnull", True),
                                models.Q(("word", "undone"), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="undone_names_what",
                    )
                ],
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", {"campaigns_reviewdecision": EVERY_ROW}),
        refuse(TriggerEvent.DELETE, "kept", {"campaigns_reviewdecision": EVERY_ROW}),
    ]
