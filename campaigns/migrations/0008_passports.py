"""Noise passports, wishes for them, void measurements; the noise floor that a verdict stood on."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

KEPT = {
    "campaigns_passport": EVERY_ROW,
    "campaigns_passportwish": EVERY_ROW,
    "campaigns_void": EVERY_ROW,
}
KEY = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
WORKER = "campaigns.worker"
PROTECT = django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0007_findings"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("verdict", "noise", models.JSONField(blank=True, null=True)),
        migrations.CreateModel(
            name="Passport",
            fields=[
                ("id", KEY),
                ("card", models.CharField(max_length=200)),
                ("device", models.CharField(max_length=40)),
                ("backend", models.CharField(max_length=40)),
                ("why", models.CharField(max_length=300)),
                ("host", models.JSONField(default=dict)),
                ("lengths", models.JSONField(default=list)),
                ("conditions", models.JSONField(default=dict)),
                ("failures", models.JSONField(default=list)),
                ("reports", models.JSONField(default=list)),
                ("error", models.TextField(blank=True)),
                ("wall_s", models.FloatField(default=0.0)),
                ("taken_at", models.DateTimeField(auto_now_add=True)),
                (
                    "worker",
                    models.ForeignKey(on_delete=PROTECT, related_name="passports", to=WORKER),
                ),
            ],
            options={"ordering": ("-pk",)},
        ),
        migrations.CreateModel(
            name="PassportWish",
            fields=[
                ("id", KEY),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(on_delete=PROTECT, related_name="passport_wishes", to=WORKER),
                ),
            ],
            options={"ordering": ("-pk",)},
        ),
        migrations.CreateModel(
            name="Void",
            fields=[
                ("id", KEY),
                ("sentence", models.TextField()),
                ("found", models.JSONField(default=list)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "evaluation",
                    models.OneToOneField(
                        on_delete=PROTECT, related_name="void", to="campaigns.evaluation"
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        refuse(TriggerEvent.UPDATE, "sealed", KEPT),
        refuse(TriggerEvent.DELETE, "kept", KEPT),
    ]
