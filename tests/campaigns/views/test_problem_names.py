"""Two teams have a problem of one name: by every door each of them gets its own."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from campaigns.management.campaign_options import offered_in
from campaigns.models import Campaign, Problem
from campaigns.problems.shipped import problem_folder
from campaigns.views.problem import _mark
from knowledge.curation.projects import new_project
from knowledge.models import WorkKind, project_of

NAME, PROJECT = "fused", "Zephyr"
OURS, THEIRS = "Ours", "A stranger's"
BODY = {"problem": NAME, "platform": "h200-sxm", "backend": "cuda"}
SOFTMAX = {path.name: path.read_text() for path in problem_folder("softmax").iterdir()}


def files_of(words, name=NAME):
    """A problem whose title is these words."""
    toml = SOFTMAX["problem.toml"].replace('name = "softmax"', f'name = "{name}"')
    return SOFTMAX | {"problem.toml": toml.replace('"Row softmax"', f'"{words}"')}


class Person:
    """Somebody with the doors that they use."""

    def __init__(self, name, monkeypatch):
        self.user = User.objects.create(username=name)
        self.user.groups.set(Group.objects.filter(name="engineer"))
        self.client = Client()
        self.client.force_login(self.user)
        self.patch = monkeypatch

    def by_rest(self, words, project="", name=NAME):
        found = SimpleNamespace(files=files_of(words, name))
        self.patch.setattr("campaigns.api.own_problems._draft", lambda body: None)
        self.patch.setattr("campaigns.api.own_problems.propose_problem", lambda draft: found)
        body = {"kernel": "x", "project": project}
        return self.client.post("/api/v1/problems/", body, "application/json")

    def by_page(self, words, project="", name=NAME):
        files = files_of(words, name)
        sent = {"problem_file": [*files], "problem_text": [*files.values()], "kept": "1"}
        sent |= {"checked": _mark(files), "project": project}
        return self.client.post("/p/new", sent)

    def starts_by_rest(self, **more):
        return self.client.post("/api/v1/campaigns/", BODY | more, "application/json")

    def starts_by_page(self, **more):
        sent = {**BODY, "goal": "85", "rounds": "5", **more}
        return self.client.post("/c/new", sent)


@pytest.fixture
def mia(wiki_of_module, db, monkeypatch):
    """A member of the project, which has two versions of the problem."""
    for place in ("campaigns.api.campaigns", "campaigns.views.new_campaign"):
        monkeypatch.setattr(f"{place}.notify", lambda *a: None)
    person = Person("mia", monkeypatch)
    new_project(PROJECT, ["mia"], None)
    for words in ("Ours, at first", OURS):
        assert person.by_rest(words, PROJECT).status_code == 201
    return person


@pytest.fixture
def otto(mia, monkeypatch):
    """A stranger, who brings the same name twice."""
    person = Person("otto", monkeypatch)
    assert person.by_rest("A stranger's, at first").status_code == 201
    assert person.by_page(THEIRS).status_code == 302
    return person


def started():
    """Title and project of the one campaign that there is."""
    campaign = Campaign.objects.get()
    return campaign.title.partition(",")[0], str(project_of(WorkKind.CAMPAIGN, campaign.pk) or "")


def by_command(**more):
    call_command("campaign", "new", *(f"--{name}={said}" for name, said in (BODY | more).items()))


def exact(title):
    """The form that names one version."""
    return str(Problem.objects.get(title=title))


DOORS = {
    "rest": lambda person, **more: person.starts_by_rest(**more).status_code == 201,
    "page": lambda person, **more: person.starts_by_page(**more).status_code == 302,
}
door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)


@door
def test_the_name_of_an_own_project_is_not_a_strangers(mia, otto, door):
    assert door(mia, project=PROJECT)
    assert started() == (OURS, PROJECT)


@door
def test_a_public_campaign_of_it_is_refused_and_named(mia, otto, door):
    assert not door(mia)
    assert not Campaign.objects.exists()
    told = mia.starts_by_rest().json()
    assert (told["field"], told["message"]) == (
        "project",
        f"its problem {exact(OURS)} is seen by the members of {PROJECT} alone; "
        f"accepted: {PROJECT}, or a problem that everybody sees",
    )


@door
def test_a_stranger_finds_what_everybody_sees_and_nothing_else(mia, otto, door):
    assert not door(otto, problem=exact(OURS))
    assert not door(otto, problem=NAME, project=PROJECT)
    assert door(otto)
    assert started() == (THEIRS, "")


def test_the_qualified_form_names_a_version_that_is_seen(mia, otto):
    assert mia.starts_by_page(problem=exact(THEIRS)).status_code == 302
    assert started() == (THEIRS, "")
    older = exact("Ours, at first")
    assert mia.starts_by_rest(problem=older, project=PROJECT).json()["project"] == PROJECT
    assert f'value="{older}" selected' in mia.client.get("/c/new", {"problem": older}).text


def test_the_form_offers_both_and_chooses_the_project(mia, otto):
    page = mia.client.get("/c/new", {"problem": NAME, "project": ""})
    assert f'value="{exact(OURS)}" selected' in page.text
    assert f'value="{exact(THEIRS)}"' in page.text
    assert page.context["only"] == PROJECT
    assert f"project {PROJECT})</option>" in page.text
    for option in (f"--problem {exact(OURS)}", f"--project {PROJECT}"):
        assert option in page.context["command"]


def test_a_name_that_means_nothing_is_never_another_problem(mia):
    for name in ("no-such", f"{NAME}@00000000", ""):
        answer = mia.starts_by_page(problem=name)
        assert (answer.status_code, [*answer.context["errors"]]) == (422, ["problem"])
    assert not Campaign.objects.exists()


def test_the_page_of_a_version_has_the_others_of_its_own_place_alone(mia, otto):
    for person, title, before in (
        (mia, OURS, "Ours, at first"),
        (otto, THEIRS, "A stranger's, at first"),
    ):
        kept = Problem.objects.get(title=title)
        page = person.client.get(kept.get_absolute_url())
        assert [row.title for row in page.context["versions"]] == [before]
        assert person.client.get(f"/p/{page.context['named']}/").context["problem"] == kept
        assert person.client.get(f"/p/{NAME}/").context["problem"] == kept


def test_what_is_posted_never_leaves_its_project_unasked(mia, otto):
    told = mia.by_rest("Ours, better").json()
    words = f"project: '{NAME}' is in {PROJECT}; accepted: {PROJECT}, or another name"
    assert words in told["message"]
    page = mia.by_page("Ours, better")
    assert words.replace("'", "&#x27;") in page.text
    assert not Problem.objects.filter(title="Ours, better")
    assert mia.by_page("Ours, better", PROJECT).status_code == 302
    assert mia.starts_by_rest(project=PROJECT).json()["title"].startswith("Ours, better")


def test_any_name_that_a_problem_may_have_has_pages(mia):
    for name in ("new", "17", "a.b=1,c"):
        address = mia.by_page(OURS, PROJECT, name).headers["Location"]
        assert mia.client.get(address).context["problem"].slug == name
        assert mia.client.get("/c/new", {"problem": name}).context["problem"].name == name


def test_a_command_sees_both_and_has_to_say_which(mia, otto, tmp_path):
    with pytest.raises(CommandError) as refused:
        by_command()
    forms = (
        f"{exact(title)} ({place})"
        for title, place in ((THEIRS, "seen by everybody"), (OURS, f"project {PROJECT}"))
    )
    assert str(refused.value) == f"problem: '{NAME}' is ambiguous; accepted: {', '.join(forms)}"
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(f"target_op: {NAME}\n")
    assert f"several fit; there is {exact(THEIRS)}, {exact(OURS)}" in str(offered_in(manifest).left)
    by_command(project=PROJECT)
    assert started() == (OURS, PROJECT)
