"""What was measured while the device did not hold still says nothing and is repeated (R7, R11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from campaigns.evaluator.contract import Moment, Outcome, Phase, Report, Timer
from campaigns.models import CampaignState, Evaluation, EvaluationKind, Passport, Verdict
from campaigns.records.noise import MOST_VOIDS
from campaigns.records.time_spent import time_spent
from campaigns.rules.noise import device_gate
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState
from campaigns.steps.lifecycle import run_here
from campaigns.steps.lifecycle.control import pause, resume
from campaigns.steps.measuring import waits
from campaigns.steps.measuring.take_passport import take_passport
from campaigns.steps.notify import NOTHING
from campaigns.steps.rounds.submit import submit
from tests.campaigns.steps import cast

DECIDE = EvaluationKind.DECIDE


@pytest.fixture
def drifting(judge):
    """The jobs under which the device drifts: those that a test says yes to, by their number."""
    real, state = cast.Judge(), {"when": lambda number, job: False, "number": 0}

    def evaluate(job, beat=None):
        state["number"] += 1
        report = real.evaluate(job, beat)
        if report.outcome is not Outcome.PASSED or not state["when"](state["number"], job):
            return report
        return replace(report, cases=tuple(map(moved, report.cases)))

    def moved(case):
        arms = {}
        for name in ("incumbent", "candidate"):
            samples = getattr(case, name).samples_us
            half = len(samples) // 2
            after = tuple(1.3 * us for us in samples[half:])
            arms[name] = replace(getattr(case, name), samples_us=samples[:half] + after)
        return replace(case, **arms)

    judge.evaluate = evaluate
    return state


def decides(job):
    """Whether this is a candidate's own measurement and not the baseline."""
    return job.incumbent is not None and job.candidate.text != job.incumbent.text


def test_it_records_a_void_measurement_with_its_numbers_and_measures_again(run, script, drifting):
    script(["time 50"])
    voided = []

    def when(number, job):
        once = decides(job) and not voided
        voided.extend([number] if once else [])
        return once

    drifting["when"] = when
    campaign = run(max_rounds=2)
    (row,) = cast.voids()
    first, again = Evaluation.objects.filter(kind=DECIDE).order_by("attempt")
    assert row == first
    assert (first.outcome, again.attempt) == (Outcome.PASSED, 2)
    assert first.report["cases"][0]["incumbent"]["samples_us"][-1] > 120
    assert "one: the incumbent's own times moved (100 µs to 130 µs after 5 of 10" in row.void
    assert {one["what"] for one in row.void_reasons} == {"times"}
    assert campaign.events.filter(kind="measurement_void").count() == 1
    # The verdict knows nothing of it: it stands on what was measured again.
    verdict = Verdict.objects.get(round__number=2)
    assert (verdict.word, verdict.evaluation_id) == ("accepted", again.pk)
    assert verdict.gain == pytest.approx(1.0, rel=0.01)


def test_a_baseline_can_be_void_too(run, script, drifting):
    script()
    drifting["when"] = lambda number, job: number == 1
    campaign = run()
    assert cast.voids().get().kind == EvaluationKind.BASELINE
    assert campaign.noise["sigma"] < 0.01


def test_the_campaign_waits_when_the_device_does_not_settle_and_never_judges(
    run, script, drifting, bench
):
    script(["time 50"])
    drifting["when"] = lambda number, job: decides(job)
    campaign = run(max_rounds=2)
    assert campaign.state == CampaignState.PAUSED
    assert not Verdict.objects.filter(round__number=2).exists()
    assert cast.voids().count() == MOST_VOIDS
    asked = campaign.events.filter(kind="pause_requested").get()
    assert asked.message.startswith("5 measurements in a row are void; the campaign waits. Resume")
    assert "100 µs to 130 µs" in asked.message
    waiting = Evaluation.objects.get(state="queued")
    assert waiting.attempt == MOST_VOIDS + 1
    # A person resumes it, and it waits again after as many more.
    resume(campaign)
    again = cast.run_again(campaign, bench)
    assert again.state == CampaignState.PAUSED
    assert cast.voids().count() == 2 * MOST_VOIDS
    drifting["when"] = lambda number, job: False
    resume(again)
    done = cast.run_again(campaign, bench)
    assert done.state == CampaignState.DONE
    assert Verdict.objects.get(round__number=2).word == "accepted"


