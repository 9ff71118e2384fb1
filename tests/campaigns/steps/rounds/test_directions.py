"""A campaign on a problem with a forward and a backward direction: what counts is the step."""

from __future__ import annotations

import pytest
from django.utils import timezone

from campaigns.reports.report import render_report
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.totals import trend_of
from campaigns.rules.noise.directions import Direction, Half
from campaigns.rules.wording import change
from campaigns.trails.exporters.archive import FORMATS
from campaigns.trails.exporters.judged_rounds import trail_of
from tests.campaigns.steps import cast

FASTER = "// time 50"
BOTH = cast.TOML.replace(
    'name = "one"', 'name = "one"\non = ["cpu"]\nstep = "s"\ndirection = "forward"'
).replace('name = "two"', 'name = "two"\nstep = "s"\ndirection = "backward"')


@pytest.fixture
def campaign(run, script, monkeypatch):
    monkeypatch.setattr(cast, "TOML", BOTH)
    script([FASTER])
    return run()


def test_r14_its_cases_are_halves_of_a_step(campaign):
    assert campaign.problem.halves == {
        "one": Half("s", Direction.FORWARD),
        "two": Half("s", Direction.BACKWARD),
    }


def test_r14_it_is_judged_by_the_step_and_shows_both_directions(campaign):
    verdict = campaign.rounds.get(number=2).verdict
    times = {row["case"]: (row["incumbent_us"], row["time_us"]) for row in verdict.cases}
    old, new = (sum(times[name][arm]["median"] for name in ("one", "two")) for arm in (0, 1))
    assert verdict.gain == pytest.approx(old / new - 1, rel=0.02)
    assert set(times) == {"one", "two"}


def test_r14_the_trend_has_both_directions_and_the_gain_over_the_step(campaign):
    sheet = campaign_sheet(campaign, timezone.now())
    trend = trend_of(sheet)
    assert trend.has_backward
    first, second = trend.rows
    assert first.gain is None
    assert second.gain.gain == campaign.rounds.get(number=2).verdict.gain
    time_s = sum(second.row.times.values()) / 1e6
    moved = sum(case.bytes for case in sheet.target.cases.values())
    assert trend.unit == "GB/s"
    assert second.step.mean == pytest.approx(moved / time_s / 1e9)


def test_r14_report_and_trail_show_it(campaign):
    second = trend_of(campaign_sheet(campaign, timezone.now())).of(2)
    assert "Combined step</th>" in render_report(campaign)
    files = dict(FORMATS["kernel-optimize"].files(trail_of(campaign)))
    path = next(path for path in files if files[path].startswith("# Performance trend"))
    assert "Combined Step GB/s" in files[path]
    assert f"{change(second.gain.gain)} (paired, n={second.gain.pairs})" in files[path]
