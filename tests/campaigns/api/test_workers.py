"""/api/v1/workers/: everybody who is logged in reads, an engineer asks for a passport."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from campaigns.models import Worker
from tests.campaigns.views import test_workers

worker = test_workers.worker


@pytest.fixture
def client_of(db):
    """A client of a new user with these permissions; CSRF is checked where a test says so."""

    def make(*names, **options):
        user = User.objects.create(username=f"user-{User.objects.count()}")
        user.user_permissions.add(*Permission.objects.filter(codename__in=names))
        made = Client(**options)
        made.force_login(user)
        return made

    return make


def test_it_lists_workers_with_their_passports(client_of, worker):
    taken = test_workers.passport(worker)
    (row,) = client_of().get("/api/v1/workers/").json()["results"]
    assert (row["worker"], row["platform"], row["alive"]) == ("measure@box", "test-cpu", True)
    found = row["passport"]
    assert (found["state"], found["doubts"], found["passport"]["id"]) == ("good", [], taken.pk)
    assert found["lengths"][0]["noise_floor"] == pytest.approx(0.014)
    assert found["conditions"]["clock_mhz"] == {"low": 1755.0, "high": 1980.0}


def test_it_tells_one_passport_and_that_there_is_none(client_of, worker):
    client, address = client_of(), f"/api/v1/workers/{worker.pk}/passport/"
    none = client.get(address).json()
    assert (none["state"], none["passport"], none["lengths"]) == ("none", None, [])
    test_workers.passport(worker, failures=["one arm is favoured"])
    assert client.get(address).json()["doubts"] == ["one arm is favoured"]
    assert client.get("/api/v1/workers/999/passport/").status_code == 404


def test_an_engineer_asks_and_a_viewer_does_not(client_of, worker):
    address = f"/api/v1/workers/{worker.pk}/passport/"
    refused = client_of().post(address)
    assert refused.status_code == 403
    assert "engineer role" in refused.json()["message"]
    assert not Worker.objects.filter(asked_at__isnull=False).exists()
    answer = client_of("change_campaign").post(address)
    assert answer.status_code == 202
    assert answer.json()["asked_at"] == Worker.objects.get(pk=worker.pk).asked_at.isoformat()


def test_it_wants_a_login_and_a_csrf_token(client_of, client, worker):
    address = f"/api/v1/workers/{worker.pk}/passport/"
    assert client.get(address).status_code == 401
    strict = client_of("change_campaign", enforce_csrf_checks=True)
    assert strict.post(address).status_code == 403
    assert not Worker.objects.filter(asked_at__isnull=False).exists()
