from django.db import migrations


def forget(apps, schema_editor):
    """Nobody has shown yet that these addresses are theirs; each person is asked again."""
    apps.get_model("knowledge", "MailAddress").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0026_projects")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
