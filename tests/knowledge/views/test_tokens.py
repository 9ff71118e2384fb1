"""The page of a person's own tokens."""

import pytest

from knowledge.curation.tokens import new_token
from knowledge.models.token import Token

pytestmark = pytest.mark.django_db


def test_it_makes_a_token_and_shows_it_once(client, engineer):
    client.force_login(engineer)
    made = client.post("/tokens/", {"name": "<b>night</b>", "scopes": ["run"], "days": 7})
    token = Token.objects.get()
    assert (token.user, token.scopes) == (engineer, ["read", "run"])
    text = made.context["text"]
    assert text in made.content.decode()
    assert "<b>night" not in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    page = client.get("/tokens/").content.decode()
    assert text not in page
    assert token.token_key in page


@pytest.mark.parametrize(
    ("change", "field"),
    [({"name": ""}, "name"), ({"days": 400}, "days"), ({"scopes": ["approve"]}, "scopes")],
)
def test_it_names_the_field(client, engineer, change, field):
    client.force_login(engineer)
    answer = client.post("/tokens/", {"name": "x", "days": 7} | change)
    assert answer.status_code == 422
    assert answer.context["form"].errors[field]
    assert not Token.objects.exists()


def test_a_person_takes_back_only_their_own(client, engineer, curator):
    theirs, _ = new_token(curator, "theirs", [])
    own, _ = new_token(engineer, "own", [])
    client.force_login(engineer)
    assert "theirs" not in client.get("/tokens/").content.decode()
    assert client.post(f"/tokens/{theirs.token_key}/revoke").status_code == 404
    assert client.get(f"/tokens/{own.token_key}/revoke").status_code == 405
    assert client.post(f"/tokens/{own.token_key}/revoke").status_code == 302
    assert list(Token.objects.values_list("name", flat=True)) == ["theirs"]


def test_strangers_see_none(client, db):
    assert client.get("/tokens/").status_code == 302
