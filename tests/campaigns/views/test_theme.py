"""The three choices of colour."""

import pytest

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("choice", "attribute"),
    [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"'), ("system", "")],
)
def test_it_is_on_the_first_byte_of_the_next_page(client, choice, attribute):
    answer = client.post("/theme", {"theme": choice, "next": "/login/"})
    assert answer.headers["Location"] == "/login/"
    assert f'<html lang="en"{attribute}>' in client.get("/login/").content.decode()


def test_it_takes_nonsense_as_no_choice(client):
    client.cookies["theme"] = '"><script>'
    assert '<html lang="en">' in client.get("/login/").content.decode()


@pytest.mark.parametrize("place", ["//evil.example/", "https://evil.example/", "javascript:x"])
def test_it_never_leads_away(client, place):
    assert client.post("/theme", {"theme": "dark", "next": place}).headers["Location"] == "/"


def test_it_wants_a_post(client):
    assert client.get("/theme").status_code == 405
