"""Every closed round becomes experience by itself, once, and infrastructure never does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.apps import learn_earlier_rounds
from campaigns.models import Campaign, CampaignState, Restart, RestartAnswer, Round
from campaigns.proposers.learned import advice_for, spent_for
from campaigns.records.verdicts import streak_of
from campaigns.rules.verdict.buckets import Bucket
from campaigns.steps.lifecycle.reconcile import catch_up, untaught
from campaigns.steps.lifecycle.restart import answer_restart, unmask
from campaigns.steps.rounds.learn import learn, try_to_learn
from campaigns.steps.worker import WorkerContext
from knowledge.experience.terms import AttemptLabel
from knowledge.models import EntryStanding, Experience, Lesson, LessonState, Strategy, TrackRecord
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Script

pytestmark = pytest.mark.django_db(transaction=True)
Put = Callable[..., Script]
Run = Callable[..., Campaign]


def entry_of(campaign: Campaign, number: int) -> Experience:
    return Experience.objects.select_related("track").get(campaign=campaign.pk, round=number)


def learned(campaign: Campaign) -> list[tuple[int, str]]:
    rows = Experience.objects.filter(campaign=campaign.pk).order_by("round")
    return list(rows.values_list("round", "label"))


def test_r37_each_verdict_becomes_an_entry_with_its_label(run: Run, script: Put) -> None:
    script(["time 50"], ["time 50 "], ["time 80"], ["crash"], ["wrong"], ["build"], ["hang"])
    campaign = run(max_rounds=9)
    wrong = AttemptLabel.INCORRECT
    assert learned(campaign) == [
        (2, AttemptLabel.SUCCESS),
        (3, AttemptLabel.TIE),
        (4, AttemptLabel.REGRESSION),
        *((number, wrong) for number in range(5, campaign.rounds.count() + 1)),
    ]


def test_r37_an_entry_holds_what_was_tried_where_and_what_came_of_it(run: Run, script: Put) -> None:
    Strategy.objects.create(
        slug="st.idea", kind="technique", title="Idea", aliases=["idea-0"], document="d", line=1,
        use_when="The loop is short.",
    )  # fmt: skip
    script(["time 50", "time 70"])
    campaign = run()
    entry, track = entry_of(campaign, 2), entry_of(campaign, 2).track
    assert (track.strategy, track.op, track.dtype) == ("st.idea", "copy", "float32")
    assert (track.backend, track.platform, track.bottleneck) == ("cpp", "test-cpu", "unknown")
    assert (entry.strategy_name, entry.params) == ("idea-0", {"n": 1})
    assert entry.shapes == [{"N": 1}, {"N": 2}]
    assert entry.gain == pytest.approx(1.0, rel=0.02)
    assert entry.gain_low < entry.gain < entry.gain_high
    assert entry.baseline == "round 1's kernel, the incumbent"
    assert entry.expected_gain == pytest.approx(0.25)
    assert (entry.borne, entry.verdict, entry.reason) == ("confirmed", "accepted", "promoted")
    assert entry.precondition.startswith("The loop is short.\nMeasured before: ")
    assert entry.evidence == ["one: 100 µs"]
    assert entry.happened_at == campaign.rounds.get(number=2).closed_at


def test_law_8_neither_the_baseline_nor_a_broken_host_is_learned(
    run: Run, script: Put, bench: WorkerContext
) -> None:
    script(["host"])
    campaign = cast.past_its_host(run(max_rounds=3), bench)
    assert campaign.rounds.count() > 1
    assert learned(campaign) == []
    assert not untaught().exists()


def test_law_8_what_was_not_judged_here_is_no_attempt(run: Run, script: Put) -> None:
    script(["unsure"])
    campaign = run(max_rounds=2)
    verdict = campaign.rounds.get(number=2).verdict
    assert (verdict.word, verdict.reason) == ("not_judged", "not_judged")
    assert verdict.sentence.startswith("Not judged here: it says unsure.")
    # Another measurement here could not say more.
    assert campaign.rounds.get(number=2).chosen.evaluations.count() == 1
    assert streak_of([verdict]) == []
    assert learned(campaign) == []
    assert not untaught().exists()


def test_a_round_is_learned_once(run: Run, script: Put) -> None:
    script(["time 50"])
    round_ = run().rounds.get(number=2)
    assert learn(round_) == learn(round_)
    assert Experience.objects.count() == 1


def test_only_a_closed_round_is_learned(run: Run, script: Put) -> None:
    script(["time 50"])
    round_ = run().rounds.get(number=2)
    round_.state = "judged"
    with pytest.raises(ValueError, match="accepted: a closed round"):
        learn(round_)


def test_what_a_crash_or_an_old_release_left_out_is_caught_up(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.steps.rounds.close_round.AFTER_CLOSING", ())
    script(["time 50"], ["crash"])
    campaign = run()
    assert learned(campaign) == []
    assert catch_up(most=1) == 1
    assert learned(campaign) == [(2, AttemptLabel.SUCCESS)]
    learn_earlier_rounds(using="default", plan=[])
    assert [number for number, _ in learned(campaign)] == [2, 3]
    assert catch_up() == 0


def test_a_flush_learns_nothing(run: Run, script: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("campaigns.steps.rounds.close_round.AFTER_CLOSING", ())
    script(["time 50"])
    campaign = run()
    learn_earlier_rounds(using="default")
    assert learned(campaign) == []


def test_the_flow_goes_on_where_learning_fails(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(round_: Round) -> None:
        raise ValueError("gain: not a number")

    monkeypatch.setattr("campaigns.steps.rounds.learn.attempt_of", fail)
    script(["time 50"])
    campaign = run()
    assert campaign.state == CampaignState.DONE
    assert not try_to_learn(campaign.rounds.get(number=2))
    monkeypatch.undo()
    assert untaught().count() == 1


def offered_restart(tmp_path: Path, bench: WorkerContext) -> Campaign:
    campaign = cast.make_campaign(tmp_path, restart="ask")
    for _ in range(60):
        cast.measure_all(campaign, bench)
        if cast.fresh(campaign).state == CampaignState.RESTART:
            return cast.fresh(campaign)
    raise AssertionError("no restart was offered")


def test_r40_a_masked_round_is_hidden_from_machines_and_not_from_people(
    tmp_path: Path, bench: WorkerContext, script: Put
) -> None:
    script(["time 50"], *[["time 60"]] * 8)
    campaign = offered_restart(tmp_path, bench)
    answer_restart(campaign, RestartAnswer.TAKEN)
    hidden = Restart.objects.get(campaign=campaign).masked
    rows = Experience.objects.filter(campaign=campaign.pk)
    assert set(rows.filter(standing=EntryStanding.MASKED).values_list("round", flat=True)) == {
        *hidden
    }
    tried = sum(TrackRecord.objects.values_list("tried", flat=True))
    assert tried == rows.count() - len(hidden)
    other = cast.make_campaign(tmp_path / "other")
    for _ in range(4):
        cast.measure_all(other, bench)
    known = {entry.entry for entry in spent_for(cast.fresh(other))}
    masked = rows.filter(round__in=hidden).values_list("uuid", flat=True)
    assert known
    assert known.isdisjoint(map(str, masked))
    unmask(cast.fresh(campaign), hidden[0])
    assert entry_of(campaign, hidden[0]).standing == EntryStanding.COUNTS


def test_an_undecided_verdict_is_kept_for_people(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.steps.rounds.learn.is_decided", lambda reason: False)
    script(["time 50"])
    campaign = run()
    assert entry_of(campaign, 2).standing == EntryStanding.MASKED
    assert advice_for(campaign) == ()
    assert not Lesson.objects.exists()


def test_r41_a_refused_trick_becomes_an_anti_pattern_once(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = cast.hypothesis
    monkeypatch.setattr(
        cast, "hypothesis", lambda index: replace(plain(0), params={"i": index}, bucket=Bucket.W2)
    )
    script(["time 50"], ["time 40"])
    campaign = run()
    lesson = Lesson.objects.get()
    assert (lesson.state, lesson.strategy) == (LessonState.ANTI_PATTERN, "idea-0")
    assert lesson.scope == {"op": "copy", "backend": "cpp", "strategy": "idea-0"}
    assert lesson.evidence.count() == 2
    assert "Rule 11" in lesson.signal
    assert learned(campaign)[0] == (2, AttemptLabel.INCORRECT)


def test_r41_a_clear_round_offers_a_tip_and_the_next_campaign_reads_it(
    run: Run, script: Put, tmp_path: Path, bench: WorkerContext
) -> None:
    script(["time 50"], ["time 90"])
    campaign = run()
    tip, loss = Lesson.objects.order_by("pk")
    assert (tip.state, tip.avoid, tip.campaign) == (LessonState.PROPOSED, False, campaign.pk)
    assert all((tip.context, tip.signal, tip.takeaway, tip.applicability))
    assert "faster [" in tip.takeaway
    assert "predicted was 1.25× faster" in tip.takeaway
    assert tip.evidence.get().entry == entry_of(campaign, 2)
    assert loss.avoid
    assert campaign.events.filter(kind="tip").count() == 2
    Lesson.objects.filter(pk=tip.pk).update(state=LessonState.ACTIVE)
    second = cast.make_campaign(tmp_path / "second")
    cast.run_again(second, bench)
    read = second.events.get(kind="lessons")
    assert read.message == f"read 1 lesson: {str(tip).rstrip('.')}"
    assert second.events.filter(kind="round_opened").order_by("pk")[1].pk > read.pk
    # What it says again is evidence for the same lessons, and no new ones.
    assert Lesson.objects.count() == 2
    assert tip.evidence.count() == 2


def test_r41_a_campaign_offers_five_tips_at_most(run: Run, script: Put) -> None:
    script(*[[f"time {time}"] for time in (90, 80, 70, 60, 50, 40, 30)])
    campaign = run()
    assert learned(campaign)[-1] == (8, AttemptLabel.SUCCESS)
    assert Lesson.objects.count() == 5
