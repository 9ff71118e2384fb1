"""The commits of accepted rounds, and the triggers that keep them."""

import django.db.models.deletion
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

SEALED = {"campaigns_commit": EVERY_ROW}
# A hash is written down once its round can not change any more, and for an accepted one alone.
LATE = {
    "campaigns_commit": "NOT EXISTS (SELECT 1 FROM campaigns_round r "
    "JOIN campaigns_verdict v ON v.round_id = r.id "
    "WHERE r.id = NEW.round_id AND r.state = 'closed' AND v.word = 'accepted')"
}


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0013_verdict_classes")]

    operations = [
        migrations.CreateModel(
            name="Commit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("branch", models.CharField(max_length=200)),
                ("sha", models.CharField(max_length=40)),
                ("message", models.TextField()),
                ("source", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="commit",
                        to="campaigns.round",
                    ),
                ),
            ],
            options={"ordering": ("pk",)},
        ),
        refuse(TriggerEvent.UPDATE, "sealed", SEALED),
        refuse(TriggerEvent.DELETE, "kept", SEALED),
        refuse(TriggerEvent.INSERT, "late", LATE),
    ]
