"""Waits for a device: a row each, sealed when it has ended; those that last are taken over."""

import django.db.models.deletion
from django.db import migrations, models

from knowledge.models.triggers import TriggerEvent, refuse

ENDED = {"campaigns_devicewait": "OLD.ended_at IS NOT NULL"}
# Kinds of the events that told of a wait, and of what ended it.
BEGUN = {"device_busy": False, "reproduction_waits": True}
ENDS = {False: ("device_idle", "resumed"), True: ("reproduction_goes_on", "resumed")}


def take_over(apps, schema_editor):
    """The newest event of a wait that lasts holds every column of its row."""
    events = apps.get_model("campaigns", "Event").objects.order_by("-pk")
    waits = apps.get_model("campaigns", "DeviceWait").objects
    for kind, beside in BEGUN.items():
        for campaign in set(events.filter(kind=kind).values_list("campaign", flat=True)):
            newest = events.filter(campaign=campaign, kind__in=(kind, *ENDS[beside])).first()
            if newest.kind == kind:
                data = {key: value for key, value in newest.data.items() if key != "evaluation"}
                waits.create(
                    campaign_id=campaign, is_reproduction=beside, looked_at=newest.at, **data
                )


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0018_passport_wishes")]

    operations = [
        migrations.CreateModel(
            name="DeviceWait",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("is_reproduction", models.BooleanField(default=False)),
                ("since", models.DateTimeField()),
                ("looked_at", models.DateTimeField()),
                (
                    "cause",
                    models.CharField(choices=[("busy", "Busy"), ("held", "Held")], max_length=20),
                ),
                ("why", models.TextField()),
                ("device", models.CharField(max_length=40)),
                ("worker", models.CharField(max_length=120)),
                ("card", models.CharField(blank=True, max_length=200)),
                ("waited_s", models.FloatField(default=0.0)),
                ("look_at", models.DateTimeField()),
                ("pause_at", models.DateTimeField(blank=True, null=True)),
                ("looks", models.JSONField(default=dict)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="device_waits",
                        to="campaigns.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=("campaign", "is_reproduction"),
                        name="one_open_device_wait",
                    )
                ],
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", ENDED),
        refuse(TriggerEvent.DELETE, "kept", ENDED),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
