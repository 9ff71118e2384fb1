"""A target that is no share of the ceilings: kept, shown, and what the search ends at (R6, R49)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.utils import timezone

from campaigns.management.facts import campaign_details, campaign_text
from campaigns.models import Campaign
from campaigns.reports.sheet import campaign_sheet
from tests.campaigns.steps import cast

Run = Callable[..., Campaign]
Put = Callable[..., cast.Script]


def words_of(campaign: Campaign) -> str:
    return campaign_sheet(campaign, timezone.now()).goal_words


def test_r6_it_stops_at_an_absolute_time(run: Run, script: Put) -> None:
    script(["time 70"], ["time 55"], ["time 40"])
    campaign = run(goal="time_us<=60")
    assert (campaign.stop_reason, campaign.rounds.count()) == ("target_met", 3)
    assert "time_us is 55.0 µs, the target is time_us ≤ 60.0 µs" in campaign.stop_sentence
    assert words_of(campaign) == "time_us ≤ 60.0 µs, as geometric mean over 2 cases"


def test_r6_it_stops_at_an_absolute_rate(run: Run, script: Put) -> None:
    script(["time 70"], ["time 40"], ["time 30"])
    campaign = run(goal="bytes_per_s>=2 GB/s")
    assert (campaign.stop_reason, campaign.rounds.count()) == ("target_met", 3)
    assert "bytes_per_s is 2.50 GB/s" in campaign.stop_sentence


def test_r6_it_stops_at_a_multiple_of_the_baselines_speed(run: Run, script: Put) -> None:
    script(["time 70"], ["time 49"], ["time 30"])
    campaign = run(goal="baseline:2")
    assert (campaign.stop_reason, campaign.rounds.count()) == ("target_met", 3)
    assert "200 % of the baseline: 100 µs ÷ 200 % = 50.0 µs" in words_of(campaign)


def test_r49_it_ends_at_the_roofline_though_the_target_lies_beyond(run: Run, script: Put) -> None:
    script(["time 11"], ["time 10"])
    campaign = run(goal="time_us<=5")
    assert (campaign.stop_reason, campaign.rounds.count()) == ("roofline_reached", 2)
    assert "the target is time_us ≤ 5.00 µs" in campaign.stop_sentence


def test_it_keeps_the_target_as_it_was_asked_for(db: None, tmp_path: Path) -> None:
    campaign = cast.make_campaign(tmp_path, goal="baseline:1.5")
    assert campaign.goal == {
        "metric": "time_us",
        "op": "≤",
        "value": None,
        "basis": "baseline_ratio",
        "fraction": 1.5,
    }
    assert "target: 150 % of the speed of v0, which is not measured yet" in campaign_text(campaign)
    assert campaign_details(campaign)["goal"] == campaign.goal


def test_it_puts_a_share_of_the_ceilings_into_the_stop_policy(db: None, tmp_path: Path) -> None:
    campaign = cast.make_campaign(tmp_path, goal="80%")
    assert campaign.stop_policy["target_fraction"] == 0.8
    assert words_of(campaign) == "80 % of what the ceilings allow, as geometric mean over 2 cases"


def test_it_reads_a_campaign_from_before_targets_were_kept(db: None, tmp_path: Path) -> None:
    campaign = cast.make_campaign(tmp_path, target_fraction=0.7)
    campaign.goal = None
    assert words_of(campaign).startswith("70 % of what the ceilings allow")
