"""What a request is told that no view answers: the limit that it is over, in the right form."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client, RequestFactory

from knowledge.api.json_body import MOST_BYTES
from knowledge.curation.tokens import new_token
from kopt.refusals import server_error

API = "/api/v1/specs/"
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def program(db):
    token = new_token(User.objects.create_superuser("ada"), "t", ["curate"])[1]
    return Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)


@pytest.fixture
def browser(db):
    made = Client(raise_request_exception=False)
    made.force_login(User.objects.create_superuser("bob"))
    return made


@pytest.mark.parametrize("size", [MOST_BYTES + 1, 3_000_000, 30_000_000])
@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "k"}], ids=["", "with a key"])
def test_it_names_the_limit_of_a_json_body(program, size, key):
    body = b'"' + b"x" * size + b'"'
    answer = program.post(API, body, content_type=JSON, headers=key)
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/problem+json")
    assert (answer.json()["field"], answer.json()["message"]) == (
        "body",
        f"accepted: up to {MOST_BYTES:,} bytes",
    )


@pytest.mark.parametrize("kind", [JSON, FORM, "multipart/form-data; boundary=x"])
def test_it_names_it_to_a_person_too(browser, kind):
    answer = browser.post(API, b"x" * 3_000_000, content_type=kind)
    assert answer.status_code == 413
    assert f"{MOST_BYTES:,} bytes" in answer.json()["message"]


@pytest.mark.parametrize(
    ("body", "kind", "status", "field"),
    [
        (b'{"a":', JSON, 400, "body"),
        (b"a=1", FORM, 415, "Content-Type"),
        (b"&".join(b"a%d=1" % number for number in range(2_000)), FORM, 415, "Content-Type"),
        (b"no parts", "multipart/form-data", 415, "Content-Type"),
        (b"x", "text/plain", 415, "Content-Type"),
    ],
)
@pytest.mark.parametrize("who", ["program", "browser"])
def test_it_answers_what_is_no_json_in_json(request, who, body, kind, status, field):
    answer = request.getfixturevalue(who).post(API, body, content_type=kind)
    assert (answer.status_code, answer.headers["Content-Type"]) == (
        status,
        "application/problem+json",
    )
    assert answer.json()["field"] == field


def test_it_does_not_take_a_body_of_unknown_length_for_none(program):
    answer = program.post(
        API, b"{}", content_type=JSON, CONTENT_LENGTH="", HTTP_TRANSFER_ENCODING="chunked"
    )
    assert answer.status_code == 411
    assert "Content-Length" in answer.json()["message"]


@pytest.mark.parametrize(
    ("body", "kind", "status", "said"),
    [
        (b"a=" + b"x" * 3_000_000, FORM, 413, "too many bytes beside files; accepted: up to 2,621"),
        (b"&".join(b"a%d=1" % n for n in range(2_000)), FORM, 400, "fields; accepted: up to 1,000"),
        (b"no parts", "multipart/form-data", 400, "Invalid boundary"),
    ],
)
def test_a_page_names_the_limit_too(browser, body, kind, status, said):
    answer = browser.post("/tokens/", body, content_type=kind)
    assert answer.status_code == status
    assert said in answer.content.decode()


@pytest.mark.parametrize(
    ("address", "kind"), [("/", "text/html; charset=utf-8"), (API, "application/problem+json")]
)
def test_it_says_that_the_database_is_gone_and_when_to_come_back(
    browser, monkeypatch, address, kind
):
    def refuse(*arguments, **options):
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", refuse)
    answer = browser.get(address)
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, kind)
    assert answer.headers["Retry-After"] == "5"
    assert "goes on by itself when it is back" in answer.content.decode()


@pytest.mark.parametrize(("address", "kind"), [("/", "text/html"), (API, "application/problem")])
def test_it_tells_a_mistake_of_its_own_without_the_details(browser, monkeypatch, address, kind):
    def fail(*arguments, **options):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", fail)
    answer = browser.get(address)
    assert answer.status_code == 500
    assert answer.headers["Content-Type"].startswith(kind)
    assert "its log has the details" in answer.content.decode()
    assert "secret" not in answer.content.decode()


def test_a_page_that_can_be_taken_along_tells_its_mistakes_too(browser):
    """Its foot asks for the address, which the page of a mistake has not."""
    request = RequestFactory().get("/c/1/")
    request.has_files = True
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        answer = server_error(request)
    assert answer.status_code == 500
    assert "This page as" not in answer.content.decode()
