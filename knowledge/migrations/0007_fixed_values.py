"""The value of a spec and what it answers are refused every change by the database itself.

State, rank, note and proposer change, each with a line of history; another value is another spec.
"""

from django.db import migrations

from knowledge.models.triggers import TriggerEvent, refuse

FIXED = ("platform_id", "metric", "shown", "unit", "qualifiers", "evidence", "source")
CHANGED = " OR ".join(f"OLD.{name} <> NEW.{name}" for name in FIXED)
# A value may be NULL, which equals nothing; no value is this far below zero.
VALUE = "COALESCE(OLD.value, -1e300) <> COALESCE(NEW.value, -1e300)"


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0006_roles")]
    operations = [refuse(TriggerEvent.UPDATE, "fixed", {"knowledge_spec": f"{CHANGED} OR {VALUE}"})]
