"""Repositories over HTTP, with a token."""

import base64

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command

from campaigns.repositories import command
from campaigns.repositories.models import Repository
from campaigns.repositories.rounds import stop_repository
from knowledge.curation.tokens import new_token
from knowledge.models.token import Scope
from tests.campaigns.repositories import test_pages
from tests.campaigns.repositories.projects import ROWS, ROWS_HARNESS, make_repository, patch_of

pytestmark = pytest.mark.django_db
rows, folder = test_pages.rows, test_pages.folder
CHANGE = {"title": "Blocks", "change": "16", "rationale": "fewer steps"}


@pytest.fixture
def ask(client, monkeypatch):
    monkeypatch.setattr("campaigns.repositories.api.notify_next_round", lambda row: None)
    person = User.objects.create_user("grace")
    person.groups.add(Group.objects.get(name="engineer"))

    def post(path, body, scopes=(Scope.RUN, Scope.SUBMIT)):
        text = new_token(person, "agent-7", list(scopes))[1]
        header = {"Authorization": f"Bearer {text}"}
        return client.post(f"/api/v1/{path}", body, "application/json", headers=header)

    return post


def test_an_agent_brings_one_and_hands_in_a_change(ask, rows, folder, client, tmp_path):
    other = make_repository(tmp_path / "other", ROWS)
    bundle = base64.b64encode(test_pages.bundle_of(other)).decode()
    body = {"bundle": bundle, "harness": ROWS_HARNESS, "platform": rows.platform.slug}
    made = ask("repositories/", body)
    assert (made.status_code, made.json()["title"], made.json()["last_gain"]) == (201, "rows", None)
    told = f"No worker of {rows.platform.name} is alive: this repository waits."
    assert made.json()["no_worker"].startswith(told)
    patch = patch_of(folder, "kernels/rows.cpp", "= 8;", "= 16;")
    handed = ask(f"repositories/{rows.pk}/changes/", {**CHANGE, "patch": patch})
    assert handed.status_code == 201
    assert (handed.json()["number"], handed.json()["kind"], handed.json()["name"]) == (
        2,
        "agent",
        "agent-7",
    )
    client.force_login(User.objects.create_user("bob"))
    found = client.get(f"/api/v1/repository-rounds/?repository={rows.pk}").json()
    assert [row["number"] for row in found["results"]] == [2, 1]
    one = client.get(f"/api/v1/repository-rounds/{handed.json()['id']}/").json()
    assert one["patch"] == patch
    lines = client.get("/api/v1/repositories/?format=csv").getvalue().decode().splitlines()
    assert len(lines) == 3


def test_one_that_is_stopped_waits_for_no_worker(rows, client):
    client.force_login(User.objects.create_user("bob"))
    stop_repository(rows)
    assert client.get(f"/api/v1/repositories/{rows.pk}/").json()["no_worker"] == ""


def test_the_command_says_that_no_worker_will_come(rows, folder, capsys, monkeypatch):
    monkeypatch.setattr(command, "notify_next_round", lambda row: None)
    patch = folder.parent / "change.diff"
    patch.write_text(patch_of(folder, "kernels/rows.cpp", "= 8;", "= 16;"))
    said = [word for name, value in CHANGE.items() for word in (f"--{name}", value)]
    call_command("repository", "submit", str(rows.pk), "--patch", str(patch), *said)
    assert f"No worker of {rows.platform.name} is alive" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "status", "field"),
    [
        ({"rationale": ""}, 409, "rationale"),
        ({"patch": "nonsense"}, 409, "patch"),
        ({"target": "width=7"}, 409, "target"),
        ({"repairs": 9}, 409, "repairs"),
        ({"repairs": "one"}, 422, "repairs"),
        ({"verdict": "accepted"}, 422, "verdict"),
        ({"title": 7}, 422, "title"),
    ],
)
def test_a_refusal_names_the_field(ask, rows, folder, more, status, field):
    patch = patch_of(folder, "kernels/rows.cpp", "= 8;", "= 16;")
    answer = ask(f"repositories/{rows.pk}/changes/", {**CHANGE, "patch": patch, **more})
    assert answer.status_code == status, answer.content
    assert field in answer.content.decode()
    assert rows.rounds.count() == 1


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"bundle": "%%%"}, "bundle"),
        ({"bundle": "bm8="}, "bundle"),
        ({"platform": "none"}, "platform"),
        ({"harness": "name = 1"}, "harness"),
        ({"path": "/etc"}, "path"),
        ({"harness": 5}, "harness"),
    ],
)
def test_what_cannot_be_brought_names_the_field(ask, rows, folder, more, field):
    bundle = base64.b64encode(test_pages.bundle_of(folder)).decode()
    body = {"bundle": bundle, "harness": ROWS_HARNESS, "platform": rows.platform.slug, **more}
    answer = ask("repositories/", body)
    assert answer.status_code == 422, answer.content
    assert field in answer.content.decode()
    assert Repository.objects.count() == 1


def test_a_token_needs_the_scope(ask, rows):
    assert ask("repositories/", {}, [Scope.SUBMIT]).status_code == 403
    assert ask(f"repositories/{rows.pk}/changes/", {}, [Scope.RUN]).status_code == 403
