"""Kernels that a campaign counts as a candidate's own, frozen with the rest when it is confirmed.

Null, and so without a default: SQLite would rebuild the table for one, and drop its triggers.
"""

from django.db import migrations, models

from knowledge.models.triggers import TriggerEvent, refuse

CONFIRMED = {
    "campaigns_campaign": "OLD.state <> 'draft' AND (NEW.own_kernels <> OLD.own_kernels "
    "OR (NEW.own_kernels IS NULL) <> (OLD.own_kernels IS NULL))"
}


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0010_frozen_campaign")]
    operations = [
        migrations.AddField("campaign", "own_kernels", models.JSONField(null=True, blank=True)),
        refuse(TriggerEvent.UPDATE, "declared", CONFIRMED),
    ]
