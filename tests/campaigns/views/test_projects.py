"""What belongs to a project exists for its members and for leads alone, at every address."""

import io
import zipfile

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from campaigns.models import Candidate, Evaluation, Event, Submission, Verdict
from campaigns.steps.lifecycle.set_project import set_project
from knowledge.curation.projects import new_project, put_into
from knowledge.curation.signed_addresses import key_of
from knowledge.curation.tokens import new_token
from knowledge.models import Experience, Lesson, Project, TrackRecord, WorkKind
from tests.campaigns.views.test_formats import POSTED, filled, keys, routes

__all__ = ["keys"]
PROJECT = "Zephyr"
# The schema and the words of pages that hold no row.
NO_PAGE = ("api/v1/schema", "theme", "admin/")
GONE = 404


def person(name, *roles):
    user = User.objects.create(username=name)
    user.groups.set(Group.objects.filter(name__in=roles))
    user.user_permissions.add(*Permission.objects.filter(codename="change_campaign"))
    return user


def logged_in(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def cast(sample, running, keys):
    """Both campaigns and their problem in a project: a member, a lead, and somebody else."""
    people = {"member": person("mia", "engineer"), "lead": person("lea", "lead")}
    people["other"] = person("otto", "engineer", "curator")
    project = new_project(PROJECT, ["mia"], None)
    for campaign in (sample, running):
        assert set_project(campaign, PROJECT, None)
    put_into(project, WorkKind.PROBLEM, sample.problem_id, None)
    return people


def secrets(*campaigns):
    """What no answer to somebody else may hold."""
    titles = {row.title for each in campaigns for row in each.rounds.filter(number__gt=1)}
    plain = {title[:60] for title in titles if "<" not in title}
    return {PROJECT, *plain, *(f"/c/{each.pk}/" for each in campaigns)}


def text_of(answer):
    """Everything that the answer says, files in archives too; what a page repeats left out."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if content.startswith(b"PK"):
        archive = zipfile.ZipFile(io.BytesIO(content))
        content = b"".join(archive.read(name) for name in archive.namelist())
    return content.decode(errors="replace").replace(answer.wsgi_request.path, "")


@pytest.fixture
def places(cast, sample, running, keys):
    """Every address that a GET may ask for → whether it names something of the project."""
    hidden = {
        "campaigns/pk": sample.pk,
        "rounds/pk": sample.rounds.get(number=2).pk,
        "candidates/pk": Candidate.objects.filter(round__campaign=sample).last().pk,
        "evaluations/pk": Evaluation.objects.filter(candidate__round__campaign=sample).first().pk,
        "verdicts/pk": Verdict.objects.filter(round__campaign=sample).last().pk,
        "events/pk": Event.objects.filter(campaign=sample).last().pk,
        "problems/pk": sample.problem_id,
        "submissions/pk": Submission.objects.filter(campaign=running).last().pk,
        "experience/uuid": Experience.objects.first().uuid,
        "campaigns/number": 2,
        "e/key": Experience.objects.first().uuid,
        "x/t/pk": TrackRecord.objects.exclude(project=0).first().pk,
        "lessons/key": Lesson.objects.exclude(project=0).first().uuid,
        "lessons/uuid": Lesson.objects.exclude(project=0).first().uuid,
        "problem_id": sample.problem_id,
        "campaign_id": sample.pk,
    }
    found = {}
    for _, route in routes():
        if route.startswith(NO_PAGE) or "^" in route:
            continue
        used = [k for k in hidden if f"{k.rpartition('/')[2]}>" in route]
        named = any("/" not in k or f"/{k.rpartition('/')[0]}/" in f"/{route}" for k in used)
        found[filled("", route, keys | hidden)] = named and ":name>" not in route
    query = ("palette", "search/", "api/v1/search", "c/", "x/search/", "api/v1/events/")
    return found | {f"/{place}?q=sweep": False for place in query}


def test_for_somebody_else_it_does_not_exist_and_a_lead_sees_it(cast, places, sample, running):
    member, lead, other = (logged_in(cast[name]) for name in ("member", "lead", "other"))
    told, never, events = 0, secrets(sample, running), Event.objects.count()
    for place, is_named in places.items():
        theirs = other.get(place)
        if theirs.status_code == POSTED:
            kind = "application/json" if place.startswith("/api/") else "text/plain"
            posted = other.post(place, "{}", content_type=kind) if is_named else theirs
            assert 400 <= posted.status_code < 500, place
            continue
        said, ours = text_of(theirs), member.get(place)
        assert not [word for word in never if word in said], place
        told += any(word in text_of(ours) for word in never)
        if is_named and ours.status_code == 200:
            assert theirs.status_code == GONE, place
            assert lead.get(place).status_code == 200, place
    assert told > 40
    assert Event.objects.count() == events


def test_a_token_and_a_signed_address_have_the_eyes_of_their_person(cast, places, sample):
    for name, status in (("other", GONE), ("member", 200), ("lead", 200)):
        token = new_token(cast[name], "agent", ["run", "submit"])[1]
        agent = Client(headers={"Authorization": f"Bearer {token}"})
        record = agent.get(reverse("campaigns_api:campaign", args=[sample.pk]))
        assert record.status_code == status
        listed = agent.get(reverse("campaigns_api:rounds"), headers={"Accept": "text/csv"})
        assert (listed.getvalue().count(b"\n") > 1) == (status == 200)
        for address in ("campaign_badge", "campaign_feed"):
            path = reverse(address, args=[sample.pk])
            answer = Client().get(path, {"key": key_of(cast[name], path)})
            assert answer.status_code == status, address
    every = reverse("campaigns_feed")
    said = Client().get(every, {"key": key_of(cast["other"], every)}).content.decode()
    assert f"/c/{sample.pk}/" not in said


def test_leads_make_projects_and_page_and_api_put_campaigns_there(sample):
    lead, mia = logged_in(person("lea", "lead")), person("mia", "engineer")
    assert logged_in(mia).get("/projects/").status_code == 403
    assert lead.post("/projects/", {"name": " ", "members": "mia"}).status_code == 422
    assert lead.post("/projects/", {"name": PROJECT, "members": "lea"}).status_code == 302
    made = Project.objects.get()
    wrong = {"name": "Otherwise", "members": "mia nobody"}
    refused = lead.post(f"/projects/{made.pk}", wrong)
    assert "is no user&#x27;s name" in refused.content.decode()
    assert 'value="Otherwise"' in refused.content.decode()
    assert lead.post(f"/projects/{made.pk}", {"name": "Old", "members": "mia"}).status_code == 302
    other = lead.post("/projects/", {"name": "Other"})
    assert (other.status_code, Project.objects.count()) == (302, 2)
    assert lead.post(f"/projects/{made.pk}", {"name": "Other"}).status_code == 422
    right = {"name": PROJECT, "members": "mia"}
    assert lead.post(f"/projects/{made.pk}", right).status_code == 302
    said = lead.get("/projects/", {"format": "json"}).json()["results"]
    other = Project.objects.get(name="Other")
    assert sorted(said, key=lambda row: row["id"]) == [
        {"id": made.pk, "name": PROJECT, "members": "mia", "work": 0},
        {"id": other.pk, "name": "Other", "members": "", "work": 0},
    ]
    audit = lead.get("/audit/", {"kind": "project"}).content.decode()
    assert "out: lea" in audit
    assert "renamed, from Old" in audit
    assert f'href="/projects/#project-{made.pk}"' in audit
    share, put = reverse("share", args=[sample.pk]), reverse("campaign_project", args=[sample.pk])
    assert 'id="set-project"' not in logged_in(mia).get(share).content.decode()
    assert logged_in(mia).post(put, {"project": PROJECT}).status_code == 403
    assert 'id="set-project"' in lead.get(share).content.decode()
    assert lead.post(put, {"project": PROJECT}).status_code == 302
    chosen = f'<option value="{PROJECT}" selected>'
    assert chosen in lead.get(share).content.decode()
    page = logged_in(mia).get(sample.get_absolute_url()).content.decode()
    assert f"project {PROJECT}</a>" in page
    one = reverse("campaigns_api:campaign", args=[sample.pk])
    assert lead.get(one).json()["project"] == PROJECT
    for body, status in (({"project": "x"}, 422), ({}, 422), ({"project": ""}, 200)):
        answer = lead.post(f"{one}project/", body, content_type="application/json")
        assert answer.status_code == status
    assert lead.get(one).json()["project"] == ""
    form = logged_in(mia).get("/c/new").content.decode()
    assert f'<option value="{PROJECT}">' in form
