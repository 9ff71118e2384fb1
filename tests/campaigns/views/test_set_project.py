"""A campaign is moved into a project and out of it, with all that was learnt."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail

from campaigns.models import Event, Problem, Webhook
from campaigns.models.event import record
from campaigns.proposers.learned import advice_for, spent_for
from campaigns.steps import webhooks
from campaigns.steps.lifecycle.create_campaign import CampaignRefused, Wish, create_campaign
from campaigns.steps.lifecycle.set_project import set_project
from campaigns.steps.mail import write_mail
from campaigns.steps.rounds.ladder import _comparison
from campaigns.steps.rounds.profile import LESSONS_READ, tell_learned
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.projects import eyes_of, new_project, put_into, set_members
from knowledge.experience.attempts.merging import merge
from knowledge.models import (
    Experience,
    Lesson,
    LessonState,
    MailAddress,
    NoticeKind,
    Notification,
    ProjectChange,
    ProjectWork,
    SearchRow,
    TrackRecord,
    WorkKind,
)
from knowledge.models.project import eyes_of_project
from knowledge.models.sight import seeing
from knowledge.search.index import rebuild
from tests.campaigns.sample import PLATFORM, PROBLEM, build_sample

pytestmark = pytest.mark.django_db
NAME = "Zephyr"


@pytest.fixture
def campaign():
    return build_sample()


@pytest.fixture
def project(campaign):
    User.objects.create(username="mia")
    made = new_project(NAME, ["mia"], None)
    assert set_project(campaign, NAME, None)
    return made


def found():
    """What the search may find of campaigns and of what was learnt."""
    return set(SearchRow.objects.filter(kind__in=("track", "entry", "round", "lesson")))


def counted():
    return [
        (row.strategy, row.tried, row.gain_median)
        for row in TrackRecord.objects.order_by("strategy", "tried", "bottleneck")
    ]


def test_what_was_learnt_goes_with_it_and_comes_back(campaign):
    before, rows, lessons = counted(), len(found()), Lesson.objects.count()
    new_project(NAME, [], None)
    assert before
    assert min(rows, lessons) > 0
    assert set_project(campaign, NAME, None)
    assert not set_project(campaign, NAME, None)
    assert not found()
    assert counted() == before
    with seeing(eyes_of_project(None)):
        assert (counted(), Experience.objects.count(), Lesson.objects.count()) == ([], 0, 0)
    rebuild()
    assert not found()
    assert set_project(campaign, "", None)
    assert (counted(), len(found()), Lesson.objects.count()) == (before, rows, lessons)
    assert not Lesson.objects.exclude(project=0)
    said = list(Event.objects.filter(kind="project").values_list("message", flat=True))
    assert said == [f"seen by the members of {NAME} from now on", "seen by everybody from now on"]


def test_others_propose_without_it_and_its_own_project_with_it(campaign, project):
    other = create_campaign(Wish(PROBLEM, PLATFORM, "cuda"))
    own = create_campaign(Wish(PROBLEM, PLATFORM, "cuda", project=NAME))
    for asking, sees in ((other, False), (own, True)):
        work = ProjectWork.objects.filter(kind="campaign", key=asking.pk).first()
        with seeing(eyes_of_project(work.project if work else None)):
            assert bool(advice_for(asking) or spent_for(asking)) is sees


def test_no_step_of_another_campaign_tells_of_it(campaign, project):
    Lesson.objects.filter(project=project.pk).update(state=LessonState.ACTIVE)
    theirs = {str(row.uuid) for row in Lesson.objects.filter(project=project.pk)}
    other = build_sample(rounds=3, running=True)

    def told():
        tell_learned(other)
        read = other.events.filter(kind=LESSONS_READ).first()
        return theirs & set(read.data["lessons"] if read else ()), _comparison(other)

    nothing = "no other campaign has measured these cases here, so there is nothing to compare"
    assert told() == (set(), nothing)
    other.events.filter(kind=LESSONS_READ)._raw_delete("default")
    assert set_project(other, NAME, None)
    lessons, comparison = told()
    assert lessons
    assert f"campaign {campaign.pk}" in comparison


def test_only_its_owner_and_leads_decide_and_only_for_projects_of_theirs(campaign, project):
    mia, otto = User.objects.get(username="mia"), User.objects.create(username="otto")
    owned = create_campaign(Wish(PROBLEM, PLATFORM, "cuda", created_by=otto))
    with pytest.raises(Forbidden):
        set_project(owned, "", mia)
    with pytest.raises(CurationError, match="accepted: none yet"):
        set_project(owned, NAME, otto)
    with pytest.raises(CampaignRefused, match="none yet"):
        create_campaign(Wish(PROBLEM, PLATFORM, "cuda", created_by=otto, project=NAME))
    set_members(project, ["otto"], None)
    assert set_project(owned, NAME, otto)
    said = list(ProjectChange.objects.values_list("what", flat=True))
    assert said[:3] == [f"campaign {owned.pk} put in", "out: mia", "in: otto"]


def test_a_problem_of_a_project_has_its_campaigns_there(campaign, project):
    put_into(project, WorkKind.PROBLEM, campaign.problem_id, None)
    other = new_project("Boreas", [], None)
    for wrong in ("", other.name):
        with pytest.raises(CurationError, match="accepted: Zephyr"):
            set_project(campaign, wrong, None)
        with pytest.raises(CampaignRefused, match=r"project: .*accepted: Zephyr"):
            create_campaign(Wish(PROBLEM, PLATFORM, "cuda", project=wrong))
    made = create_campaign(Wish(PROBLEM, PLATFORM, "cuda", project=NAME))
    assert ProjectWork.objects.get(kind="campaign", key=made.pk).project == project
    with seeing(eyes_of_project(other)):
        assert not Problem.objects.exists()


def test_no_webhook_and_no_letter_tells_others_of_it(
    campaign, project, settings, mailoutbox, monkeypatch
):
    hook = Webhook.objects.create(url="x", site="y", kinds=["round_judged"], nonce="n")
    record(campaign, "verdict", "round 2: accepted")
    monkeypatch.setattr(webhooks, "SETTLED", timedelta(0))
    monkeypatch.setattr(webhooks.current_app, "send_task", pytest.fail)
    webhooks.send_news()
    hook.refresh_from_db()
    assert hook.told_until
    for name, letters in (("mia", 1), ("otto", 0)):
        user, _ = User.objects.get_or_create(username=name)
        MailAddress.objects.create(person=user, address=f"{name}@example.org", site="https://k")
        Notification.objects.tell([user.pk], NoticeKind.MENTION, NAME, "/c/1/", campaign.pk)
        Notification.objects.update(at=campaign.created_at)
        write_mail(user.pk)
        assert len(mail.outbox) == letters
        mail.outbox.clear()
        with seeing(eyes_of(user)):
            assert Notification.objects.filter(person=user).count() == letters
    assert not Notification.objects.filter(mailed_at=None)


def test_attempts_are_not_merged_across_projects(campaign, project):
    hidden = Experience.objects.filter(standing="counts").first()
    second = build_sample(rounds=3, running=True)
    shown = Experience.objects.filter(campaign=second.pk, standing="counts").first()
    with pytest.raises(CurationError, match="of another project"):
        merge([hidden], shown, None, "the same", decision="so it is")