@pytest.fixture
def loaded(judge, bench, monkeypatch):
    """A host that others keep busy for so many evaluations and looks, and then no more."""
    monkeypatch.setattr(waits, "HOST_EVERY_S", 0.0)
    monkeypatch.setattr(run_here, "WAIT_S", 0.0)
    real, state = cast.Judge(), {"evaluations": 0, "looks": 0, "outcome": Outcome.BROKEN_HOST}

    def evaluate(job, beat=None):
        if state["evaluations"] <= 0:
            return real.evaluate(job, beat)
        state["evaluations"] -= 1
        words = "the host is too busy to measure on: others used 90% of its CPUs"
        return Report(job.job_id, state["outcome"], Phase.BURST, words, host_busy=True)

    def look():
        state["looks"] -= 1
        busy = state["looks"] >= 0
        gate = DeviceState.BUSY if busy else DeviceState.IDLE
        return DeviceCheck(gate, "load 4.1 on 2 cores, 97 % busy, at most 50 % is idle")

    judge.evaluate = evaluate
    state["bench"] = replace(bench, look_at_host=look)
    return state


def test_a_campaign_goes_on_by_itself_when_the_load_on_its_host_ends(script, tmp_path, loaded):
    put, bench = script(["time 50"], ["time 45"]), loaded["bench"]
    campaign = cast.make_campaign(tmp_path, max_rounds=3, proposers="search,person")
    loaded.update(evaluations=2, looks=4)
    cast.step_until(campaign, CampaignState.BASELINE)
    for _ in range(2):
        cast.measure_all(campaign, bench)
    # The baseline met load: the campaign is at work, and says what it waits for.
    assert cast.fresh(campaign).state == CampaignState.BASELINE
    wait = campaign.device_waits.get(ended_at=None)
    assert wait.words.startswith("waits for a quiet host: load 4.1 on 2 cores, 97 % busy")
    while cast.fresh(campaign).state != CampaignState.ANALYZE:
        cast.measure_all(campaign, bench)
    submit(cast.fresh(campaign), cast.handed_in("time 60"), "person", "ada")
    loaded.update(evaluations=2, looks=5, outcome=Outcome.TIMED_OUT)
    done = cast.run_again(campaign, bench)
    # No round was spent on what was void; nothing was proposed or had to be handed in again.
    assert (done.state, done.stop_reason) == (CampaignState.DONE, "max_rounds")
    found = done.rounds.values_list("hypothesis__title", "verdict__reason")
    assert list(found) == [(None, "baseline"), ("Try time 60", "promoted"), ("Idea 1", "promoted")]
    assert (done.submissions.count(), len(put.seen)) == (1, 1)
    assert [one.candidate.round.number for one in cast.voids()] == [1, 1, 2, 2]
    assert {one["what"] for row in cast.voids() for one in row.void_reasons} == {"load"}
    assert not done.device_waits.filter(ended_at=None).exists()
    message = "the host of tester is quiet; what met load is measured again"
    assert done.events.filter(kind="device_idle", message=message).count() == 2


# What v0 takes beside four spinning programs on two CPUs, as shares of its time without them.
SCATTERED = (4.8, 1.2, 3.0, 3.4, 2.9, 1.7, 1.3, 1.3, 3.1, 1.2)


@pytest.fixture
def spinning(loaded, judge):
    """The same, of a host on which measurements pass and their times scatter."""
    real = cast.Judge()

    def evaluate(job, beat=None):
        report = real.evaluate(job, beat)
        if loaded["evaluations"] <= 0 or not report.cases:
            return report
        loaded["evaluations"] -= 1
        seen = tuple(Moment("one", block, others=1.5) for block in range(6))
        told = {**report.environment, "cores": "2"}
        cases = tuple(map(scattered, report.cases))
        return replace(report, cases=cases, surroundings=seen, environment=told)

    def scattered(case):
        arms = {}
        for name in ("incumbent", "candidate"):
            timing = getattr(case, name)
            samples = tuple(us * k for us, k in zip(timing.samples_us, SCATTERED, strict=False))
            arms[name] = replace(timing, samples_us=samples, timer=Timer.CALLS)
        return replace(case, **arms)

    judge.evaluate = evaluate
    return loaded


def test_what_scatters_on_a_crowded_host_is_measured_again_when_it_is_quiet(
    script, tmp_path, spinning
):
    script(["time 50"])
    campaign = cast.make_campaign(tmp_path, max_rounds=2)
    spinning.update(evaluations=1, looks=2)
    done = cast.run_again(campaign, spinning["bench"])
    assert done.state == CampaignState.DONE
    (void,) = cast.voids()
    assert (void.kind, void.outcome) == (EvaluationKind.BASELINE, Outcome.PASSED)
    assert {one["what"] for one in void.void_reasons} == {"load"}
    assert done.events.filter(kind="device_idle").count() == 1
    # The noise floor of every later round is that of the quiet host.
    assert done.noise["floor"] < 0.05
    assert Verdict.objects.get(round__number=2).word == "accepted"


