"""The sample campaign is the same whether it was built or put back."""

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from campaigns.models import Campaign, Verdict
from tests import kept_rows
from tests.campaigns import sample
from tests.campaigns.sample import build_sample
from tests.kept_rows import read

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="built for each test on a server"),
]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(kept_rows, "_kept", {})


def rows():
    models = [
        m for app in ("knowledge", "campaigns") for m in apps.get_app_config(app).get_models()
    ]
    return {model.__name__: read(model._meta.db_table) for model in models}


def triggers():
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        return cursor.fetchall()


def built_then_forgotten(**options):
    """What it left before it was rolled back."""
    with transaction.atomic():
        build_sample(**options)
        left = rows()
        transaction.set_rollback(True)
    assert not Campaign.objects.exists()
    return left


def test_it_is_put_back_with_every_row(monkeypatch):
    before = triggers()
    left = built_then_forgotten()
    monkeypatch.setattr(sample, "_drive", None)
    build_sample()
    assert rows() == left
    assert Verdict.objects.count() == 10
    assert triggers() == before


def test_it_is_sealed_like_the_built_one():
    built_then_forgotten()
    campaign = build_sample()
    for change in ("title = 'x'", "state = 'draft'"):
        with (
            pytest.raises(IntegrityError, match="never changed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE campaigns_campaign SET {change}")
    late = campaign.rounds.last()
    late.pk, late.number, late.state = None, 11, "open"
    with pytest.raises(IntegrityError, match="never added to"), transaction.atomic():
        late.save_base(force_insert=True)


def test_it_belongs_to_who_asks_for_it():
    with transaction.atomic():
        build_sample(owner=User.objects.create_user("ada"))
        transaction.set_rollback(True)
    User.objects.create_user("bob")
    ada = User.objects.create_user("ada")
    assert build_sample(owner=ada).created_by == ada
    assert {*Campaign.objects.values_list("created_by", flat=True)} == {ada.pk}
