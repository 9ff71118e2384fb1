from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0005_kept_history"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="spec",
            options={
                "ordering": ["metric", "-rank", "pk"],
                "permissions": [
                    ("propose_spec", "Can propose values and bring documents in"),
                    ("review_spec", "Can approve, return and retire values of others"),
                ],
            },
        ),
    ]
