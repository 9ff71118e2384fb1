"""Torch is measured beside the incumbent: eager, compiled, and the library's kernel."""

from django.db import migrations, models

from knowledge.models.triggers import TriggerEvent, refuse

# As in 0006, with the new kinds.
LATE = (
    "NEW.state <> 'queued' OR (NEW.kind NOT IN ({kinds}) AND EXISTS "
    "(SELECT 1 FROM campaigns_round r JOIN campaigns_candidate c ON c.round_id = r.id "
    "WHERE c.id = NEW.candidate_id AND r.state = 'closed'))"
)
EARLIER = "'report', 'reproduce'"
TORCH = "'eager', 'compile', 'compile-max-autotune', 'library'"
BEFORE, AFTER = (
    refuse(TriggerEvent.INSERT, "late", {"campaigns_evaluation": LATE.format(kinds=kinds)})
    for kinds in (EARLIER, f"{EARLIER}, {TORCH}")
)


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0024_repositories"),
    ]

    operations = [
        migrations.AlterField(
            model_name="evaluation",
            name="kind",
            field=models.CharField(
                choices=[
                    ("baseline", "Baseline"),
                    ("screen", "Screen"),
                    ("sweep", "Sweep"),
                    ("share", "Share"),
                    ("build", "Build"),
                    ("decide", "Decide"),
                    ("remeasure", "Remeasure"),
                    ("report", "Report"),
                    ("reproduce", "Reproduce"),
                    ("eager", "Eager"),
                    ("compile", "Compile"),
                    ("compile-max-autotune", "Compile Max"),
                    ("library", "Library"),
                ],
                max_length=20,
            ),
        ),
        migrations.RunPython(BEFORE.reverse_code, BEFORE.code),
        AFTER,
    ]
