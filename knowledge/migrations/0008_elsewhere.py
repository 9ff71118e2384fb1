"""What was done to a value where it was imported from: by whom and when, as its export says."""

from django.db import migrations, models

MODELS = ("spec", "specchange", "flag", "waiver")


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0007_fixed_values")]
    # Columns without a default: SQLite adds them in place, and the triggers of a table stay.
    operations = [
        migrations.AddField(
            model, "elsewhere", models.JSONField(blank=True, editable=False, null=True)
        )
        for model in MODELS
    ]
