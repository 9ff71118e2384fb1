"""One disagreement for each pair, on SQLite too: there the older constraint was never made."""

from typing import Any

from django.db import migrations, models


def keep_one_of_each(apps: Any, schema_editor: Any) -> None:
    """Delete what is there twice: the decided one stays, else the first."""
    rows = apps.get_model("knowledge", "Disagreement").objects
    seen: set[tuple[int, int | None, int | None]] = set()
    # "decided" comes before "open".
    for row in rows.order_by("state", "pk"):
        key = (row.first_id, row.second_id, row.lesson_id)
        if key in seen:
            row.delete()
        seen.add(key)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0014_tokens")]

    operations = [
        migrations.RemoveConstraint(model_name="disagreement", name="one_disagreement"),
        migrations.RunPython(keep_one_of_each, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="disagreement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("second__isnull", False)),
                fields=("first", "second"),
                name="one_disagreement_per_pair",
            ),
        ),
        migrations.AddConstraint(
            model_name="disagreement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("lesson__isnull", False)),
                fields=("first", "lesson"),
                name="one_disagreement_per_lesson",
            ),
        ),
    ]
