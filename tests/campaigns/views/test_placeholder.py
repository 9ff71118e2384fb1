"""The form on a draft's page that allows a placeholder, and the words that it leaves."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from campaigns.models import CampaignState, Placeholder
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from tests.campaigns.steps import cast
from tests.campaigns.views.conftest import whole_campaign

SAID = {"question": "bandwidth", "value": "1 GB/s", "reason": "the sheet comes <b>soon</b>"}


@pytest.fixture(autouse=True)
def no_bandwidth(db, monkeypatch):
    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr(
        "campaigns.records.target.ceilings.bandwidth_ceilings", lambda platform, **_: []
    )


@pytest.fixture
def draft(tmp_path):
    return create_campaign(Wish(cast.write_problem(tmp_path), cast.make_platform().slug, "cpp"))


@pytest.fixture
def as_role():
    def log_in(role):
        user = User.objects.create_user(f"a-{role}")
        user.groups.add(Group.objects.get(name=role))
        client = Client()
        client.force_login(user)
        return client

    return log_in


def page_of(client, campaign):
    return client.get(reverse("campaign", args=[campaign.pk])).content.decode()


def test_it_shows_the_gap_to_all_and_the_form_to_curators(as_role, draft):
    for role, may in (("viewer", False), ("engineer", False), ("curator", True), ("lead", True)):
        body = page_of(as_role(role), draft)
        assert 'data-gap="bandwidth"' in body
        assert "How to obtain it: run `.venv/bin/python manage.py wiki ceilings`" in body
        assert ("placeholder-form" in body) is may


def test_it_stores_what_a_curator_allows_and_labels_it(as_role, draft):
    curator = as_role("curator")
    answer = curator.post(reverse("placeholder", args=[draft.pk]), SAID)
    assert answer.status_code == 302
    body = page_of(curator, draft)
    assert 'data-placeholder="bandwidth"' in body
    assert "the sheet comes &lt;b&gt;soon&lt;/b&gt;" in body
    confirm(draft)
    cast.step_until(draft, CampaignState.BASELINE)
    for name in ("campaign", "report", "report_file"):
        body = (
            whole_campaign(curator, draft)
            if name == "campaign"
            else curator.get(reverse(name, args=[draft.pk])).content.decode()
        )
        # The page of the report leaves the rest to the tab of the target.
        assert body.count("unverified placeholder") >= (1 if name == "report" else 4)
        if name != "report":
            assert 'data-pitfall="placeholder"' in body
            assert "allowed by a-curator" in body


def test_it_refuses_others_and_bad_input(as_role, draft):
    address = reverse("placeholder", args=[draft.pk])
    assert as_role("engineer").post(address, SAID).status_code == 403
    curator = as_role("curator")
    assert curator.get(address).status_code == 405
    answer = curator.post(address, {**SAID, "value": "~1 GB/s"})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert 'aria-describedby="placeholder-error"' in body
    assert 'value="~1 GB/s"' in body
    assert not Placeholder.objects.exists()


def test_law_1_confirming_says_what_is_missing_and_measures_nothing(as_role, draft):
    answer = as_role("engineer").post(f"/c/{draft.pk}/confirm", follow=True)
    assert "no approved copy_bandwidth of test-cpu; there is no target." in answer.content.decode()
    assert cast.fresh(draft).state == CampaignState.DRAFT


def test_it_says_so_when_the_campaign_is_confirmed(as_role, draft):
    curator = as_role("curator")
    curator.post(reverse("placeholder", args=[draft.pk]), SAID)
    confirm(draft)
    answer = curator.post(reverse("placeholder", args=[draft.pk]), SAID, follow=True)
    assert "confirming freezes the goal" in answer.content.decode()
    assert Placeholder.objects.count() == 1
