"""Rounds, device time and gain by kind of proposer."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from django.utils import timezone

from campaigns.reports.proposers import proposer_rows
from campaigns.reports.sheet import campaign_sheet
from campaigns.rules.wording import share
from campaigns.steps.rounds.submit import submit
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_tells_the_proposers_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cast.set_the_scene(monkeypatch)
    script = cast.Script([["time 80"], ["time 90"]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
    campaign = cast.make_campaign(tmp_path, proposers="search=2,person=3,agent", max_rounds=5)
    bench = cast.make_bench(cast.Judge())
    while cast.fresh(campaign).state != "awaiting":
        cast.measure_all(campaign, bench)
    submit(cast.fresh(campaign), cast.handed_in("time 40"), "person", "alice")
    submit(cast.fresh(campaign), cast.handed_in("time 20"), "person", "bob")
    cast.run_again(campaign, bench)
    campaign = cast.fresh(campaign)
    now = timezone.now()
    sheet = campaign_sheet(campaign, now)
    search, person, agent = proposer_rows(sheet, now)
    assert (search.rounds_words, search.accepted, search.counted) == ("2 of 2", 1, 1)
    assert (person.rounds_words, person.accepted, person.counted) == ("2 of 3", 2, 2)
    # Twice twofold, after a fourth: the campaign's gain is told once, and each has its part of it.
    assert person.part == pytest.approx(math.log(4) / math.log(5), rel=0.02)
    assert search.part + person.part == pytest.approx(1)
    assert (1 + search.gain.gain) * (1 + person.gain.gain) == pytest.approx(1 + sheet.total.gain)
    assert person.gain.low <= person.gain.gain <= person.gain.high
    assert person.device_s > 0
    assert person.per_s[0] == pytest.approx(person.gain.gain / person.device_s)
    assert person.facts["gain_per_s_low"] <= person.facts["gain_per_s"]
    assert f"; {share(person.part)} of the gain, " in person.words
    assert (agent.rounds_words, agent.gain, agent.per_s_words) == ("0", None, "–")
    assert agent.facts["gain_per_s"] is None


def test_what_is_measured_after_the_rounds_is_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast.set_the_scene(monkeypatch)
    script = cast.Script([["time 50"]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
    campaign = cast.make_campaign(tmp_path, proposers="search,person")
    cast.run_again(campaign, cast.make_bench(cast.Judge()))
    campaign, now = cast.fresh(campaign), timezone.now()
    sheet = campaign_sheet(campaign, now)
    search, _ = proposer_rows(sheet, now)
    total = sheet.total
    assert (search.part, search.gain.low) == (1.0, pytest.approx(total.low))
    own = campaign.rounds.get(number=2).candidates.get().evaluations.exclude(kind="report")
    spent = sum((e.finished_at - e.started_at).total_seconds() for e in own)
    assert search.device_s == pytest.approx(spent)
