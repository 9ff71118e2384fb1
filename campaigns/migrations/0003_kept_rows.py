"""Records are refused their deletion, and finished ones every addition, by the database itself."""

from django.db import migrations

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

FINISHED = {"campaigns_campaign": "OLD.state IN ('done', 'aborted')"}
KEPT = {
    "campaigns_problem": EVERY_ROW,
    "campaigns_case": EVERY_ROW,
    "campaigns_protocol": EVERY_ROW,
    "campaigns_candidate": EVERY_ROW,
    "campaigns_verdict": EVERY_ROW,
    "campaigns_event": EVERY_ROW,
    "campaigns_evaluation": "OLD.state = 'done'",
    "campaigns_round": "OLD.state = 'closed'",
    "campaigns_campaign": EVERY_ROW,
}
# Only the report's own evaluation comes after the rounds; nothing starts in a later state.
LATE = {
    "campaigns_campaign": "NEW.state <> 'draft'",
    "campaigns_round": "NEW.state <> 'open' OR EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state IN ('done', 'aborted'))",
    "campaigns_candidate": "EXISTS (SELECT 1 FROM campaigns_round r "
    "WHERE r.id = NEW.round_id AND r.state = 'closed')",
    "campaigns_evaluation": "NEW.state <> 'queued' OR (NEW.kind <> 'report' AND EXISTS "
    "(SELECT 1 FROM campaigns_round r JOIN campaigns_candidate c ON c.round_id = r.id "
    "WHERE c.id = NEW.candidate_id AND r.state = 'closed'))",
}


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0002_sealed_rows")]
    operations = [
        refuse(TriggerEvent.UPDATE, "finished", FINISHED),
        refuse(TriggerEvent.DELETE, "kept", KEPT),
        refuse(TriggerEvent.INSERT, "late", LATE),
    ]
