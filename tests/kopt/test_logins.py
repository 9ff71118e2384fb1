"""Doors that take a password: few wrong ones, few hashed at a time, and pages beside them."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from knowledge.curation import logins
from knowledge.curation.errors import TooManyAtOnce
from knowledge.curation.logins import (
    MOST_BY_ADDRESS,
    MOST_BY_NAME,
    WINDOW,
    HashedInTurn,
)
from knowledge.models import LoginAttempt
from tests.knowledge.racing import at_once

RIGHT = {"username": "ada", "password": "right"}
WRONG = {"username": "ada", "password": "wrong"}


@pytest.fixture
def ada(db):
    return User.objects.create_superuser("ada", password="right")


def guess(client, address, number=0, **more):
    body = {"username": "ada", "old_password": "wrong", "password": f"wrong{number}", **more}
    return client.post(address, body)


@pytest.mark.parametrize("address", ["/login/", "/admin/login/", "/admin/password_change/"])
def test_it_refuses_the_eleventh_guess_at_every_door(ada, client, address):
    if "change" in address:
        client.force_login(ada)
    seen = [guess(client, address, number).status_code for number in range(MOST_BY_NAME + 1)]
    assert seen == [200] * MOST_BY_NAME + [429]
    answer = guess(client, address)
    assert 290 <= int(answer.headers["Retry-After"]) <= WINDOW.total_seconds()
    assert "Too many wrong passwords; try again in" in answer.content.decode()


def test_it_knows_every_door_that_takes_a_password():
    """Each view of Django's that looks at a password is behind `throttled`."""
    doors = {"login", "password_change"}
    found = [pattern for pattern in _patterns(get_resolver()) if pattern.name in doors]
    assert {str(pattern.pattern) for pattern in found} == {"login/", "password_change/"}
    for address in ("/login/", "/admin/login/", "/admin/password_change/"):
        view = get_resolver().resolve(address).func
        assert "throttled" in _wrappers(view)


def test_it_refuses_the_right_password_too_and_forgets_with_time(ada, client):
    for _ in range(MOST_BY_NAME):
        client.post("/login/", WRONG)
    assert client.post("/login/", RIGHT).status_code == 429
    LoginAttempt.objects.update(at=timezone.now() - WINDOW - timedelta(seconds=1))
    assert client.post("/login/", RIGHT).status_code == 302


def test_it_forgets_a_persons_own_mistakes_when_they_log_in(ada, client):
    for _ in range(MOST_BY_NAME - 1):
        client.post("/login/", WRONG)
    assert client.post("/login/", RIGHT).status_code == 302
    assert [client.post("/login/", WRONG).status_code for _ in range(MOST_BY_NAME)].count(429) == 0


def test_it_lets_nobody_forget_the_mistakes_about_another_name(ada, client):
    for _ in range(MOST_BY_NAME):
        client.post("/login/", WRONG)
    bob = Client()
    bob.force_login(User.objects.create_user("bob"))
    bob.post("/admin/password_change/", RIGHT)
    User.objects.create_superuser("eve", password="mine")
    assert client.post("/login/", {"username": "eve", "password": "mine"}).status_code == 302
    assert Client().post("/login/", RIGHT).status_code == 429


@pytest.mark.parametrize("name", ["ada", " ada ", "\uff41da"])
def test_it_counts_every_spelling_that_opens_the_same_account(ada, client, name):
    for _ in range(MOST_BY_NAME):
        client.post("/login/", {"username": name, "password": "wrong"})
    assert client.post("/login/", RIGHT).status_code == 429


def test_it_limits_an_address_that_tries_many_names(ada, client):
    for number in range(MOST_BY_ADDRESS):
        guess(client, "/login/", username=f"u{number}")
    assert client.post("/login/", RIGHT).status_code == 429
    other = Client(REMOTE_ADDR="192.0.2.7")
    assert other.post("/login/", RIGHT).status_code == 302


