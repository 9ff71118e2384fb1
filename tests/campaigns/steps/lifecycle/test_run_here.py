"""A whole campaign, from its draft to its reason for ending."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from campaigns.evaluator.contract import Job, Outcome, Phase, Report
from campaigns.management.facts import campaign_facts, campaign_text
from campaigns.models import Campaign, CampaignState, RoundKind, RoundState, Verdict
from campaigns.records.campaigns import result_of
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Judge, Script

Run = Callable[..., Campaign]
Put = Callable[..., Script]


def words(campaign: Campaign) -> list[tuple[int, str, str]]:
    rows = Verdict.objects.filter(round__campaign=campaign).order_by("round__number")
    return [(v.round.number, v.word, v.reason) for v in rows]


def test_r44_it_keeps_what_is_faster_and_rolls_back_what_is_not(run: Run, script: Put) -> None:
    script(["time 50"], ["time 70"], ["wrong"], ["time 40"])
    campaign = run()
    assert words(campaign) == [
        (1, "accepted", "baseline"),
        (2, "accepted", "promoted"),
        (3, "rejected", "slower"),
        (4, "rejected", "wrong_result"),
        (5, "accepted", "promoted"),
    ]
    assert (campaign.state, campaign.stop_reason) == (CampaignState.DONE, "no_ideas_left")
    assert campaign.incumbent.round.number == 5
    assert campaign.result["gain"] == pytest.approx(1.5, rel=0.01)
    assert campaign.result["gain_low"] <= campaign.result["gain"] <= campaign.result["gain_high"]
    assert campaign.result["baseline"] == "v0"
    assert all(r.state == RoundState.CLOSED and r.closed_at for r in campaign.rounds.all())


def test_r44_it_measures_every_candidate_against_the_incumbent_of_its_round(
    run: Run, script: Put, judge: Judge
) -> None:
    script(["time 50"], ["time 70"])
    run()
    arms = [
        (job.candidate.text, job.incumbent.text if job.incumbent else None) for job in judge.jobs
    ]
    assert arms == [
        ("time 100", "time 100"),
        ("time 50", "time 100"),
        ("time 50", "time 100"),  # measured again before it is accepted
        ("time 70", "time 50"),
        ("time 50", "time 100"),
    ]


def test_it_screens_a_sweep_shortly_and_decides_on_the_best(
    run: Run, script: Put, judge: Judge
) -> None:
    script(["time 90", "crash", "time 60", "time 95"])
    campaign = run()
    sweep = campaign.rounds.get(number=2)
    assert (sweep.kind, sweep.chosen.text) == (RoundKind.SWEEP, "time 60")
    assert [job.protocol.blocks for job in judge.jobs] == [5, 2, 2, 2, 2, 5, 5, 5]
    kinds = list(sweep.chosen.evaluations.values_list("kind", flat=True))
    assert kinds == ["screen", "decide", "remeasure", "report"]
    assert words(campaign)[1] == (2, "accepted", "promoted")


def test_it_gives_a_sweep_without_a_survivor_its_verdict(run: Run, script: Put) -> None:
    script(["host", "build", "crash"])
    assert words(run())[1] == (2, "rejected", "build_failed")


def test_it_stops_at_the_target_and_says_so(run: Run, script: Put) -> None:
    script(["time 11"], ["time 50"])
    campaign = run()
    assert campaign.stop_reason == "target_met"
    assert campaign.rounds.count() == 2


def test_it_calls_a_baseline_at_the_roofline_a_success(run: Run, script: Put) -> None:
    script(["time 50"])
    campaign = run("time 11")
    assert (campaign.state, campaign.stop_reason) == (CampaignState.DONE, "roofline_reached")
    assert campaign.result == {
        "baseline": "v0",
        "gain": 0.0,
        "gain_low": None,
        "gain_high": None,
        "pairs": 0,
        "cases": [],
        "interval": "nothing to compare: v0 is the incumbent",
    }
    assert result_of(campaign) is None
    assert "result" not in campaign_text(campaign)
    assert campaign_facts(campaign)["gain"] == 0.0
    assert campaign_facts(campaign)["gain_low"] is None


def test_it_stops_after_the_last_round_of_its_budget(run: Run, script: Put) -> None:
    script(*[["time 100"]] * 9)
    campaign = run(max_rounds=3)
    assert (campaign.stop_reason, campaign.rounds.count()) == ("max_rounds", 3)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [({"max_wall_h": 1e-9}, "wall_time"), ({"max_device_h": 1e-9}, "device_time")],
)
def test_r49_it_stops_when_its_hours_are_used(
    run: Run, script: Put, policy: dict[str, float], reason: str
) -> None:
    script(*[["time 100"]] * 9)
    campaign = run(**policy)
    assert (campaign.stop_reason, campaign.rounds.count()) == (reason, 1)
    assert "hours" in campaign.stop_sentence
    assert campaign.state == "done"


def test_it_aborts_when_v0_fails_and_keeps_the_reason(run: Run, script: Put) -> None:
    script(["time 50"])
    campaign = run("crash")
    assert (campaign.state, campaign.stop_reason) == (CampaignState.ABORTED, "baseline_failed")
    assert "it says crash" in campaign.stop_sentence
    assert campaign.finished_at is not None
    assert campaign.rounds.get().state == RoundState.CLOSED


def test_a_v0_for_powers_of_two_is_told_as_such(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["time 50"])
    monkeypatch.setattr("campaigns.steps.rounds.close_round.POWER_OF_TWO", "it says crash")
    sentence = run("crash").stop_sentence
    assert "works with powers of two alone" in sentence
    assert "[check] free" in sentence


def test_it_never_takes_a_time_below_the_physical_floor(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    documented = replace(cast.BANDWIDTH, evidence="documented")
    monkeypatch.setattr(
        "campaigns.records.target.ceilings.bandwidth_ceilings", lambda _: [documented]
    )
    script(["time 5"])
    assert words(run())[1] == (2, "invalid", "above_roof")


def test_law_6_it_doubts_a_measured_ceiling_before_it_calls_a_kernel_invalid(
    run: Run, script: Put
) -> None:
    script(["time 5"])
    campaign = run()
    assert words(campaign)[1] == (2, "needs_review", "ceiling_too_low")
    verdict = campaign.rounds.get(number=2).verdict
    assert "the measured copy_bandwidth is too low: run `wiki ceilings`" in verdict.sentence
    assert campaign.incumbent.round.number == 1


def test_it_knows_its_noise_from_the_baseline_against_itself(run: Run, script: Put) -> None:
    script()
    noise = run().noise
    assert noise["floor"] == pytest.approx(0.01)
    assert 0 < noise["sigma"] < 0.005
    assert noise["pairs"] == 10


def test_it_tells_the_proposer_what_it_measured_and_tried(run: Run, script: Put) -> None:
    made = script(["time 50"], ["crash"])
    run()
    first, _, last = made.seen
    assert first.source.text == "time 100"
    fact = first.evidence["cases"][0]
    assert (fact["case"], fact["bound"], fact["floor_us"]) == ("one", "memory", 10.0)
    assert fact["time_us"] == pytest.approx(100.0)
    assert fact["gb_per_s"] == pytest.approx(1.0)
    assert fact["citation"].endswith("test-cpu.md:L9")
    assert first.evidence["cores"] == 2
    assert [(a.strategy, a.verdict, a.round) for a in last.history] == [
        ("idea-0", "accepted", 2),
        ("idea-1", "rejected", 3),
    ]
    assert last.history[0].gain == pytest.approx(2.0, rel=0.01)


def test_it_waits_when_the_host_broke_three_times_and_gives_up_after_once_more(
    run: Run, script: Put, bench: WorkerContext
) -> None:
    script(["host"])
    campaign = run(max_rounds=2)
    attempts = campaign.rounds.get(number=2).candidates.get().evaluations
    assert (campaign.state, attempts.filter(outcome="broken_host").count()) == ("paused", 3)
    asked = campaign.events.get(kind="pause_requested").message
    assert asked.endswith("The campaign waits; resuming it measures round 2 again.")
    campaign = cast.past_its_host(campaign, bench)
    assert attempts.count() == 4
    assert words(campaign)[1] == (2, "invalid", "broken_host")


def test_it_goes_on_with_the_same_round_once_the_host_is_mended(
    run: Run, script: Put, bench: WorkerContext, judge: Judge
) -> None:
    script(["time 50"])
    fails = {"on": True}

    def evaluate(job: Job, beat: Any = None) -> Report:
        if fails["on"] and job.candidate.text == "time 50":
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase.BURST, "the card is gone")
        return Judge().evaluate(job, beat)

    judge.evaluate = evaluate
    campaign = run(max_rounds=2)
    fails["on"] = False
    campaign = cast.past_its_host(campaign, bench)
    assert words(campaign)[1] == (2, "accepted", "promoted")
    assert campaign.rounds.get(number=2).candidates.count() == 1


def test_it_accepts_nothing_that_was_not_measured_on_every_case(
    run: Run, script: Put, judge: Judge
) -> None:
    real = Judge()

    def forgetful(job: Job, beat: Any = None) -> Report:
        report = real.evaluate(job, beat)
        whole = job.candidate.text == "time 100"
        return report if whole else replace(report, cases=report.cases[:1])

    judge.evaluate = forgetful
    script(["time 50"])
    campaign = run(max_rounds=2)
    assert words(campaign)[1] == (2, "needs_review", "not_timed")
    assert "two was never measured" in campaign.rounds.get(number=2).verdict.sentence


def test_it_does_not_count_a_broken_host_as_something_tried(
    run: Run, script: Put, bench: WorkerContext
) -> None:
    made = script(["host"])
    cast.past_its_host(run(max_rounds=3), bench)
    assert [len(situation.history) for situation in made.seen] == [0, 0]


def test_it_says_at_the_end_what_was_achieved(
    run: Callable[..., Campaign], script: Callable[..., Script]
) -> None:
    script(["time 50"])
    last = run().events.last()
    assert last.kind == "finished"
    assert last.message.startswith("Finished: 2.00× faster [")
    assert "against v0" in last.message


def test_it_says_at_the_end_that_v0_stands(
    run: Callable[..., Campaign], script: Callable[..., Script]
) -> None:
    script()
    assert "v0 remains the best" in run().events.last().message