def test_load_that_comes_and_goes_needs_nobody_for_an_hour(script, tmp_path, spinning, monkeypatch):
    """The host is quiet when it is looked at, and busy again when it is measured on."""
    script()
    campaign, bench = cast.make_campaign(tmp_path), spinning["bench"]
    spinning.update(evaluations=2 * MOST_VOIDS)
    cast.step_until(campaign, CampaignState.BASELINE)
    while cast.voids().count() < MOST_VOIDS + 1:
        cast.measure_all(campaign, bench)
    assert not cast.fresh(campaign).pause_requested
    monkeypatch.setattr(device_gate, "MOST_WAIT_S", 0.0)
    cast.measure_all(campaign, bench)
    asked = campaign.events.get(kind="pause_requested").message
    assert asked.startswith(f"{MOST_VOIDS + 2} measurements in a row are void; the campaign waits.")


def test_a_busy_host_gives_no_verdict_to_a_person_who_resumes_but_to_a_setting(
    script, tmp_path, spinning, settings
):
    script()
    campaign, bench = cast.make_campaign(tmp_path), spinning["bench"]
    spinning.update(evaluations=3, looks=10**6)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    pause(cast.fresh(campaign))
    resume(cast.fresh(campaign))
    cast.step_until(campaign, CampaignState.BASELINE)
    # It is measured at once, and waits anew as others are still at work.
    for _ in range(2):
        cast.measure_all(campaign, bench)
    assert cast.voids().count() == 2
    assert campaign.device_waits.filter(ended_at=None).exists()
    settings.KOPT_GATE = "OFF"
    (tmp_path / "another").mkdir()
    second = cast.make_campaign(tmp_path / "another")
    assert cast.run_again(second, bench).state == CampaignState.DONE
    assert cast.voids().count() == 2


@pytest.fixture
def blurred(judge):
    """The jobs in which an arm's times scatter: the name of the arm, for how many evaluations."""
    real, state = cast.Judge(), {"arm": "incumbent", "evaluations": 0}

    def evaluate(job, beat=None):
        report = real.evaluate(job, beat)
        if not decides(job) or state["evaluations"] <= 0:
            return report
        state["evaluations"] -= 1
        return replace(report, cases=tuple(map(scattered, report.cases)))

    def scattered(case):
        timing = getattr(case, state["arm"])
        samples = tuple(us * (1.3, 0.75, 1)[n % 3] for n, us in enumerate(timing.samples_us))
        return replace(case, **{state["arm"]: replace(timing, samples_us=samples)})

    judge.evaluate = evaluate
    return state


def test_what_the_hosts_noise_leaves_undecided_is_measured_again_and_costs_no_round(
    run, script, blurred
):
    script(["time 95"])
    blurred["evaluations"] = 2
    campaign = run(max_rounds=2)
    assert {one["what"] for row in cast.voids() for one in row.void_reasons} == {"undecided"}
    assert (cast.voids().count(), campaign.rounds.count()) == (2, 2)
    assert Verdict.objects.get(round__number=2).word == "accepted"


def test_what_a_candidates_own_noise_leaves_undecided_is_no_attempt_and_not_repeated(
    run, script, blurred
):
    script(["time 95"], ["time 90"])
    blurred.update(arm="candidate", evaluations=1)
    campaign = run(max_rounds=3)
    assert not cast.voids().exists()
    found = Verdict.objects.filter(round__campaign=campaign).order_by("round__number")
    assert [one.reason for one in found] == ["baseline", "undecided", "promoted"]
    assert found[1].sentence.startswith("Undecided: ")


def test_a_host_that_stays_busy_is_waited_for_and_a_person_may_measure_on_it(
    script, tmp_path, loaded
):
    script()
    campaign, bench = cast.make_campaign(tmp_path), loaded["bench"]
    loaded.update(evaluations=1, looks=10**6)
    cast.step_until(campaign, CampaignState.BASELINE)
    for _ in range(3):
        cast.measure_all(campaign, bench)
    waiting = campaign.device_waits.get(ended_at=None)
    type(waiting).objects.filter(pk=waiting.pk).update(waited_s=3600.0)
    cast.measure_all(campaign, bench)
    assert cast.step(campaign) == NOTHING
    paused = cast.fresh(campaign)
    assert paused.state == CampaignState.PAUSED
    asked = paused.events.get(kind="pause_requested").message
    assert asked.startswith("No quiet host for 60 min; the campaign is paused.")
    resume(paused)
    assert cast.run_again(paused, bench).state == CampaignState.DONE


