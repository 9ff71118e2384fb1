"""Tokens over HTTP: what they open, what no token may, and how they end."""

import json
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from knowledge.api.view import ApiView
from knowledge.curation.errors import CurationError
from knowledge.curation.tokens import new_token, revoke, tokens_of
from knowledge.models import Spec
from knowledge.models.token import Scope, Token
from tests.knowledge.api.test_specs import LIST, PROPOSAL

pytestmark = pytest.mark.django_db


def bearer(token):
    return Client(headers={"Authorization": f"Bearer {token}"}, enforce_csrf_checks=True)


def post(client, address, body):
    return client.post(address, json.dumps(body), content_type="application/json")


def token_for(person, *scopes, **options):
    return new_token(person, "a test", scopes, **options)[1]


def test_it_is_shown_once_and_stored_as_a_digest(engineer):
    made, text = new_token(engineer, "nightly", ["run"], 7)
    assert len(text) == 64
    stored = Token.objects.values().get()
    assert text not in json.dumps(stored, default=str)
    assert made.scopes == ["read", "run"]
    assert timedelta(days=6) < made.expiry - timezone.now() <= timedelta(days=7)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"scopes": ["approve"]}, "scopes"),
        ({"days": 0}, "days"),
        ({"days": 366}, "days"),
    ],
)
def test_it_names_what_is_wrong(engineer, change, field):
    with pytest.raises(CurationError) as refused:
        new_token(engineer, **({"name": "x", "scopes": []} | change))
    assert refused.value.field == field


def test_it_reads_and_needs_no_csrf_token(engineer, wiki, note):
    reader = bearer(token_for(engineer))
    assert reader.get(LIST).status_code == 200
    refused = post(reader, LIST, PROPOSAL)
    assert refused.status_code == 403
    assert "needs the scope curate; it has read" in refused.json()["message"]
    assert post(bearer(token_for(engineer, "curate")), LIST, PROPOSAL).status_code == 201


def test_it_never_does_more_than_its_person(viewer, wiki, note):
    answer = post(bearer(token_for(viewer, *Scope.values)), LIST, PROPOSAL)
    assert answer.status_code == 403
    assert "proposing needs the role" in answer.json()["message"]


@pytest.mark.parametrize("verb", ["approve", "return", "retire"])
def test_no_token_decides_whatever_its_person_may(curator, proposal, verb):
    """Design §6: an agent cannot approve."""
    client = bearer(token_for(curator, *Scope.values))
    answer = post(client, f"{LIST}{proposal.pk}/{verb}/", {"why": "read it"})
    assert answer.status_code == 403
    assert "no token may do this" in answer.json()["message"]
    assert Spec.objects.get(pk=proposal.pk).state == "proposed"


def test_every_address_that_changes_something_has_a_scope_or_is_for_people_alone():
    """The list of what a token may change: a new address has to be added here on purpose."""
    found = set()
    for pattern in all_patterns(get_resolver().url_patterns):
        view = getattr(pattern.callback, "view_class", None)
        if view is not None and issubclass(view, ApiView):
            for method in {"post", "put", "patch", "delete"} & set(dir(view)):
                found.add((pattern.name, view.scopes.get(method.upper())))
    people = {"spec_approve", "spec_return", "spec_retire", "comments", "retract_comment"}
    people |= {"round_decisions", "result_decisions", "undo_decision", "series_answer"}
    people.add("campaign_project")
    run = {"campaigns", "problems", "confirm", "pause", "resume", "stop", "restart", "passport"}
    run.add("repositories")
    assert found == {
        *((name, None) for name in people),
        *((name, Scope.RUN) for name in run),
        ("experience", Scope.SUBMIT),
        ("hand_in", Scope.SUBMIT),
        ("hand_in_change", Scope.SUBMIT),
        ("mend", Scope.SUBMIT),
        ("again", Scope.SUBMIT),
        ("archive", Scope.RUN),
        ("unarchive", Scope.RUN),
        ("gaps", Scope.CURATE),
        ("specs", Scope.CURATE),
    }


def all_patterns(patterns):
    for pattern in patterns:
        inner = getattr(pattern, "url_patterns", None)
        yield from all_patterns(inner) if inner is not None else [pattern]


def test_it_opens_no_page(engineer):
    client = bearer(token_for(engineer))
    for address in ("/", "/w/", "/tokens/", "/admin/"):
        assert client.get(address).status_code == 302, address


@pytest.mark.parametrize("text", ["", "x", "a b", "é", "a\0b", "0" * 64, "a-b"])
def test_what_is_no_token_opens_nothing(db, text):
    answer = bearer(text).get(LIST)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.json()["field"] == "Authorization"


def test_it_ends_when_it_expires_is_revoked_or_its_person_leaves(engineer, wiki):
    text = token_for(engineer)
    Token.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert bearer(text).get(LIST).status_code == 401
    text = token_for(engineer)
    revoke(tokens_of(engineer), text[:15])
    assert bearer(text).get(LIST).status_code == 401
    text = token_for(engineer)
    engineer.is_active = False
    engineer.save()
    assert bearer(text).get(LIST).status_code == 401


def test_a_token_has_a_rate_and_a_session_none(engineer, as_, wiki, settings):
    cache.clear()
    settings.KOPT_API_PER_MINUTE = 2.0
    client = bearer(token_for(engineer))
    codes = [client.get(LIST).status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    assert client.get(LIST).headers["Retry-After"]
    assert {as_(engineer).get(LIST).status_code for _ in range(4)} == {200}
    settings.KOPT_API_PER_MINUTE = 0.0
    assert client.get(LIST).status_code == 200
