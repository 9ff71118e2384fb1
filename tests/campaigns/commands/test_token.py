"""`token`: new, list and revoke."""

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from knowledge.models.token import Token

pytestmark = pytest.mark.django_db


def told(*arguments):
    out = io.StringIO()
    call_command("token", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


@pytest.fixture(autouse=True)
def ada():
    return User.objects.create_user("ada")


def test_it_makes_lists_and_revokes(client):
    text = told("new", "nightly", "--user", "ada", "--scope", "run", "--days", "3")
    answer = client.get("/api/v1/platforms/", headers={"Authorization": f"Bearer {text}"})
    assert answer.status_code == 200
    (row,) = json.loads(told("list", "--json"))
    assert (row["user"], row["scopes"], row["name"]) == ("ada", ["read", "run"], "nightly")
    assert text not in told("list")
    assert told("revoke", row["key"]) == f"revoked {row['key']} (nightly)"
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("new", "x", "--user", "eve"), 2, "user 'eve': accepted"),
        (("new", "x", "--user", "ada", "--days", "0"), 1, "days: 0; accepted: 1 to 365"),
        (("revoke", "nothing"), 2, "accepted: the first 15 characters"),
    ],
)
def test_it_says_what_is_wrong(arguments, code, words):
    with pytest.raises(CommandError, match=words) as refused:
        told(*arguments)
    assert refused.value.returncode == code
