"""What a worker's noise is stands in its passports; the column of before them goes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0008_passports")]
    operations = [migrations.RemoveField("worker", "noise")]
