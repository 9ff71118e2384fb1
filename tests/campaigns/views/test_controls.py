"""Pause, resume and stop."""

import pytest
from django.urls import reverse

from campaigns.models import Evaluation
from campaigns.models.transitions import move
from campaigns.rules.stop.policy import StopPolicy
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from tests.campaigns.sample import PLATFORM, PROBLEM


def press(page, campaign, verb):
    return page.post(reverse(f"campaign_{verb}", args=[campaign.pk]), follow=True)


@pytest.fixture
def rung(monkeypatch):
    bells = []
    monkeypatch.setattr("campaigns.views.controls.notify", lambda campaign, n: bells.append(n))
    return bells


def test_it_pauses_and_resumes(page, running, rung):
    assert b"Pausing" in press(page, running, "pause").content
    running.refresh_from_db()
    assert running.pause_requested
    body = press(page, running, "resume").content
    assert b"The campaign goes on" in body
    running.refresh_from_db()
    assert not running.pause_requested
    assert [bell.again for bell in rung] == [False, True]


def test_what_no_worker_holds_is_paused_and_ended_at_once(page, running, rung):
    move(Evaluation.objects.get(state="running"), "queued", holder="", heartbeat_at=None)
    assert "The campaign is paused." in press(page, running, "pause").content.decode()
    told = press(page, running, "stop").content.decode()
    assert "The campaign is ended." in told
    assert "stopping" not in told
    running.refresh_from_db()
    assert (running.state, running.stop_reason) == ("done", "user")


def test_it_says_what_a_button_leads_to(page, viewer, running):
    address = reverse("campaign", args=[running.pk])
    body = page.get(address).content.decode()
    assert "Pause holds it after the running measurement." in body
    assert "ends the campaign for good" in body
    assert "data-controls" not in viewer.get(address).content.decode()


def test_it_stops_once(page, running, rung):
    body = press(page, running, "stop").content.decode()
    running.refresh_from_db()
    assert running.stop_requested
    assert "do-stop" not in body
    assert "stopping" in body
    assert "Stopping: the open round is finished first" in body.split("data-controls")[1]


def test_r56_it_says_what_a_finished_campaign_can_not_do(page, sample, rung):
    body = press(page, sample, "stop").content.decode()
    assert "campaign: is already done" in body
    assert rung == []


def test_a_stop_asks_first_in_the_words_of_the_state(page, running, rung):
    body = page.get(reverse("campaign", args=[running.pk])).content.decode()
    asked = body[body.index('<details class="confirm"') : body.index("</details>")]
    assert "Round 4 is measured to its end if a worker is at it" in asked
    assert 'id="do-stop"' in asked


def test_a_stopped_draft_claims_no_round(page, sample, engineer, rung):
    wish = Wish(problem=PROBLEM, platform=PLATFORM, backend="cuda", policy=StopPolicy(max_rounds=3))
    draft = create_campaign(wish)
    body = page.get(reverse("campaign", args=[draft.pk])).content.decode()
    assert "This ends the draft for good. Nothing has been measured" in body
    told = press(page, draft, "stop").content.decode()
    assert "The campaign is ended. Nothing was measured." in told
    assert "open round" not in told
