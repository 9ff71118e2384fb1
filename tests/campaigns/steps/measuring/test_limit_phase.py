"""A phase that takes too long is told of, and measuring without end is paused (R16, R59)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.management.facts import campaign_details, campaign_text
from campaigns.models import Campaign, CampaignState, Evaluation
from campaigns.models.transitions import claim
from campaigns.records.time_spent import clock_of
from campaigns.reports.progress import estimate, progress_of
from campaigns.steps.lifecycle.control import resume
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Script

pytestmark = pytest.mark.django_db
Put = Callable[..., Script]


def measuring(tmp_path: Path, bench: WorkerContext, hours: float) -> Campaign:
    """A campaign in its second round, the measurement of which has run for so long."""
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.VALIDATE)
    (row,) = Evaluation.objects.filter(candidate__round__campaign=campaign, state="queued")
    begun = timezone.now()
    claim(
        Evaluation.objects.filter(pk=row.pk),
        state="running",
        started_at=begun,
        heartbeat_at=begun + timedelta(hours=hours),
        holder="tester:1",
    )
    return cast.fresh(campaign)


def later(monkeypatch: pytest.MonkeyPatch, **by: float) -> None:
    now = timezone.now() + timedelta(**by)
    monkeypatch.setattr("campaigns.steps.measuring.waits.timezone.now", lambda: now)


def test_r16_measuring_for_longer_than_the_limit_pauses_the_campaign(
    bench: WorkerContext, script: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["time 50"])
    campaign = measuring(tmp_path, bench, 2.1)
    later(monkeypatch, hours=3)
    cast.step(campaign)
    # What runs is finished first.
    assert cast.fresh(campaign).state == CampaignState.VALIDATE
    assert cast.fresh(campaign).pause_requested
    (event,) = campaign.events.filter(kind="phase_late")
    assert event.message.startswith("measuring has used 126 of its 120 min of measuring; paused")
    claim(Evaluation.objects.filter(state="running"), state="queued")
    cast.step(campaign)
    assert cast.fresh(campaign).state == CampaignState.PAUSED
    resume(cast.fresh(campaign))
    cast.step(campaign)
    # It has its whole time again.
    assert cast.fresh(campaign).state == CampaignState.VALIDATE
    assert not cast.fresh(campaign).pause_requested


def test_r16_a_wait_or_a_machine_that_is_off_uses_up_nothing(
    bench: WorkerContext, script: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["time 50"])
    campaign = measuring(tmp_path, bench, 0.5)
    later(monkeypatch, hours=300)
    cast.step(campaign)
    assert not cast.fresh(campaign).pause_requested
    clock = clock_of(cast.fresh(campaign), timezone.now() + timedelta(hours=300))
    assert clock is not None
    assert clock.spent_s == pytest.approx(1800, abs=1)


def test_r59_a_step_without_a_sign_of_life_is_told_of_once(
    bench: WorkerContext, script: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["time 50"])
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.ANALYZE)
    later(monkeypatch, minutes=45)
    assert [found.pk for found, _ in reconcile()] == [campaign.pk]
    reconcile()
    (event,) = campaign.events.filter(kind="phase_idle")
    assert event.message.startswith("no sign of life for 45 min while choosing what to try; ")
    assert "used 45 of its 40 min" in event.message
    cast.step_until(campaign, CampaignState.VALIDATE)


def test_r59_nothing_is_told_of_what_waits_for_a_device(
    bench: WorkerContext, script: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, _ = cast.waiting_campaign(tmp_path)
    later(monkeypatch, hours=9)
    reconcile()
    assert not campaign.events.filter(kind="phase_idle").exists()


def test_r59_the_page_tells_phase_since_when_and_what_it_waits_for(
    bench: WorkerContext, script: Put, tmp_path: Path, client: Client, django_user_model: Any
) -> None:
    script(["time 50", "time 60"], ["time 40"])
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.VALIDATE)
    found = progress_of(cast.fresh(campaign), timezone.now())
    assert found is not None
    assert (found.state, found.waits_for) == ("validate", "measurement 1 of 2 of round 2 so far")
    assert found.since == campaign.phases.last().at
    assert found.eta_words == "too early to say (0 of 3 such phases done)"
    client.force_login(django_user_model.objects.create_user("viewer"))
    body = client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert 'data-progress="validate"' in body
    assert "waiting for measurement 1 of 2 of round 2 so far" in body
    assert campaign_details(cast.fresh(campaign))["progress"] == found.stored
    assert "waiting for measurement 1 of 2" in campaign_text(cast.fresh(campaign))
    ended = cast.run_again(campaign, bench)
    assert progress_of(ended, timezone.now()) is None


def test_r59_the_time_left_is_capped_by_the_budget_of_time() -> None:
    eta = estimate([60.0, 60.0, 90.0], 10, 300.0)
    assert eta is not None
    assert (eta.low_s, eta.high_s, eta.is_capped) == (300.0, 300.0, True)
    free = estimate([60.0, 60.0, 90.0], 10)
    assert free is not None
    assert not free.is_capped
