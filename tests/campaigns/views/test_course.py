"""An offered restart is asked on the campaign's page, with what each answer leads to (R40)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from campaigns.models import Campaign, CampaignState, RestartAnswer
from campaigns.steps.lifecycle.restart import answer_restart
from tests.campaigns.steps import cast
from tests.campaigns.views.conftest import whole_campaign

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
BAND = 'data-offer="restart"'


def read(client, campaign, **more):
    return client.get(f"/c/{campaign.pk}/", **more).content.decode()


@pytest.fixture
def go(monkeypatch, tmp_path):
    """Bring a campaign to its restart; what comes before is told to `before`."""

    def run(before=lambda campaign: None) -> Campaign:
        cast.set_the_scene(monkeypatch)
        script = cast.Script([["time 100"]] * 9)
        monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
        campaign, bench = cast.make_campaign(tmp_path, restart="ask"), cast.make_bench(cast.Judge())
        for _ in range(60):
            before(campaign)
            cast.measure_all(campaign, bench)
            if cast.fresh(campaign).state == CampaignState.RESTART:
                return cast.fresh(campaign)
        raise AssertionError("no restart was offered")

    return run


def test_r40_it_says_what_each_answer_does_and_until_when(page, viewer, go):
    campaign = go()
    html = read(page, campaign)
    band = html.split(BAND)[1].split("</section>")[0]
    until = campaign.phases.last().at + timedelta(hours=1)
    assert f'<time datetime="{until:%Y-%m-%dT%H:%M:%S}' in band
    assert "Hides about half of what was tried" in band
    assert "Hides nothing" in band
    assert 'id="do-restart"' in band
    assert 'id="do-decline"' in band
    assert html.count('id="do-restart"') == 1
    shown = read(viewer, campaign)
    assert BAND in shown
    assert "do-restart" not in shown
    answer_restart(campaign, RestartAnswer.TAKEN)
    assert BAND not in read(page, campaign)
    html = whole_campaign(page, campaign)
    masked = html.split('data-restart="taken"')[1].split("</dd>")[0]
    assert '<div class="sub">drawn by seed' in masked


def test_r40_it_asks_while_the_page_is_open(page, go):
    versions = []

    def look(campaign):
        versions.append(page.get(f"/c/{campaign.pk}/").context["version"])

    campaign = go(look)
    html = read(page, campaign, data={"since": versions[-1]}, headers=HTMX)
    assert f'<div id="offer" hx-swap-oob="true"><section class="band asks" {BAND}' in html