def test_it_takes_a_network_of_ipv6_for_one_address(ada):
    for number in range(MOST_BY_ADDRESS):
        guess(Client(REMOTE_ADDR=f"2001:db8::{number + 1:x}"), "/login/", username=f"u{number}")
    assert Client(REMOTE_ADDR="2001:db8::ffff").post("/login/", RIGHT).status_code == 429
    assert Client(REMOTE_ADDR="2001:db8:0:1::1").post("/login/", RIGHT).status_code == 302


@pytest.mark.parametrize(("header", "last"), [("", 429), ("X-Forwarded-For", 302)])
def test_it_trusts_a_header_only_where_one_is_set(ada, settings, header, last):
    settings.KOPT_CLIENT_HEADER = header
    for number in range(MOST_BY_ADDRESS):
        client = Client(headers={"X-Forwarded-For": "192.0.2.7, 198.51.100.1"})
        guess(client, "/login/", username=f"u{number}")
    # What the client says itself comes first; the proxy adds what it has seen.
    client = Client(headers={"X-Forwarded-For": "198.51.100.1, 192.0.2.8"})
    assert client.post("/login/", RIGHT).status_code == last


def test_it_answers_json_where_json_was_asked(ada, client):
    for _ in range(MOST_BY_NAME):
        client.post("/login/", WRONG)
    answer = client.post("/login/", RIGHT, headers={"Accept": "application/json"})
    assert (answer.status_code, answer["Content-Type"]) == (429, "application/problem+json")
    assert answer.json()["message"].startswith("Too many wrong passwords; try again in")


def test_it_keeps_no_name_and_no_address(ada, client):
    client.post("/login/", {"username": "my-secret-password", "password": "x"})
    assert LoginAttempt.objects.count() == 2
    assert "secret" not in str(list(LoginAttempt.objects.values()))


@pytest.mark.storage
def test_it_counts_those_that_come_at_once(transactional_db):
    limits = {"a": 3}
    found = at_once(*(lambda: logins._counted(limits) for _ in range(8)))
    assert sum(isinstance(one, TooManyAtOnce) for one in found) == 5
    assert LoginAttempt.objects.count() == 3


def test_it_hashes_a_few_at_a_time_and_turns_the_rest_away(monkeypatch):
    """Thirty at once: some are hashed, never more than a few together, and nobody waits long."""
    now, most, lock = [0], [0], threading.Lock()
    leave = threading.Event()

    def slow(self, password, salt, iterations=None):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        leave.wait(5)
        with lock:
            now[0] -= 1
        return "hash"

    monkeypatch.setattr(HashedInTurn.__base__, "encode", slow)
    refused = []

    def ask():
        try:
            HashedInTurn().encode("x", "salt")
        except TooManyAtOnce as error:
            refused.append(error)
            if len(refused) == 30 - logins.HASHED_AT_A_TIME - logins.WAITING:
                leave.set()

    threads = [threading.Thread(target=ask) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert leave.is_set()
    assert most[0] == logins.HASHED_AT_A_TIME
    assert len(refused) == 30 - logins.HASHED_AT_A_TIME - logins.WAITING


def test_it_does_not_count_who_was_turned_away_unheard(ada, client, monkeypatch):
    def full(*arguments, **options):
        raise TooManyAtOnce("password", "Too many passwords are being checked right now", 5)

    monkeypatch.setattr("django.contrib.auth.models.User.check_password", full)
    answer = client.post("/login/", RIGHT)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")
    assert not LoginAttempt.objects.exists()


def test_it_knows_the_hashes_that_django_made_before():
    before = HashedInTurn.__base__().encode("right", "salt", 2)
    assert HashedInTurn().verify("right", before)
    assert not HashedInTurn().verify("wrong", before)


def _patterns(resolver):
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver):
            yield from _patterns(one)
        elif isinstance(one, URLPattern):
            yield one


def _wrappers(view):
    names = set()
    while view is not None:
        names.add(view.__code__.co_qualname.partition(".")[0])
        view = getattr(view, "__wrapped__", None)
    return names
