"""Names of models as the admin writes them."""

from django.apps import apps


def test_no_plural_is_misspelt():
    names = [
        model._meta.verbose_name_plural for model in apps.get_app_config("campaigns").get_models()
    ]
    assert [name for name in names if str(name).endswith(("shs", "chs", "xs", "ys"))] == []
