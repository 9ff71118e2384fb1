"""What a campaign is judged by is not changed once it is confirmed, whoever asks (R1)."""

from django.db import migrations

from knowledge.models.triggers import TriggerEvent, refuse

FROZEN = (
    *("problem_id", "platform_id", "protocol_id", "backend", "cases", "proposer"),
    *("stop_policy", "goal", "findings_policy", "seed", "created_by_id"),
)
# Neither database has an operator for this that the other one has, too.
CHANGED = "NEW.{0} <> OLD.{0} OR (NEW.{0} IS NULL) <> (OLD.{0} IS NULL)"
CONFIRMED = {
    "campaigns_campaign": "OLD.state <> 'draft' AND "
    f"({' OR '.join(CHANGED.format(name) for name in FROZEN)})"
}


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0009_worker_noise")]
    operations = [refuse(TriggerEvent.UPDATE, "frozen", CONFIRMED)]
