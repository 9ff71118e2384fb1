"""Every page answers in every state of a campaign, before anything was measured and after."""

import pytest
from django.urls import reverse

from campaigns.models import Campaign, CampaignState
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from tests.campaigns.steps import cast

PAGES = ("home", "campaigns")
OWN_PAGES = ("campaign", "rounds", "report", "report_file")


def addresses(campaign: Campaign) -> list[str]:
    own = [reverse(name, args=[campaign.pk]) for name in OWN_PAGES]
    rounds = [reverse("round", args=[campaign.pk, r.number]) for r in campaign.rounds.all()]
    return [*(reverse(name) for name in PAGES), *own, *rounds]


def assert_pages_answer(page, campaign: Campaign) -> None:
    for address in addresses(campaign):
        assert page.get(address).status_code == 200, address


def test_it_shows_a_draft(page, tmp_path):
    platform = cast.make_platform()
    wish = Wish(cast.write_problem(tmp_path), platform.slug, "cpp")
    campaign = create_campaign(wish)
    assert campaign.state == CampaignState.DRAFT
    assert_pages_answer(page, campaign)


@pytest.mark.parametrize("v0", ["time 100", "wrong"])
def test_it_shows_each_step_of_a_campaign(page, tmp_path, monkeypatch, v0):
    script = cast.Script([["time 50"], ["crash"]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
    cast.set_the_scene(monkeypatch)
    campaign = cast.make_campaign(tmp_path, v0, max_rounds=3)
    seen = set()
    for _ in range(60):
        campaign = cast.fresh(campaign)
        if campaign.state not in seen:
            seen.add(campaign.state)
            assert_pages_answer(page, campaign)
        if campaign.is_finished:
            break
        cast.step(campaign)
        cast.measure_all(campaign, cast.make_bench(cast.Judge()))
    assert campaign.is_finished
    assert len(seen) >= 3
