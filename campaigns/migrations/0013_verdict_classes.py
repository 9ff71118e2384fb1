"""What a round gained in each config class.

Null, and so without a default: SQLite would rebuild the table for one, and drop its triggers.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0012_answered_wishes")]
    operations = [
        migrations.AddField("verdict", "classes", models.JSONField(null=True, blank=True)),
    ]
