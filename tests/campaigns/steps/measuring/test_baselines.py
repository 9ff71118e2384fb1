"""torch is measured beside the best, and no campaign waits for it or fails by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from campaigns.evaluator.contract import Job, Outcome, Report
from campaigns.models import (
    AbortReason,
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
)
from campaigns.models.kinds import TORCH
from campaigns.models.transitions import claim
from campaigns.records.device_waits import awaited_by
from campaigns.reports.baselines import baseline_rows
from campaigns.steps.lifecycle.finish import abort
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.baselines import remind_of_baselines
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.waits import ask_to_pause
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast

Put = Callable[..., cast.Script]


@dataclass
class Torchy(cast.Judge):
    """Finds this of torch, at each of its tries."""

    of_torch: Outcome = Outcome.PASSED

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        report = super().evaluate(job, beat)
        if job.backend != "torch" or self.of_torch is Outcome.PASSED:
            return report
        return replace(report, outcome=self.of_torch, reason="no room", cases=())


@pytest.fixture
def judge() -> Torchy:
    return Torchy()


@pytest.fixture
def go(bench: WorkerContext, tmp_path: Path, script: Put) -> Callable[[], Campaign]:
    """Run a campaign with one accepted round and with baselines, in this process."""

    def run() -> Campaign:
        script(["time 50"])
        campaign = cast.make_campaign(tmp_path, baselines=True)
        return run_here(campaign.pk, bench, lambda message: None)

    return run


def measure_v0(campaign: Campaign, bench: WorkerContext) -> None:
    """Take it through its first round, and leave torch to the workers."""
    cast.step_until(campaign, CampaignState.BASELINE)
    evaluate(Evaluation.objects.get(kind=EvaluationKind.BASELINE).pk, bench)
    cast.step_until(campaign, CampaignState.ANALYZE)


def awaiting(parent: Path, bench: WorkerContext) -> Campaign:
    """A campaign with a measured v0 that waits for people, and leaves its device idle."""
    campaign = cast.make_campaign(parent, baselines=True, proposers="person")
    measure_v0(campaign, bench)
    cast.step_until(campaign, CampaignState.AWAITING)
    return cast.fresh(campaign)


def rows_of(campaign: Campaign, number: int) -> dict[str, Evaluation]:
    """By kind, those beside the kernel of this round."""
    rows = Evaluation.objects.filter(kind__in=TORCH, candidate__round__campaign=campaign)
    return {row.kind: row for row in rows.filter(candidate__round__number=number)}


def test_it_measures_torch_beside_the_best_when_the_search_has_ended(go, judge):
    campaign = go()
    assert campaign.state == CampaignState.DONE
    asked = [job.backend for job in judge.jobs]
    assert asked == sorted(asked)
    assert {row.outcome for row in rows_of(campaign, 1).values()} == {""}
    found = {row.kind: row for row in baseline_rows(campaign)}
    assert list(found) == list(TORCH)
    for kind in ("eager", "compile", "compile-max-autotune"):
        row = found[kind]
        assert (row.beside, row.is_best, row.timer) == (2, True, "calls")
        # The fake judge reads 100 µs of torch and 50 µs of the kernel.
        assert row.gain.gain == pytest.approx(1.0, rel=0.01)
        assert row.gain.pairs == 10
        assert row.time_us == pytest.approx(2 * row.kernel_us, rel=0.01)
        assert f"against {row.name}" in row.words


def test_it_hands_over_the_reference_and_never_the_inputs(go, judge):
    go()
    jobs = [job for job in judge.jobs if job.backend == "torch"]
    assert jobs
    for job in jobs:
        assert "def reference" in job.candidate.text
        assert "def setup" not in job.candidate.text
        assert job.incumbent_backend == "cpp"
        assert "time" in job.incumbent.text
    assert sum("torch.compile(reference" in job.candidate.text for job in jobs) == 2


def test_it_keeps_what_a_problem_cannot_have(go):
    library = next(row for row in baseline_rows(go()) if row.kind == EvaluationKind.LIBRARY)
    assert library.words == "the library's kernel: not measured: problem.toml names no `library`"
    assert library.facts["gain"] is None


@pytest.mark.parametrize(
    ("said", "tries", "words"),
    [
        (Outcome.BUILD_FAILED, 1, "not measured: build failed: no room"),
        (Outcome.TIMED_OUT, 1, "not measured: timed out: no room"),
        (Outcome.BROKEN_HOST, 3, "not measured: the host failed: no room"),
        (Outcome.CHEATED, 3, "not measured: its times are not to be believed: no room"),
    ],
)
def test_it_keeps_a_failure_which_is_not_the_campaigns(go, judge, said, tries, words):
    judge.of_torch = said
    campaign = go()
    assert campaign.state == CampaignState.DONE
    assert campaign.result["gain"] == pytest.approx(1.0, rel=0.01)
    assert not campaign.events.filter(kind="pause_requested").exists()
    eager = next(row for row in baseline_rows(campaign) if row.kind == "eager")
    assert (eager.why, eager.outcome) == (words, said)
    mine = Evaluation.objects.filter(kind="eager", candidate=campaign.incumbent)
    assert mine.count() == tries


def test_it_is_off_where_nobody_asked_for_it(run, script, judge):
    script(["time 50"])
    campaign = run()
    assert baseline_rows(campaign) == ()
    assert all(job.backend == "cpp" for job in judge.jobs)


def test_no_campaign_waits_for_it(bench, tmp_path, script):
    script(["time 50"])
    campaign = cast.make_campaign(tmp_path, baselines=True)
    measure_v0(campaign, bench)
    campaign = cast.fresh(campaign)
    waiting = Evaluation.objects.filter(kind__in=TORCH, state=EvaluationState.QUEUED)
    assert waiting.exists()
    assert not awaited_by(campaign).filter(kind__in=TORCH).exists()


def test_nothing_is_begun_between_two_steps_of_a_search(bench, tmp_path, script, judge):
    script(["time 50"])
    campaign, worker = cast.make_campaign(tmp_path, baselines=True), replace(bench, serves_all=True)
    measure_v0(campaign, bench)
    eager = rows_of(campaign, 1)["eager"]
    assert not Evaluation.objects.filter(state=EvaluationState.RUNNING).exists()
    assert remind_of_baselines() == []
    assert evaluate(eager.pk, worker) is None
    another = cast.make_bench(judge, "another worker", replace(cast.DEVICE, uuid="another"))
    assert [following.measure for _, following in remind_of_baselines()] == [(eager.pk,)]
    assert evaluate(eager.pk, another) == campaign


def test_it_is_begun_while_a_campaign_waits_for_people(bench, tmp_path):
    campaign = awaiting(tmp_path, bench)
    (asked, following), *others = remind_of_baselines()
    assert (asked, others) == (campaign, [])
    assert following.measure == (rows_of(campaign, 1)["eager"].pk,)
    assert evaluate(following.measure[0], replace(bench, serves_all=True)) == campaign


def test_a_paused_campaign_has_its_device_free(bench, tmp_path):
    campaign = awaiting(tmp_path, bench)
    (_, following), *_ = remind_of_baselines()
    ask_to_pause(cast.fresh(campaign), "a person asks")
    assert evaluate(following.measure[0], bench) is None
    assert remind_of_baselines() == []


@pytest.fixture
def torch_waits(bench, tmp_path) -> Evaluation:
    """torch, of a campaign whose first round is measured."""
    return rows_of(awaiting(tmp_path, bench), 1)["eager"]


def a_round_waits(parent: Path, seconds: float) -> Evaluation:
    """The round of another campaign, which has waited so long."""
    other = cast.make_campaign(parent)
    cast.step_until(other, CampaignState.BASELINE)
    row = Evaluation.objects.get(candidate__round__campaign=other)
    since = timezone.now() - timedelta(seconds=seconds)
    assert claim(Evaluation.objects.filter(pk=row.pk), created_at=since)
    return row


def test_it_is_not_begun_while_a_round_waits(torch_waits, tmp_path, bench, judge):
    worker = replace(bench, serves_all=True)
    waiting = a_round_waits(tmp_path / "other", 0)
    judged = len(judge.jobs)
    assert evaluate(torch_waits.pk, worker) is None
    assert len(judge.jobs) == judged
    assert evaluate(waiting.pk, worker) == waiting.campaign
    abort(waiting.campaign, AbortReason.USER, "It is not needed.")
    assert evaluate(torch_waits.pk, worker) == torch_waits.campaign


def test_it_is_ended_for_a_round_that_waits_and_then_measured(torch_waits, tmp_path, bench, judge):
    worker = replace(bench, serves_all=True)
    judge.during = lambda job: a_round_waits(tmp_path / "other", 0)
    assert evaluate(torch_waits.pk, worker) is None
    torch_waits.refresh_from_db()
    assert (torch_waits.state, torch_waits.claims) == (EvaluationState.QUEUED, 0)
    judge.during = lambda job: None
    waiting = Evaluation.objects.get(state=EvaluationState.QUEUED, kind=EvaluationKind.BASELINE)
    assert evaluate(waiting.pk, worker) == waiting.campaign
    abort(waiting.campaign, AbortReason.USER, "It is not needed.")
    assert evaluate(torch_waits.pk, worker) == torch_waits.campaign
    torch_waits.refresh_from_db()
    assert (torch_waits.outcome, torch_waits.claims) == (Outcome.PASSED, 1)


def test_it_goes_on_where_an_idle_worker_takes_the_round(torch_waits, tmp_path, bench, judge):
    cast.make_bench(judge, "another worker")
    judge.during = lambda job: a_round_waits(tmp_path / "other", 0)
    assert evaluate(torch_waits.pk, replace(bench, serves_all=True)) == torch_waits.campaign


def test_it_goes_on_where_nobody_would_take_the_round(torch_waits, tmp_path, bench, judge):
    """A command runs one campaign alone; what another one left behind is not for it."""
    judge.during = lambda job: a_round_waits(tmp_path / "other", 60)
    assert evaluate(torch_waits.pk, bench) == torch_waits.campaign


def test_a_command_gives_way_to_a_worker(torch_waits, tmp_path, bench, judge):
    cast.make_bench(judge, "another worker")
    judge.during = lambda job: a_round_waits(tmp_path / "other", 60)
    assert evaluate(torch_waits.pk, bench) is None


def test_a_round_is_never_ended_for_another(bench, tmp_path, script, judge):
    script(["time 50"])
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    judge.during = lambda job: a_round_waits(tmp_path / "other", 60)
    key = Evaluation.objects.get().pk
    assert evaluate(key, replace(bench, serves_all=True)) == campaign
