"""Each state of a campaign does something, and a step that was cut off is taken again (R50)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns.models import Campaign, CampaignState
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Script

pytestmark = pytest.mark.django_db(transaction=True)
Put = Callable[..., Script]
Run = Callable[..., Campaign]


def test_r50_a_round_goes_through_its_states_in_order(run: Run, script: Put) -> None:
    script(["time 50"])
    campaign = run(max_rounds=2)
    cast.assert_legal_course(campaign)
    assert list(campaign.phases.values_list("state", flat=True)) == [
        *("confirmed", "prepare", "baseline", "decide"),
        *("profile", "analyze", "implement", "validate", "decide"),
        *("report", "done"),
    ]


def test_an_event_says_the_word_of_a_verdict_once(run: Run, script: Put) -> None:
    script(["time 50"], ["time 90"])
    told = run().events.filter(kind="verdict").order_by("pk").values_list("message", flat=True)
    assert [re.match(r"round \d: (accepted: Baseline|\w+):", message)[0] for message in told] == [
        "round 1: accepted: Baseline:",
        "round 2: Accepted:",
        "round 3: Rejected:",
    ]


def test_r27_a_hypothesis_rests_on_stored_evidence_about_the_incumbent(
    run: Run, script: Put
) -> None:
    told = script(["time 80"], ["time 90"], ["time 40"])
    campaign = run()
    rounds = list(campaign.rounds.order_by("number"))
    first, second, last = campaign.evidence.order_by("pk")
    assert [r.evidence for r in rounds] == [None, first, second, second]
    assert (first.incumbent.round, first.after, first.sessions) == (rounds[0], 1, 1)
    # Round 2 was accepted by two sessions; what was tried against it came later.
    assert (second.incumbent.round, second.after) == (rounds[1], 2)
    assert (last.incumbent.round, last.after) == (rounds[3], 4)
    case = second.facts["cases"][0]
    assert case["time_us"] == pytest.approx(80, rel=0.01)
    assert (case["floor_us"], case["citation"]) == (10.0, cast.BANDWIDTH.citation)
    assert [seen.evidence for seen in told.seen] == [
        *(first.facts, second.facts, second.facts, last.facts)
    ]


def test_r50_what_the_proposer_said_is_stored_before_it_is_written_down(
    bench: WorkerContext, script: Put, tmp_path: Path
) -> None:
    told = script(["time 70", "time 60"])
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.IMPLEMENT)
    opened = campaign.rounds.get(number=2)
    assert [one["text"] for one in opened.draft] == ["time 70", "time 60"]
    assert opened.candidates.count() == 0
    # The answer of a proposer that would say something else now is not asked for again.
    told.rounds = [["time 10"]]
    cast.step_until(campaign, CampaignState.VALIDATE)
    opened.refresh_from_db()
    assert [c.text for c in opened.candidates.all()] == ["time 70", "time 60"]
    assert (opened.draft, len(told.seen)) == (None, 1)
