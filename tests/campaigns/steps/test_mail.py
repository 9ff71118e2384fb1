"""Mail: one letter for what a person has not read, once."""

import re
import time
from datetime import timedelta
from smtplib import SMTPServerDisconnected
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from campaigns.steps.mail import ring_for_mail, write_mail
from knowledge.models import MailAddress, NoticeKind, Notification

pytestmark = pytest.mark.storage


@pytest.fixture
def alice(db, settings):
    settings.EMAIL_HOST = "mail.example.org"
    cache.clear()
    return User.objects.create(username="alice")


def told(person, *texts, ago_s=90):
    for text in texts:
        Notification.objects.all().tell([person.pk], NoticeKind.MENTION, text, "/c/1/")
    at = timezone.now() - timedelta(seconds=ago_s)
    Notification.objects.filter(person=person).update(at=at)


def wants(person, address="alice@example.org"):
    return MailAddress.objects.create(person=person, address=address, site="https://kopt.test")


def test_one_letter_tells_all_of_it_once(alice):
    wants(alice)
    told(alice, "bob mentioned you", "round 3 is returned")
    assert write_mail(alice.pk) == 2
    (letter,) = mail.outbox
    assert letter.to == ["alice@example.org"]
    assert letter.subject == "kopt: 2 things need you"
    assert "bob mentioned you\nhttps://kopt.test/c/1/" in letter.body
    assert write_mail(alice.pk) == 0
    assert len(mail.outbox) == 1


def test_a_text_makes_no_header(alice):
    wants(alice)
    told(alice, "hi\nBcc: eve@example.org")
    write_mail(alice.pk)
    assert mail.outbox[0].subject == "hi Bcc: eve@example.org"
    assert mail.outbox[0].bcc == []


def test_nothing_is_sent_that_is_new_read_or_not_wanted(alice):
    told(alice, "x")
    assert write_mail(alice.pk) == 0
    wants(alice)
    Notification.objects.update(at=timezone.now())
    assert write_mail(alice.pk) == 0
    told(alice, "y")
    Notification.objects.update(read_at=timezone.now())
    assert write_mail(alice.pk) == 0
    assert mail.outbox == []


def test_a_server_that_is_away_loses_no_notification(alice, monkeypatch):
    wants(alice)
    told(alice, "x")

    def refuse(*args, **kwargs):
        raise SMTPServerDisconnected("gone")

    monkeypatch.setattr("campaigns.steps.mail.send_mail", refuse)
    assert write_mail(alice.pk) == 1
    assert Notification.objects.unread(alice).count() == 1


def test_it_rings_once_a_person_and_not_without_a_server(alice, settings, monkeypatch):
    rung = []
    monkeypatch.setattr("campaigns.steps.mail.send_after_commit", lambda *args: rung.append(args))
    wants(alice)
    told(alice, "x", "y")
    ring_for_mail()
    assert [args[1] for args in rung] == [alice.pk]
    settings.EMAIL_HOST = ""
    ring_for_mail()
    assert len(rung) == 1


def test_a_person_asks_for_it_on_their_page(alice):
    client = Client()
    client.force_login(alice)
    assert "No mail is sent to you." in client.get("/me/").content.decode()
    client.post("/me/mail", {"address": "alice@example.org"})
    client.get(link_of_letter("alice@example.org"))
    assert MailAddress.objects.get().site == "http://testserver"
    body = client.post("/me/mail", {"address": "<b>"}, follow=True).content.decode()
    assert "accepted: one like you@example.org" in body
    client.post("/me/mail", {"address": ""})
    assert not MailAddress.objects.exists()


def link_of_letter(address):
    (letter,) = mail.outbox
    assert letter.to == [address]
    return re.search(r"http://testserver(\S+)", letter.body)[1]


def test_an_address_gets_nothing_before_its_owner_has_confirmed_it(alice, monkeypatch):
    told(alice, "x")
    client, mallory = Client(), Client()
    client.force_login(alice)
    mallory.force_login(User.objects.create(username="mallory"))
    client.post("/me/mail", {"address": "eve@example.org"})
    link = link_of_letter("eve@example.org")
    assert mallory.get(link).status_code == 302  # another person's link
    assert client.get(f"{link}x").status_code == 302
    with monkeypatch.context() as later:
        at = time.time() + timedelta(days=2).total_seconds()
        later.setattr("django.core.signing.time", SimpleNamespace(time=lambda: at))
        client.get(link)
    assert write_mail(alice.pk) == 0
    client.get(link)
    assert write_mail(alice.pk) == 1
    assert mail.outbox[-1].to == ["eve@example.org"]


def test_letters_that_ask_are_few(alice):
    client = Client()
    client.force_login(alice)
    answers = [client.post("/me/mail", {"address": f"{n}@example.org"}) for n in range(3)]
    assert [answer.status_code for answer in answers] == [302, 429, 429]
    assert answers[1].headers["Retry-After"] == "60"
    assert len(mail.outbox) == 1
