"""The cast of the page tests: an engineer, a viewer, and the sample campaign."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, Evaluation
from campaigns.models.transitions import claim
from campaigns.views import campaign as campaign_view
from campaigns.views.round_tabs import TABS
from tests.around import built_around
from tests.campaigns.sample import build_sample


def round_address(campaign, number, tab="overview"):
    """The address of a tab of a round."""
    if tab == "overview":
        return reverse("round", args=[campaign.pk, number])
    return reverse("round_tab", args=[campaign.pk, number, tab])


def whole_round(client, campaign, number):
    """What all tabs of a round say."""
    answers = [client.get(round_address(campaign, number, tab)) for tab in TABS]
    assert {answer.status_code for answer in answers} == {200}
    return "".join(answer.content.decode() for answer in answers)


def whole_campaign(client, campaign):
    """What the overview and the other tabs of a campaign say."""
    paths = [reverse("campaign", args=[campaign.pk])]
    paths += [reverse("campaign_tab", args=[campaign.pk, tab]) for tab in campaign_view.TABS]
    answers = [client.get(path) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return "".join(answer.content.decode() for answer in answers)


@pytest.fixture
def engineer(db):
    user = User.objects.create(username="alice")
    names = ("add_campaign", "change_campaign")
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))
    return user


@pytest.fixture
def page(engineer):
    """A client that is logged in as an engineer."""
    client = Client()
    client.force_login(engineer)
    return client


@pytest.fixture
def viewer(db):
    """A client that may read and nothing else."""
    client = Client()
    client.force_login(User.objects.create(username="bob"))
    return client


@pytest.fixture(scope="module")
def stage(django_db_setup, django_db_blocker):
    """Both campaigns, built once a module in a transaction around those of its tests.

    Tests of an empty database stand before the first one that wants these.
    """
    with built_around(django_db_blocker, _both) as keys:
        yield keys


def _both():
    return {"sample": build_sample().pk, "running": build_sample(rounds=3, running=True).pk}


@pytest.fixture
def sample(stage, db):
    """Ten rounds, all verdicts, finished."""
    return Campaign.objects.get(pk=stage["sample"])


@pytest.fixture
def running(stage, db):
    """Three rounds, and a fourth that is being measured right now."""
    claim(Evaluation.objects.filter(state="running"), heartbeat_at=timezone.now())
    return Campaign.objects.get(pk=stage["running"])
