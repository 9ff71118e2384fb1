"""The time that a campaign has taken: pauses left out, and measuring apart."""

from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.utils import timezone

from campaigns.models import Evaluation, Worker
from campaigns.models.event import record
from campaigns.records.time_spent import device_s_by_round, spent_by_phase, time_spent
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.totals import limits_of
from campaigns.rules.stop.policy import StopReason
from tests.campaigns.lab import give_ceilings
from tests.campaigns.sample import build_sample
from tests.campaigns.steps import cast

START = datetime(2026, 11, 22, 9, tzinfo=UTC)


@pytest.fixture
def campaign(db, tmp_path):
    """One that was confirmed an hour after the start."""
    give_ceilings(cast.make_platform().slug)
    with (
        at(1),
        patch("campaigns.steps.lifecycle.create_campaign.proposer_names", lambda: ("search",)),
    ):
        return cast.make_campaign(tmp_path)


def at(hours):
    return patch("django.utils.timezone.now", lambda: START + timedelta(hours=hours))


def happens(campaign, hours, *kinds):
    with at(hours):
        for kind in kinds:
            record(campaign, kind, kind)


def wall_h(campaign, hours):
    return time_spent(campaign, START + timedelta(hours=hours)).wall_h


def test_nothing_is_spent_before_it_is_confirmed(campaign):
    assert wall_h(campaign, 0.5) == 0


def test_pauses_are_left_out(campaign):
    assert wall_h(campaign, 3) == 2
    happens(campaign, 4, "paused")
    assert wall_h(campaign, 9) == 3
    happens(campaign, 10, "resumed", "round_opened")
    assert wall_h(campaign, 12) == 5
    # Taking back a pause that had not come yet begins nothing anew.
    happens(campaign, 13, "resumed")
    assert wall_h(campaign, 14) == 7
    happens(campaign, 15, "finished")
    assert wall_h(campaign, 99) == 8


def test_law_8_waits_for_a_device_are_left_out(campaign):
    happens(campaign, 2, "device_busy")
    happens(campaign, 3, "device_busy")
    assert wall_h(campaign, 4) == 1
    happens(campaign, 5, "device_idle")
    assert wall_h(campaign, 6) == 2
    happens(campaign, 7, "device_busy")
    happens(campaign, 8, "pause_requested", "paused")
    assert wall_h(campaign, 20) == 3
    happens(campaign, 21, "resumed")
    assert wall_h(campaign, 22) == 4
    # What waits beside the campaign holds nothing up.
    happens(campaign, 23, "reproduction_waits")
    assert wall_h(campaign, 24) == 6


def test_the_hours_of_the_device_are_those_of_its_evaluations(db):
    sample = build_sample()
    rows = Evaluation.objects.filter(candidate__round__campaign=sample)
    taken = sum((row.finished_at - row.started_at for row in rows if row.started_at), timedelta())
    spent = time_spent(sample, START + timedelta(days=9))
    assert spent.device_h == taken / timedelta(hours=1)
    # Its end counts, not the time of asking.
    assert time_spent(sample, START + timedelta(days=99)) == spent


def test_a_second_of_one_device_is_counted_once(db):
    """Workers of one card claim at once, and take turns on it; another card is another."""
    sample, far = build_sample(rounds=3, running=True), timezone.now()
    before = time_spent(sample, far).device_h, sum(device_s_by_round(sample, far).values())
    rows = Evaluation.objects.filter(candidate__round__campaign=sample)
    one, open_one = rows.filter(kind="decide").first(), rows.get(state="running")
    for number, card in enumerate(("", "", "GPU-2")):
        made = {"platform": sample.platform, "card": card, "pid": number}
        made |= {"started_at": START, "heartbeat_at": START}
        worker = Worker.objects.create(name=f"w{number}", **made)
        Evaluation.objects.create(
            candidate=open_one.candidate,
            kind="share",
            attempt=number + 1,
            worker=worker,
            started_at=one.started_at,
            finished_at=one.finished_at,
        )
    took = one.finished_at - one.started_at
    after = time_spent(sample, far).device_h, sum(device_s_by_round(sample, far).values())
    assert after[0] - before[0] == pytest.approx(took / timedelta(hours=1))
    assert after[1] - before[1] == pytest.approx(took.total_seconds())


def test_r49_the_counters_of_a_finished_campaign_are_those_it_ended_by(db):
    sample = build_sample()
    found = {c.reason: c for c in limits_of(campaign_sheet(sample, START), START)}
    assert sample.stop_reason == StopReason.MAX_ROUNDS
    assert found[StopReason.MAX_ROUNDS].words == "10 of 10"
    assert found[StopReason.MAX_ROUNDS].share == 1.0
    assert found[StopReason.FAILURE_BUDGET].words == "0 of 8"


def test_each_phase_has_its_wall_time_and_what_was_measured_in_it(db):
    campaign = build_sample()
    now = timezone.now()
    phases = {str(one.state): one for one in spent_by_phase(campaign, now)}
    assert "draft" not in phases
    assert "done" not in phases
    assert phases["validate"].entered == campaign.phases.filter(state="validate").count()
    assert phases["validate"].device_s > 0
    assert phases["analyze"].device_s == 0
    device_s = sum(one.device_s - one.void_s for one in phases.values())
    assert device_s == pytest.approx(time_spent(campaign, now).device_h * 3600)
    confirmed = campaign.phases.get(state="confirmed").at
    wall_s = sum(one.wall_s for one in phases.values())
    assert wall_s == pytest.approx((campaign.finished_at - confirmed).total_seconds(), abs=2)
