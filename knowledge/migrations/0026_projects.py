"""Projects, what belongs to them, and what was learnt in them."""

import re

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
TRACK = ("strategy", "op", "dtype", "backend", "platform", "arch", "shape_class", "bottleneck")
TRICK = ("op", "dtype", "backend", "platform", "arch", "strategy")
OF_CAMPAIGN = re.compile(r"/c/([0-9]+)/")


def name_campaigns(apps, schema_editor):
    """What people were told of campaigns, by the address."""
    Notification = apps.get_model("knowledge", "Notification")
    found = Notification.objects.filter(url__contains="/c/").values_list("pk", "url")
    for key, url in found.iterator(2_000):
        if match := OF_CAMPAIGN.search(url):
            Notification.objects.filter(pk=key).update(campaign=int(match[1]))


def of_project(name):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name=name, to="knowledge.project"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0025_series_notices"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", ID.clone()),
                ("name", models.CharField(max_length=60, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "members",
                    models.ManyToManyField(
                        blank=True, related_name="projects", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="ProjectChange",
            fields=[
                ("id", ID.clone()),
                ("what", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("project", of_project("changes")),
            ],
            options={"ordering": ("-pk",)},
        ),
        migrations.CreateModel(
            name="ProjectWork",
            fields=[
                ("id", ID.clone()),
                (
                    "kind",
                    models.CharField(
                        choices=[("campaign", "Campaign"), ("problem", "Problem")], max_length=10
                    ),
                ),
                ("key", models.BigIntegerField()),
                ("project", of_project("work")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("kind", "key"), name="one_project")]
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", {"knowledge_projectchange": EVERY_ROW}),
        refuse(TriggerEvent.DELETE, "kept", {"knowledge_projectchange": EVERY_ROW}),
        migrations.AddField(
            "notification", "campaign", models.BigIntegerField(blank=True, null=True)
        ),
        migrations.RunPython(name_campaigns, migrations.RunPython.noop),
        migrations.RemoveConstraint("lesson", "one_anti_pattern_per_trick"),
        migrations.AddField("lesson", "project", models.BigIntegerField(default=0)),
        migrations.AddConstraint(
            "lesson",
            models.UniqueConstraint(
                condition=models.Q(("source", "refused_trick")),
                fields=(*TRICK, "project"),
                name="one_anti_pattern_per_trick",
            ),
        ),
        migrations.RemoveConstraint("trackrecord", "one_track_per_context"),
        migrations.AddField("trackrecord", "project", models.BigIntegerField(default=0)),
        migrations.AddConstraint(
            "trackrecord",
            models.UniqueConstraint(fields=(*TRACK, "project"), name="one_track_per_context"),
        ),
    ]
