"""People decide and comment over REST with a session; a token reads and never decides."""

import json

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from campaigns.models import Campaign, ReviewDecision
from knowledge.curation.tokens import new_token
from knowledge.models import Comment
from tests.around import built_around
from tests.campaigns.sample import build_sample

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture(scope="module")
def stage(django_db_setup, django_db_blocker):
    with built_around(django_db_blocker, lambda: build_sample().pk) as key:
        yield key


@pytest.fixture
def sample(stage, db):
    return Campaign.objects.get(pk=stage)


@pytest.fixture
def carl(db):
    user = User.objects.create(username="carl")
    user.groups.add(Group.objects.get(name="lead"))
    return user


@pytest.fixture
def session(carl):
    client = Client()
    client.force_login(carl)
    return client


@pytest.fixture
def agent(carl):
    token = new_token(carl, "bot", ["run", "submit", "curate"])[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def post(client, path, **body):
    return client.post(API + path, json.dumps(body), content_type="application/json")


def test_the_queue_is_a_list_with_what_waits_for_me(session, agent, sample):
    found = session.get(f"{API}/review/?kind=round").json()
    assert next(row["asks"] for row in found["results"]) == "approval by 2"
    assert all(row["mine"] for row in found["results"])
    assert session.get(f"{API}/review/?mine=1&page_size=1").json()["next"]
    assert session.get(f"{API}/review/?kind=mood").json()["field"] == "kind"
    assert session.get(f"{API}/review/?format=csv").status_code == 200
    assert agent.get(f"{API}/review/").status_code == 200


def test_a_person_decides_reads_it_back_and_undoes_it(session, sample):
    path = f"/campaigns/{sample.pk}/rounds/2/decisions/"
    before = session.get(API + path).json()
    assert (before["state"], before["needed"], before["seen"]) == ("open", 2, 0)
    made = post(session, path, word="approved", seen=0)
    assert (made.status_code, made.json()["by"], made.json()["round"]) == (201, "carl", 2)
    after = session.get(API + path).json()
    assert (after["approvals"], [row["word"] for row in after["decisions"]]) == (1, ["approved"])
    undo = f"/campaigns/{sample.pk}/decisions/{made.json()['id']}/undo/"
    assert post(session, undo).json()["word"] == "undone"
    assert post(session, undo).status_code == 409
    assert post(session, f"/campaigns/{sample.pk}/decisions/", word="approved").status_code == 201


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"word": "blessed"}, 422, "word"),
        ({"word": 7}, 422, "word"),
        ({"word": "returned"}, 422, "reason"),
        ({"word": "approved", "seen": "0"}, 422, "seen"),
        ({"word": "approved", "seen": 10**30}, 409, None),
        ({"word": "approved", "by": "x"}, 422, "by"),
        ({}, 422, "word"),
    ],
)
def test_it_names_what_is_wrong(session, sample, body, status, field):
    answer = post(session, f"/campaigns/{sample.pk}/rounds/2/decisions/", **body)
    assert (answer.status_code, answer.json()["field"]) == (status, field)
    assert not ReviewDecision.objects.exists()


def test_a_repeated_request_decides_once(session, sample):
    path = f"{API}/campaigns/{sample.pk}/rounds/2/decisions/"
    body, headers = json.dumps({"word": "approved"}), {"Idempotency-Key": "once"}
    kind = "application/json"
    said = [session.post(path, body, content_type=kind, headers=headers) for _ in range(2)]
    assert said[0].json() == said[1].json()
    assert ReviewDecision.objects.count() == 1


def test_no_token_decides_or_comments_whatever_it_may(agent, session, sample):
    made = post(session, f"/campaigns/{sample.pk}/rounds/2/decisions/", word="approved").json()
    said = post(session, "/comments/", kind="campaign", key=str(sample.pk), text="mine").json()
    for path in (
        f"/campaigns/{sample.pk}/rounds/6/decisions/",
        f"/campaigns/{sample.pk}/decisions/",
        f"/campaigns/{sample.pk}/decisions/{made['id']}/undo/",
    ):
        answer = post(agent, path, word="approved")
        assert answer.status_code == 403
        assert answer.json()["detail"] == "people decide: log in with a session"
    for path in ("/comments/", f"/comments/{said['id']}/retract/"):
        answer = post(agent, path, kind="round", key=f"{sample.pk}/2", text="hello")
        assert answer.json()["detail"] == "people comment: log in with a session"
    assert (ReviewDecision.objects.count(), Comment.objects.count()) == (1, 1)


def test_comments_are_read_with_their_parts_and_taken_back(session, sample):
    key = f"{sample.pk}/6"
    post(session, "/comments/", kind="round", key=key, text="one")
    made = post(session, "/comments/", kind="diff", key=key, anchor="L3", text="two").json()
    rows = session.get(f"{API}/comments/?kind=round&key={key}").json()["results"]
    assert [(row["kind"], row["anchor"], row["text"]) for row in rows] == [
        ("round", "", "one"),
        ("diff", "L3", "two"),
    ]
    gone = post(session, f"/comments/{made['id']}/retract/").json()
    assert gone["text"] == ""
    assert gone["retracted_at"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "kind"), ("kind=round", "key"), ("kind=mood&key=1", "kind"), ("kind=round&key=x", "key")],
)
def test_a_list_of_comments_needs_a_subject(session, sample, query, field):
    answer = session.get(f"{API}/comments/?{query}")
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize(
    ("body", "field"),
    [({"text": 7}, "text"), ({"parent": True}, "parent"), ({"parent": 10**30}, "parent"),
     ({"mood": "x"}, "mood"), ({"text": ""}, "text")],
)  # fmt: skip
def test_a_comment_names_what_is_wrong(session, sample, body, field):
    usual = {"kind": "round", "key": f"{sample.pk}/2", "text": "x"}
    answer = post(session, "/comments/", **usual | body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_a_round_without_a_verdict_has_nothing_to_read(session, sample):
    assert session.get(f"{API}/campaigns/{sample.pk}/rounds/1/decisions/").status_code == 404
    assert post(session, f"/campaigns/{sample.pk}/rounds/99/decisions/").status_code == 404
