"""The pages of the team: jobs and the audit."""

import io
from datetime import timedelta

import pandas
import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Evaluation, Worker
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.views import site
from knowledge.models import Spec, SpecChange
from tests.campaigns.sample import HOSTILE

HTMX = {"HX-Request": "true"}


@pytest.fixture
def lead(db):
    user = User.objects.create(username="lea")
    user.groups.add(Group.objects.get(name="lead"))
    client = Client()
    client.force_login(user)
    return client


def test_jobs_teach_where_nothing_is_measured(page):
    body = page.get("/jobs/").content.decode()
    assert "No worker measures anything now." in body
    assert "Nothing waits" in body


def test_jobs_say_what_runs_and_whether_its_worker_is_alive(page, running):
    answer = page.get("/jobs/")
    (job,) = answer.context["running"]
    assert (job.evaluation.candidate.round.number, job.is_lost) == (4, False)
    assert "gpu-box:4711" in answer.content.decode()
    claim(Evaluation.objects.filter(pk=job.evaluation.pk), heartbeat_at=None)
    assert "<b>lost</b>" in page.get("/jobs/", headers=HTMX).content.decode()


def test_jobs_say_what_waits_for_what(page, running):
    taken = Evaluation.objects.filter(state="running")
    first = taken.get()
    claim(taken, state="queued")
    second = first.queue_again()
    jobs = page.get("/jobs/").context["queued"]
    assert [(job.evaluation, job.place) for job in jobs] == [(first, 1), (second, 2)]
    assert {job.waits for job in jobs} == {f"no worker of {running.platform.name} is alive"}
    now = timezone.now()
    where = {"host": "h", "pid": 1, "device": "cuda:0", "platform": running.platform}
    Worker.objects.create(name="w", **where, started_at=now, heartbeat_at=now)
    jobs = page.get("/jobs/").context["queued"]
    assert [job.waits for job in jobs] == ["a worker takes it next", "1 before it"]
    running.pause_requested = True
    claim(type(running).objects.filter(pk=running.pk), state="paused")
    assert {job.waits for job in page.get("/jobs/").context["queued"]} == {"its campaign is paused"}


@pytest.mark.storage
def test_the_audit_lists_what_people_did_with_links(lead, sample):
    person = User.objects.get(username="lea")
    record(sample, "paused", f"paused {HOSTILE}", by=person)
    spec = Spec.objects.approved().first()
    SpecChange.objects.create(
        spec=spec, by=person, action="ranked", state="approved", rank="normal", why="rare"
    )
    body = lead.get("/audit/").content.decode()
    assert HOSTILE not in body
    assert f'href="/c/{sample.pk}/"' in body
    assert f'href="{spec.get_absolute_url()}"' in body
    rows = lead.get("/audit/", {"kind": "value", "who": "lea"}).context["page"].object_list
    assert [(row["who"], row["did"], row["reason"]) for row in rows] == [("lea", "ranked", "rare")]
    assert not lead.get("/audit/", {"kind": "nonsense\0"}).context["page"].object_list


def test_the_audit_is_for_leads(page, viewer):
    assert {client.get("/audit/").status_code for client in (page, viewer)} == {403}


def test_the_palette_offers_what_has_the_letters(page, sample):
    body = page.get("/palette", {"q": "softm"}, headers=HTMX).content.decode()
    assert "<html" not in body
    assert f'href="/c/{sample.pk}/">{sample.title}</a>' in body
    assert 'href="/search/?q=softm"' in body
    assert 'href="/w/p/h200-sxm/"' in page.get("/palette", {"q": "h200"}).content.decode()
    assert (
        'href="/c/new">New campaign</a>' in page.get("/palette", {"q": "new camp"}).content.decode()
    )
    hostile = page.get("/palette", {"q": HOSTILE + "\0"}).content.decode()
    assert HOSTILE not in hostile


def test_every_place_of_the_palette_is_a_page(page, db):
    assert {page.get(reverse(name)).status_code for name in site.PLACES.values()} <= {200, 403}
    assert page.get("/shortcuts/").status_code == 200


def test_the_team_page_counts_by_week(page, sample, monkeypatch):
    day = sample.created_at + timedelta(days=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: day)
    answer = page.get("/team/")
    newest, *older = answer.context["weeks"]
    assert {word: count for word, _, count in newest.verdicts if count} == {
        "accepted": 5,
        "no_change": 1,
        "rejected": 2,
        "invalid": 1,
        "needs_review": 1,
    }
    assert len(older) == 7
    assert [row["person"].username for row in answer.context["people"]] == ["alice"]
    table = pandas.read_csv(io.StringIO(page.get("/team/?format=csv").content.decode()))
    assert table["accepted"].sum() == 5
    assert page.get("/team/", {"format": "csv"}).status_code == 200
