"""The target: goal and ridges with their basis, and the floor that is judged against."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.models import CampaignState
from campaigns.records.judged_rounds import standard_of
from knowledge.specs.cited import UNKNOWN
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def test_r6_it_states_the_goal_of_a_case_with_its_basis(tmp_path: Path) -> None:
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    target = cast.fresh(campaign).target
    goal = target["cases"]["two"]["goal"]
    assert goal["value"] == target["cases"]["two"]["target_us"]
    assert (goal["metric"], goal["op"], goal["fraction"]) == ("time_us", "≤", 0.9)
    assert goal["basis"] == "measured_ceiling"
    assert goal["words"] == (
        "time_us ≤ 11.1 µs, 90 % of the measured ceiling: "
        "100 kB ÷ 10 GB/s = 10.0 µs; ÷ 90 % = 11.1 µs"
    )


def test_r4_it_states_the_ridge_of_every_memory_level(tmp_path: Path) -> None:
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    dram, cache = cast.fresh(campaign).target["ridges"]
    assert (dram["dtype"], dram["level"], dram["flops_per_byte"]) == ("float32", "dram", 10.0)
    assert dram["text"] == "100 Gop/s ÷ 10 GB/s = 10.0 op/B"
    assert (cache["level"], cache["flops_per_byte"], cache["text"]) == ("cache", None, UNKNOWN)


def test_law_6_a_busy_hosts_ceilings_make_no_honest_kernel_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = replace(cast.BANDWIDTH, metric="host_busy_share", value=0.5, unit="ratio")
    floors = {}
    for name, answer in (("idle", None), ("busy", busy)):
        monkeypatch.setattr(
            "campaigns.steps.lifecycle.set_target.host_busy_share", lambda _, a=answer: a
        )
        campaign = cast.make_campaign(_folder(tmp_path, name))
        cast.step_until(campaign, CampaignState.BASELINE)
        standard = standard_of(cast.fresh(campaign), has_incumbent=False)
        floors[name] = standard.floors["one"]
    assert floors["idle"].floor_us == pytest.approx(10 / 1.03)
    assert floors["busy"].floor_us == pytest.approx(5 / 1.03)
    assert floors["busy"].slack == pytest.approx(1.06)


def test_law_6_a_disputed_peak_makes_no_honest_kernel_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rival = replace(cast.BANDWIDTH, value=20e9, display="20 GB/s", evidence="documented")
    monkeypatch.setattr(
        "campaigns.steps.lifecycle.set_target.higher_rivals",
        lambda platform, answers: [rival] if cast.BANDWIDTH in answers else [],
    )
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    standard = standard_of(cast.fresh(campaign), has_incumbent=False)
    assert standard.floors["one"].floor_us == pytest.approx(5)
    assert cast.fresh(campaign).target["cases"]["one"]["floor_us"] == pytest.approx(10)
