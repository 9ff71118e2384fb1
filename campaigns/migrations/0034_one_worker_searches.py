"""A search is done by one worker: what waited for others, or was under way there, ends."""

from typing import Any

from django.db import migrations
from django.utils import timezone

WHY = "A search is done by one worker since kopt was upgraded."


def end_help(apps: Any, schema_editor: Any) -> None:
    evaluations = apps.get_model("campaigns", "Evaluation").objects
    unfinished = evaluations.filter(kind__in=("share", "build")).exclude(state="done")
    unfinished.update(state="done", reason=WHY, finished_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0033_any_reason")]

    operations = [
        migrations.RunPython(end_help, migrations.RunPython.noop),
        migrations.DeleteModel("SweepOrder"),
    ]
