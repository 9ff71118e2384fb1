"""What is found in a candidate's source, and what a campaign makes of it.

Null, and so without a default: SQLite would rebuild the tables for one, and drop their triggers.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0006_standings")]
    operations = [
        migrations.AddField("campaign", "findings_policy", models.JSONField(null=True, blank=True)),
        migrations.AddField("candidate", "findings", models.JSONField(null=True, blank=True)),
    ]
