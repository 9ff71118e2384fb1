"""A person's own page: notifications, keys, sessions."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from knowledge.models import NoticeKind, Notification

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def alice(db):
    return User.objects.create(username="alice")


@pytest.fixture
def client_of(alice):
    client = Client()
    client.force_login(alice)
    return client


def test_it_lists_what_a_person_is_told_and_opening_reads_it(client_of, alice):
    other = User.objects.create(username="bob")
    Notification.objects.all().tell([alice.pk], NoticeKind.MENTION, f"bob {HOSTILE}", "/c/")
    Notification.objects.all().tell([other.pk], NoticeKind.MENTION, "not hers", "/c/")
    body = client_of.get("/me/").content.decode()
    assert "1 unread" in body
    assert HOSTILE not in body
    assert "not hers" not in body
    row = Notification.objects.get(person=alice)
    assert client_of.get(f"/me/notifications/{row.pk}").url == "/c/"
    assert "0 unread" in client_of.get("/me/").content.decode()
    theirs = Notification.objects.get(person=other)
    assert client_of.get(f"/me/notifications/{theirs.pk}").status_code == 404


def test_everything_can_be_called_read(client_of, alice):
    Notification.objects.all().tell([alice.pk], NoticeKind.COMMENT, "x", "/c/")
    assert client_of.get("/me/notifications/read").status_code == 405
    client_of.post("/me/notifications/read")
    assert not Notification.objects.unread(alice).exists()


def test_single_keys_can_be_switched_off(client_of):
    assert 'data-keys="off"' not in client_of.get("/me/").content.decode()
    client_of.post("/me/keys", {"keys": "off"})
    assert 'data-keys="off"' in client_of.get("/").content.decode()
    client_of.post("/me/keys", {"keys": "on"})
    assert 'data-keys="off"' not in client_of.get("/").content.decode()


def test_a_person_ends_the_other_sessions(client_of, alice):
    second = Client()
    second.force_login(alice)
    stranger = Client()
    stranger.force_login(User.objects.create(username="bob"))
    assert client_of.get("/me/").content.decode().count("another browser") == 1
    client_of.post("/me/sessions/end")
    assert second.get("/me/").status_code == 302
    assert (client_of.get("/me/").status_code, stranger.get("/me/").status_code) == (200, 200)
