"""An address keeps its last answer and until when it was told; what was delivered has no log."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0034_one_worker_searches")]

    operations = [
        migrations.AddField("webhook", "told_until", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("webhook", "answer", models.JSONField(blank=True, null=True)),
        migrations.DeleteModel("Delivery"),
    ]
