"""A gain that would be accepted is a claim first: a second session has to show it as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
    RoundState,
)
from campaigns.models.transitions import claim
from campaigns.records.evaluations import deciding_evaluation, deciding_report
from campaigns.records.judged_rounds import standard_of
from campaigns.records.noise import NoiseFloor
from campaigns.rules.noise.drift import Disturbance, What
from campaigns.rules.verdict.one_session import decide_session
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.control import pause, resume
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.standings import remeasure
from campaigns.steps.notify import NOTHING
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast

Put = Callable[..., cast.Script]
Finish = Callable[[], Campaign]


@pytest.fixture
def judge() -> cast.Moody:
    return cast.Moody()


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return cast.make_campaign(tmp_path, max_rounds=3)


@pytest.fixture
def finish(campaign: Campaign, bench: WorkerContext) -> Finish:
    return lambda: run_here(campaign.pk, bench, lambda message: None)


@pytest.fixture
def claimed(campaign: Campaign, bench: WorkerContext, script: Put) -> Round:
    """Round 2, whose first session has just shown a gain."""
    script(["time 50"])
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.VALIDATE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.DECIDE)
    assert cast.step(campaign).again
    return campaign.rounds.get(number=2)


def standings(round_: Round) -> list[str]:
    return [standing.word for standing in round_.standings.all()]


def second(round_: Round) -> Evaluation:
    return Evaluation.objects.get(candidate__round=round_, kind=EvaluationKind.REMEASURE)


def test_it_claims_before_it_accepts(
    campaign: Campaign, claimed: Round, bench: WorkerContext
) -> None:
    assert (claimed.state, standings(claimed)) == (RoundState.CLAIMED, ["claimed"])
    assert not hasattr(claimed, "verdict")
    assert cast.fresh(campaign).incumbent.round.number == 1
    assert cast.step(campaign).measure == (second(claimed).pk,)
    told = campaign.events.get(kind="standing").message
    assert "First session: 2.00× faster [2.00, 2.00] against the incumbent" in told

    evaluate(second(claimed).pk, bench)
    assert cast.step(campaign).again
    assert standings(claimed) == ["claimed", "verified"]
    claimed.refresh_from_db()
    assert (claimed.state, claimed.verdict.word) == (RoundState.JUDGED, "accepted")
    assert claimed.verdict.pairs == 20
    cast.step(campaign)
    assert cast.fresh(campaign).incumbent == claimed.chosen


def test_it_measures_the_second_session_like_the_first(
    claimed: Round, bench: WorkerContext, judge: cast.Moody
) -> None:
    evaluate(second(claimed).pk, bench)
    first, again = judge.jobs[-2:]
    assert (first.candidate, first.incumbent) == (again.candidate, again.incumbent)
    assert (first.protocol, first.cases) == (again.protocol, again.cases)
    assert first.job_id != again.job_id


def test_r20_nothing_is_accepted_before_it_was_measured_on_inputs_that_it_has_seen(
    claimed: Round, bench: WorkerContext, judge: cast.Moody
) -> None:
    evaluate(second(claimed).pk, bench)
    assert [job.repeats for job in judge.jobs[-2:]] == [False, True]


@pytest.mark.parametrize(
    ("mood", "word", "reason"),
    [
        ("time 100", "no_change", "not_repeated"),
        ("time 120", "rejected", "slower"),
        ("wrong", "rejected", "wrong_result"),
        ("crash", "rejected", "crashed"),
        ("time 9", "needs_review", "ceiling_too_low"),
        ("time 80", "needs_review", "sessions_disagree"),
    ],
)
def test_it_accepts_nothing_that_behaves_in_the_first_session_only(
    judge: cast.Moody, script: Put, finish: Finish, mood: str, word: str, reason: str
) -> None:
    judge.moods = {EvaluationKind.REMEASURE: mood}
    made = script(["time 50"], ["time 70"])
    ended = finish()
    round_ = ended.rounds.get(number=2)
    assert (round_.verdict.word, round_.verdict.reason) == (word, reason)
    assert standings(round_) == ["claimed", "not_verified"]
    assert "2.00× faster" in round_.verdict.sentence
    assert ended.incumbent.round.number != 2
    assert [attempt.verdict for attempt in made.seen[-1].history][:1] == [word]


def test_it_rests_the_verdict_on_the_session_that_failed(
    judge: cast.Moody, script: Put, finish: Finish
) -> None:
    judge.moods = {EvaluationKind.REMEASURE: "wrong"}
    script(["time 50"])
    verdict = finish().rounds.get(number=2).verdict
    assert verdict.evaluation.kind == EvaluationKind.REMEASURE
    assert (verdict.gain, verdict.cases) == (None, [])


def test_it_accepts_a_small_gain_that_repeats(
    campaign: Campaign, bench: WorkerContext, tmp_path: Path, script: Put
) -> None:
    script(["time 984"])
    small = cast.make_campaign(tmp_path / "small", "time 1000", max_rounds=2)
    ended = run_here(small.pk, bench, lambda message: None)
    assert ended.incumbent.round.number == 2
    assert ended.rounds.get(number=2).verdict.gain == pytest.approx(0.0163, abs=0.001)


def test_it_tells_the_gain_and_the_times_of_both_sessions(
    judge: cast.Moody, script: Put, finish: Finish
) -> None:
    judge.moods = {EvaluationKind.REMEASURE: "time 60"}
    script(["time 50"])
    ended = finish()
    verdict = ended.rounds.get(number=2).verdict
    assert verdict.word == "accepted"
    assert verdict.gain == pytest.approx((2.0 * 100 / 60) ** 0.5 - 1, rel=0.01)
    assert verdict.gain_low < 0.67
    assert verdict.gain_high >= 1.0
    assert verdict.cases[0]["time_us"]["n"] == 20
    assert verdict.cases[0]["time_us"]["median"] == pytest.approx(55, rel=0.02)
    report = deciding_report(ended.incumbent)
    assert report is not None
    assert len(report.cases[0].candidate.samples_us) == 20


def test_it_measures_again_when_the_host_broke_in_between(
    judge: cast.Moody, claimed: Round, campaign: Campaign, finish: Finish
) -> None:
    def heal(job: object) -> None:
        if len(judge.jobs) == 4:
            judge.moods = {}

    judge.moods, judge.during = {EvaluationKind.REMEASURE: "host"}, heal
    ended = finish()
    again = Evaluation.objects.filter(candidate__round=claimed, kind=EvaluationKind.REMEASURE)
    assert [(e.attempt, e.outcome) for e in again] == [
        (1, "broken_host"),
        (2, "broken_host"),
        (3, "passed"),
    ]
    assert ended.rounds.get(number=2).verdict.word == "accepted"


def test_it_repeats_a_second_session_under_which_the_device_changed(
    claimed: Round, finish: Finish, monkeypatch: pytest.MonkeyPatch
) -> None:
    drift = Disturbance(What.CLOCK, "one", "fell by 40 %", "5 %")
    first = {second(claimed).pk}
    monkeypatch.setattr(
        "campaigns.steps.measuring.results.drift_under",
        lambda evaluation, report: (drift,) if evaluation.pk in first else (),
    )
    ended = finish()
    again = Evaluation.objects.filter(candidate__round=claimed, kind=EvaluationKind.REMEASURE)
    assert [bool(evaluation.void) for evaluation in again] == [True, False]
    standing = ended.rounds.get(number=2).standings.get(word="verified")
    assert standing.evaluation.attempt == 2


def test_it_concludes_nothing_about_a_candidate_from_a_host_that_stays_broken(
    judge: cast.Moody, script: Put, finish: Finish, bench: WorkerContext
) -> None:
    judge.moods = {EvaluationKind.REMEASURE: "host"}
    made = script(["time 50"])
    ended = cast.past_its_host(finish(), bench)
    round_ = ended.rounds.get(number=2)
    assert (round_.verdict.word, round_.verdict.reason) == ("invalid", "broken_host")
    assert "nothing is concluded" in round_.verdict.sentence
    assert round_.candidates.get().evaluations.filter(kind=EvaluationKind.REMEASURE).count() == 4
    assert standings(round_) == ["claimed", "not_verified"]
    assert ended.incumbent.round.number == 1
    # It was not tried, so it may be proposed again.
    assert [len(situation.history) for situation in made.seen] == [0, 0]


def test_it_goes_on_with_the_second_session_after_the_worker_died(
    claimed: Round, campaign: Campaign, judge: cast.Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = second(claimed)
    claim(
        Evaluation.objects.filter(pk=again.pk),
        state=EvaluationState.RUNNING,
        holder="gone host 1 a",
        claims=1,
    )
    monkeypatch.setattr("campaigns.steps.measuring.claims.is_gone", lambda holder: True)
    assert [following.measure for _, following in reconcile()] == [(again.pk,)]
    evaluate(again.pk, cast.make_bench(judge, "other"))
    assert cast.step(campaign).again
    claimed.refresh_from_db()
    assert claimed.verdict.word == "accepted"


def test_it_holds_between_the_two_sessions(
    claimed: Round, campaign: Campaign, bench: WorkerContext
) -> None:
    pause(cast.fresh(campaign))
    cast.step(campaign)
    assert cast.fresh(campaign).state == CampaignState.PAUSED
    assert evaluate(second(claimed).pk, bench) is None
    resume(cast.fresh(campaign))
    assert cast.step(campaign).measure == (second(claimed).pk,)


def test_it_claims_once_however_many_workers_judge(campaign: Campaign, claimed: Round) -> None:
    stale = cast.fresh(campaign)
    late = campaign.rounds.get(number=2)
    late.state = RoundState.OPEN
    evaluation = deciding_evaluation(late.candidates.get())
    decision = decide_session(evaluation.facts, standard_of(stale, has_incumbent=True))
    assert remeasure(late, evaluation, decision) == NOTHING
    assert second(claimed).attempt == 1
    assert standings(claimed) == ["claimed"]
    assert advance(stale).measure == (second(claimed).pk,)


def test_it_gives_a_baseline_no_standing(script: Put, finish: Finish) -> None:
    script()
    ended = finish()
    assert standings(ended.rounds.get()) == []
    assert not Evaluation.objects.filter(kind=EvaluationKind.REMEASURE).exists()


def test_it_calls_a_second_session_on_another_device_a_reproduction(
    claimed: Round, campaign: Campaign, judge: cast.Moody
) -> None:
    evaluate(second(claimed).pk, cast.make_bench(judge, "twin", cast.TWIN))
    cast.step(campaign)
    assert standings(claimed) == ["claimed", "verified", "reproduced"]


def test_it_asks_as_much_as_the_noisier_of_two_devices(
    claimed: Round, campaign: Campaign, judge: cast.Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(second(claimed).pk, cast.make_bench(judge, "twin", cast.TWIN))
    floors = {EvaluationKind.REMEASURE: 2.0}
    monkeypatch.setattr(
        "campaigns.records.judged_rounds.floor_for",
        lambda campaign, of: NoiseFloor(floors.get(of.kind, 0.01), "its passport"),
    )
    cast.step(campaign)
    claimed.refresh_from_db()
    assert claimed.verdict.word == "no_change"
    assert standings(claimed) == ["claimed", "not_verified"]
