"""Which wish a passport answers; until now the clocks of two hosts had to tell."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0011_own_kernels")]
    operations = [
        migrations.AddField(
            "passport",
            "answers",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="passports",
                to="campaigns.passportwish",
            ),
        ),
    ]