def test_a_baseline_that_its_host_broke_waits_for_a_person_and_is_measured_again(
    script, tmp_path, loaded
):
    script()
    campaign, bench = cast.make_campaign(tmp_path), loaded["bench"]
    real = bench.service.evaluate

    def broken(job, beat=None):
        return Report(job.job_id, Outcome.BROKEN_HOST, Phase.BUILD, "g++ is not there")

    bench.service.evaluate = broken
    held = cast.run_again(campaign, bench)
    assert (held.state, held.stop_reason) == (CampaignState.PAUSED, "")
    asked = held.events.get(kind="pause_requested").message
    assert "g++ is not there" in asked
    assert asked.endswith("The campaign waits; resuming it measures round 1 again.")
    bench.service.evaluate = real
    resume(held)
    assert cast.run_again(held, bench).state == CampaignState.DONE


def test_void_measurements_use_up_no_budget(script, tmp_path, loaded):
    script()
    campaign, bench = cast.make_campaign(tmp_path), loaded["bench"]
    loaded.update(evaluations=1)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    void = cast.voids().get()
    confirmed = campaign.events.get(kind="confirmed").at
    spent = time_spent(campaign, void.finished_at)
    assert spent.device_h == 0
    whole_h = (void.finished_at - confirmed) / timedelta(hours=1)
    assert 0 < spent.wall_h < whole_h


def test_the_final_comparison_gives_up_after_as_many_and_says_why(run, script, drifting):
    script(["time 50"])
    drifting["when"] = lambda number, job: Evaluation.objects.filter(
        state="running", kind=EvaluationKind.REPORT
    ).exists()
    campaign = run(max_rounds=2)
    assert campaign.state == CampaignState.DONE
    assert campaign.result["gain"] is None
    assert "the incumbent's own times moved" in campaign.result["why"]
    assert cast.voids().count() == MOST_VOIDS - 1


def test_a_host_that_broke_is_still_tried_three_times_after_void_ones(run, script, drifting):
    script(["time 50 host"])
    campaign = run(max_rounds=2)
    assert Evaluation.objects.filter(kind=DECIDE, state="done").count() == 3
    assert campaign.state == CampaignState.PAUSED


def test_a_candidate_can_not_have_itself_measured_again(run, script, judge):
    """Its own times may drift as they like: that is its verdict's business."""
    real = cast.Judge()

    def evaluate(job, beat=None):
        report = real.evaluate(job, beat)
        if not decides(job):
            return report
        return replace(report, cases=tuple(map(slower, report.cases)))

    def slower(case):
        samples = case.candidate.samples_us
        drifted = tuple(us * (1.3 if i >= 5 else 1.0) for i, us in enumerate(samples))
        return replace(case, candidate=replace(case.candidate, samples_us=drifted))

    judge.evaluate = evaluate
    script(["time 50"])
    run(max_rounds=2)
    assert not cast.voids().exists()


def test_what_a_passport_saw_is_allowed(bench, script, tmp_path, drifting):
    taken = take_passport("why", bench)
    wide = [{**length, "spread": 0.2} for length in taken.lengths]
    copy = {f.attname: getattr(taken, f.attname) for f in taken._meta.fields if not f.primary_key}
    Passport.objects.create(**{**copy, "lengths": wide})
    script(["time 50"])
    drifting["when"] = lambda number, job: decides(job)
    campaign = cast.run_again(cast.make_campaign(tmp_path, max_rounds=2), bench)
    assert campaign.state == CampaignState.DONE
    assert not cast.voids().exists()


def test_a_hot_device_voids_whatever_its_times_say(run, script, judge):
    real = cast.Judge()
    heat = []

    def evaluate(job, beat=None):
        report = real.evaluate(job, beat)
        if not decides(job) or heat:
            return report
        heat.append(job)
        seen = (Moment("one", 1), Moment("one", 2, throttled=("heat (hardware)",)))
        return replace(report, surroundings=seen)

    judge.evaluate = evaluate
    script(["time 50"])
    run(max_rounds=2)
    assert "the clock was throttled (heat (hardware); allowed: nothing)" in cast.voids().get().void


def test_a_pause_that_a_person_asked_for_is_not_asked_for_twice(script, bench, tmp_path, drifting):
    script(["time 50"])
    drifting["when"] = lambda number, job: True
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    for _ in range(MOST_VOIDS - 1):
        cast.measure_all(campaign, bench)

    def asks(number, job):
        pause(cast.fresh(campaign))
        return True

    drifting["when"] = asks
    cast.measure_all(campaign, bench)
    assert campaign.events.filter(kind="pause_requested").count() == 1
