"""Recorded rows are refused every change by the database itself."""

from django.db import migrations

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

SEALED = {
    "campaigns_problem": EVERY_ROW,
    "campaigns_case": EVERY_ROW,
    "campaigns_protocol": EVERY_ROW,
    "campaigns_candidate": EVERY_ROW,
    "campaigns_verdict": EVERY_ROW,
    "campaigns_event": EVERY_ROW,
    "campaigns_evaluation": "OLD.state = 'done'",
    "campaigns_round": "OLD.state = 'closed'",
}


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0001_initial")]
    operations = [refuse(TriggerEvent.UPDATE, "sealed", SEALED)]
