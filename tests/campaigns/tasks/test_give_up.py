"""A step that keeps failing ends its campaign with the reason instead of being rung for ever."""

import pytest

from campaigns import tasks
from campaigns.models import CampaignState
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    def broken(campaign):
        raise ZeroDivisionError("a fault of ours\nwith a second line")

    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr(tasks, "take_step", broken)
    return cast.make_campaign(tmp_path)


def test_it_tries_again_before_it_gives_up(campaign):
    for _ in range(2):
        tasks.advance(campaign.pk)
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.CONFIRMED
    assert campaign.events.filter(kind="step_failed").count() == 2


def test_it_aborts_with_the_error_after_three_failures(campaign):
    for _ in range(3):
        tasks.advance(campaign.pk)
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.ABORTED
    assert campaign.stop_reason == "internal"
    assert "ZeroDivisionError: a fault of ours" in campaign.stop_sentence
    assert "second line" not in campaign.stop_sentence
