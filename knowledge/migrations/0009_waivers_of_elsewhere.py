"""A warning may have been excepted elsewhere: then nobody of this installation did it."""

from django.conf import settings
from django.db import migrations, models
from django.db.migrations import RunPython

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

WAIVER = {"knowledge_waiver": EVERY_ROW}
FROZEN = refuse(TriggerEvent.UPDATE, "frozen", WAIVER)
KEPT = refuse(TriggerEvent.DELETE, "kept", WAIVER)


def lifted(operation):
    """The operation that takes this one back."""
    return RunPython(operation.reverse_code, operation.code)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0008_elsewhere")]
    # SQLite makes the table anew, without its triggers.
    operations = [
        lifted(FROZEN),
        lifted(KEPT),
        migrations.AlterField(
            "waiver",
            "by",
            models.ForeignKey(
                settings.AUTH_USER_MODEL,
                models.PROTECT,
                null=True,
                blank=True,
                related_name="+",
            ),
        ),
        FROZEN,
        KEPT,
    ]
