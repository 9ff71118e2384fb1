"""/api/v1/campaigns/<n>/restart/: a person answers what a campaign offers."""

import pytest

from campaigns.models import CampaignState, Restart
from campaigns.models.transitions import move
from tests.campaigns.api import test_workers
from tests.campaigns.steps import cast

client_of = test_workers.client_of


@pytest.fixture
def offered(db, tmp_path, monkeypatch):
    """A campaign that waits for the answer."""
    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr("campaigns.api.campaigns.notify", lambda *a: None)
    campaign = cast.make_campaign(tmp_path, restart="ask")
    for state in ("confirmed", "prepare", "baseline", "decide", "restart"):
        if campaign.state != state:
            move(campaign, CampaignState(state))
    return campaign


def answer(client, campaign, body):
    address = f"/api/v1/campaigns/{campaign.pk}/restart/"
    return client.post(address, body, content_type="application/json")


@pytest.mark.parametrize(("word", "stored"), [("take", "taken"), ("decline", "declined")])
def test_r40_a_person_answers_the_restart_once(client_of, offered, word, stored):
    client = client_of("change_campaign")
    assert answer(client, offered, {"answer": word}).status_code == 200
    assert Restart.objects.get(campaign=offered).answer == stored
    again = answer(client, offered, {"answer": word})
    assert again.status_code == 409
    assert "no restart is offered" in again.json()["message"]


@pytest.mark.parametrize("body", [{}, {"answer": "ask"}, {"answer": "take", "seed": 1}])
def test_it_says_what_an_answer_may_be(client_of, offered, body):
    refused = answer(client_of("change_campaign"), offered, body)
    assert refused.status_code == 422
    assert refused.json()["field"] == "answer"
    assert "accepted, alone: take, decline" in refused.json()["message"]
    assert not Restart.objects.exists()


def test_it_needs_the_right_to_steer(client_of, offered):
    assert answer(client_of("add_campaign"), offered, {"answer": "take"}).status_code == 403
    assert not Restart.objects.exists()
