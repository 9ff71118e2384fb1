"""The reasons of a repository's round are those of every verdict; the database lists none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0032_samples"),
    ]

    operations = [
        migrations.AlterField(
            model_name="repositoryround",
            name="reason",
            field=models.CharField(blank=True, max_length=40),
        ),
    ]
