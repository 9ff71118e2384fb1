"""Comments, which are never changed, and what people are told of."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0019_intervals_of_one_attempt"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Comment",
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
                        choices=[
                            ("round", "round"),
                            ("campaign", "campaign"),
                            ("case", "case"),
                            ("diff", "line of a diff"),
                            ("spec", "value"),
                            ("lesson", "lesson"),
                        ],
                        max_length=12,
                    ),
                ),
                ("key", models.CharField(max_length=80)),
                ("anchor", models.CharField(blank=True, max_length=200)),
                ("text", models.TextField(blank=True)),
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
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replies",
                        to="knowledge.comment",
                    ),
                ),
                (
                    "retracts",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="retracted",
                        to="knowledge.comment",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [models.Index(fields=["key", "kind"], name="comments_of_a_subject")],
            },
        ),
        migrations.CreateModel(
            name="Notification",
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
                        choices=[
                            ("mention", "mentioned you"),
                            ("comment", "commented"),
                            ("approved", "approved"),
                            ("returned", "returned"),
                            ("invalid", "marked invalid"),
                            ("rerun", "re-run"),
                        ],
                        max_length=12,
                    ),
                ),
                ("text", models.CharField(max_length=300)),
                ("url", models.CharField(max_length=300)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["person", "read_at"], name="notices_of_a_person")],
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", {"knowledge_comment": EVERY_ROW}),
        refuse(TriggerEvent.DELETE, "kept", {"knowledge_comment": EVERY_ROW}),
    ]
