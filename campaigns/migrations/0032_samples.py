"""Samples: campaigns that were measured elsewhere, which alone may be deleted again."""

from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

ROUND = "(SELECT r.campaign_id FROM campaigns_round r WHERE r.id = OLD.round_id)"
CANDIDATE = (
    "(SELECT r.campaign_id FROM campaigns_candidate k JOIN campaigns_round r ON r.id = k.round_id "
    "WHERE k.id = OLD.candidate_id)"
)
# Table → which of its rows are kept in 0001, and the key of a row's campaign.
KEPT = {
    "campaign": (EVERY_ROW, "OLD.id"),
    **dict.fromkeys(("phase", "event", "evidence"), (EVERY_ROW, "OLD.campaign_id")),
    **dict.fromkeys(("candidate", "verdict", "standing"), (EVERY_ROW, ROUND)),
    "round": ("OLD.state = 'closed'", "OLD.campaign_id"),
    "evaluation": ("OLD.state = 'done'", CANDIDATE),
}
SAMPLE = "EXISTS (SELECT 1 FROM campaigns_campaign c WHERE c.id = {} AND c.recorded_at IS NOT NULL)"
BEFORE, AFTER = (
    refuse(TriggerEvent.DELETE, "kept", {f"campaigns_{table}": row for table, row in rows.items()})
    for rows in (
        {table: row for table, (row, _) in KEPT.items()},
        {
            table: f"({row}) AND NOT {SAMPLE.format(campaign)}"
            for table, (row, campaign) in KEPT.items()
        },
    )
)


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0031_series")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="recorded_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        # Or what was measured here could be called a sample and deleted.
        refuse(
            TriggerEvent.UPDATE,
            "recorded",
            {
                "campaigns_campaign": "OLD.state <> 'draft' AND "
                "(NEW.recorded_at <> OLD.recorded_at "
                "OR (NEW.recorded_at IS NULL) <> (OLD.recorded_at IS NULL))"
            },
        ),
        migrations.RunPython(BEFORE.reverse_code, BEFORE.code),
        AFTER,
    ]
