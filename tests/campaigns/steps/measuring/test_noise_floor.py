"""Which noise floor a verdict stands on, and that nobody can choose a kinder one afterwards."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.utils import timezone

from campaigns.models import Evaluation, EvaluationKind, Passport, Verdict
from campaigns.records.noise import floor_for
from campaigns.records.passports import state_of
from campaigns.steps.measuring.take_passport import take_passport
from tests.campaigns.steps import cast


@pytest.fixture
def measured(bench, script, tmp_path):
    """The deciding evaluation of round 2, and nothing of that round judged yet."""
    script(["time 50"])
    campaign = cast.make_campaign(tmp_path, max_rounds=2)
    done = Evaluation.objects.filter(kind=EvaluationKind.DECIDE, state="done")
    for _ in range(20):
        cast.measure_all(campaign, bench)
        if done.exists():
            return done.get()
    raise AssertionError("round 2 was never measured")


def another(taken, at, sigma=None, **changed):
    """A passport like this one, dated `at`, with another sigma at every length."""
    values = {f.attname: getattr(taken, f.attname) for f in taken._meta.fields if not f.primary_key}
    if sigma is not None:
        values["lengths"] = [{**length, "sigma": sigma} for length in taken.lengths]
    with patch.object(timezone, "now", return_value=at):
        return Passport.objects.create(**{**values, **changed})


def test_it_takes_no_passport_of_after_the_measurement(measured, bench):
    before = floor_for(measured.campaign, measured)
    assert before.words == (
        "measured in round 1, v0 beside itself, because the worker has no noise passport"
    )
    take_passport("a kinder one", bench)
    assert floor_for(measured.campaign, measured) == before


def test_it_takes_the_newest_passport_of_before_the_measurement(measured, bench):
    began, taken = measured.started_at, take_passport("a kinder one", bench)
    another(taken, began - timedelta(hours=3), 0.30)
    last = another(taken, began - timedelta(hours=2), 0.04)
    found = floor_for(measured.campaign, measured)
    assert (found.passport, found.value) == (last.pk, pytest.approx(0.08))


@pytest.mark.parametrize(("sigma", "floor"), [(0.04, 0.08), (0.001, 0.01)])
def test_a_failing_passport_never_lowers_the_floor(measured, bench, sigma, floor):
    taken = take_passport("why", bench)
    another(taken, measured.started_at - timedelta(hours=1), sigma, failures=["an arm is favoured"])
    found = floor_for(measured.campaign, measured)
    assert found.value == pytest.approx(floor)
    assert "an arm is favoured" in found.words
    assert ("though it fails" in found.words) is (floor > 0.01)


def test_measuring_ends_by_the_floor_that_its_verdict_stands_on(run, script, bench, judge):
    another(take_passport("why", bench), timezone.now(), 0.04)
    script(["time 50"], ["time 25"])
    campaign = run(max_rounds=3)
    asked = {job.job_id: job.noise_floor for job in judge.jobs}
    verdicts = Verdict.objects.filter(round__campaign=campaign, round__number__gt=1)
    assert len(verdicts) == 2
    for verdict in verdicts:
        assert verdict.noise["value"] == pytest.approx(0.08)
        assert asked[f"evaluation-{verdict.evaluation_id}-1"] == verdict.noise["value"]


def test_it_says_that_the_baseline_was_measured_on_another_device(measured):
    measured.report["environment"]["card"] = "another"
    found = floor_for(measured.campaign, measured)
    assert found.words.startswith("measured in round 1 on another device, v0 beside itself")


def test_a_passport_dated_ahead_of_the_clock_is_doubted(bench):
    another(take_passport("why", bench), timezone.now() + timedelta(days=300))
    state = state_of(bench.worker)
    assert state.word == "stale"
    assert "which is in the future" in state.words
