"""Rounds and device time by kind of proposer."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from campaigns.reports.proposers import proposer_rows
from campaigns.reports.sheet import campaign_sheet
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
    search, person, agent = proposer_rows(campaign_sheet(campaign, now), now)
    assert (search.rounds_words, search.accepted, search.counted) == ("2 of 2", 1, 1)
    assert (person.rounds_words, person.accepted, person.counted) == ("2 of 3", 2, 2)
    assert person.device_s > 0
    assert "rounds 2 of 3, accepted 2, of them verified 2, " in person.words
    assert agent.rounds_words == "0"


def test_what_is_measured_after_the_rounds_is_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast.set_the_scene(monkeypatch)
    script = cast.Script([["time 50"]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
    campaign = cast.make_campaign(tmp_path, proposers="search,person")
    cast.run_again(campaign, cast.make_bench(cast.Judge()))
    campaign, now = cast.fresh(campaign), timezone.now()
    search, _ = proposer_rows(campaign_sheet(campaign, now), now)
    own = campaign.rounds.get(number=2).candidates.get().evaluations.exclude(kind="report")
    spent = sum((e.finished_at - e.started_at).total_seconds() for e in own)
    assert search.device_s == pytest.approx(spent)
