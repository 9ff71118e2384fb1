"""A context with one measured attempt has that attempt's interval; it was stored with none."""

from django.db import migrations


def fill(apps, schema_editor):
    Experience = apps.get_model("knowledge", "Experience")
    TrackRecord = apps.get_model("knowledge", "TrackRecord")
    alone = Experience.objects.filter(standing="counts", track__gains=1).exclude(gain_low=None)
    for key, low, high in alone.values_list("track", "gain_low", "gain_high"):
        TrackRecord.objects.filter(pk=key).update(gain_low=low, gain_high=high)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_squashed_0018_one_table_of_imports")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
