"""The target that a campaign is asked to reach.

Null, and so without a default: SQLite would rebuild the table for one, and drop its triggers.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0004_pitfalls")]
    operations = [migrations.AddField("campaign", "goal", models.JSONField(null=True, blank=True))]
