"""One evaluation: claimed once, alive while it runs, recorded once."""

from __future__ import annotations

import errno
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from campaigns.devices.hold import DeviceBusy, hold
from campaigns.evaluator.contract import Job, Outcome, Phase, Report
from campaigns.evaluator.contract.looks import LOOKS
from campaigns.models import Campaign, CampaignState, Evaluation, EvaluationState
from campaigns.models.transitions import claim, move
from campaigns.steps.lifecycle.control import confirm, pause
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast

Run = Callable[..., Campaign]
Put = Callable[..., cast.Script]


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    made = cast.make_campaign(tmp_path)
    cast.step_until(made, CampaignState.BASELINE)
    return made


@pytest.fixture
def queued(campaign: Campaign) -> Evaluation:
    return Evaluation.objects.get(candidate__round__campaign=campaign)


def test_it_records_outcome_samples_and_worker(queued: Evaluation, bench: WorkerContext) -> None:
    assert evaluate(queued.pk, bench) == queued.campaign
    queued.refresh_from_db()
    assert (queued.state, queued.outcome) == (EvaluationState.DONE, Outcome.PASSED)
    assert queued.worker == bench.worker
    assert queued.finished_at >= queued.started_at
    assert len(queued.facts.cases[0].candidate.samples_us) == 10


def test_r11_only_what_decides_about_a_round_may_end_at_a_look(
    run: Run, script: Put, judge: cast.Judge
) -> None:
    script(["time 50"])
    asked: dict[str, Job] = {}

    def look(job: Job) -> None:
        key = int(job.job_id.split("-")[1])
        asked[Evaluation.objects.get(pk=key).kind] = job

    judge.during = look
    campaign = run(max_rounds=2)
    looks = {kind: job.protocol.looks for kind, job in asked.items()}
    assert looks == {"baseline": (), "decide": LOOKS, "remeasure": LOOKS, "report": ()}
    assert {job.protocol.version for job in asked.values()} == {3}
    assert asked["decide"].noise_floor == campaign.noise["floor"]


def test_it_gives_the_judge_the_problem_in_files_and_cleans_up(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge
) -> None:
    seen: dict[str, Any] = {}

    def look(job: Job) -> None:
        seen["files"] = sorted(path.name for path in job.problem.iterdir())
        seen["folder"] = job.problem.parent

    judge.during = look
    evaluate(queued.pk, bench)
    assert seen["files"] == ["problem.toml", "ref.py", "v0.cpp"]
    assert not seen["folder"].exists()
    job = judge.jobs[0]
    assert [case.name for case in job.cases] == ["one", "two"]
    assert (job.device, job.target, job.backend) == ("cpu", "native", "cpp")
    assert job.protocol.burst_ms == 10.0


def test_it_tells_the_judge_which_kernels_count_as_own(
    tmp_path: Path, bench: WorkerContext, judge: cast.Judge
) -> None:
    draft = create_campaign(Wish(cast.write_problem(tmp_path), cast.make_platform().slug, "cpp"))
    claim(Campaign.objects.filter(pk=draft.pk), own_kernels=["DeviceReduceKernel"])
    confirm(draft)
    cast.step_until(draft, CampaignState.BASELINE)
    cast.measure_all(draft, bench)
    assert [job.own_kernels for job in judge.jobs] == [("DeviceReduceKernel",)]


def test_it_measures_nothing_twice(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge
) -> None:
    evaluate(queued.pk, bench)
    assert evaluate(queued.pk, bench) is None
    assert len(judge.jobs) == 1


def test_it_leaves_what_another_worker_runs(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge
) -> None:
    move(queued, EvaluationState.RUNNING, holder="somebody", heartbeat_at=timezone.now())
    assert evaluate(queued.pk, bench) is None
    assert judge.jobs == []


@pytest.mark.storage
def test_it_drops_its_result_when_the_claim_went_to_another(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge
) -> None:
    def take_over(job: Job) -> None:
        claim(Evaluation.objects.filter(pk=queued.pk), holder="somebody else")

    judge.during = take_over
    assert evaluate(queued.pk, bench) is None
    queued.refresh_from_db()
    assert (queued.state, queued.holder, queued.report) == ("running", "somebody else", {})


def test_it_drops_its_result_when_the_claim_went_after_the_last_heartbeat(
    queued: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cast.report_on

    def take_over(job: Job) -> Report:
        claim(Evaluation.objects.filter(pk=queued.pk), holder="somebody else")
        return found(job)

    monkeypatch.setattr(cast, "report_on", take_over)
    assert evaluate(queued.pk, bench) is None
    queued.refresh_from_db()
    assert (queued.state, queued.holder, queued.report) == ("running", "somebody else", {})


def test_it_shows_life_and_phase_while_it_runs(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge
) -> None:
    seen: list[tuple[str, bool]] = []

    def look(job: Job) -> None:
        row = Evaluation.objects.get(pk=queued.pk)
        seen.append((row.phase, timezone.now() - row.heartbeat_at < timedelta(seconds=5)))

    judge.during = look
    evaluate(queued.pk, bench)
    assert seen == [("build", True)]


def test_it_leaves_a_held_campaign_and_another_platform_alone(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge
) -> None:
    pause(cast.fresh(queued.campaign))
    assert evaluate(queued.pk, bench) is None
    assert judge.jobs == []


def test_it_claims_nothing_while_another_process_holds_the_device(
    queued: Evaluation, judge: cast.Judge
) -> None:
    made = cast.make_bench(judge)
    bench = WorkerContext(made.service, made.device, made.worker, patience_s=0.0)
    with hold(cast.DEVICE), pytest.raises(DeviceBusy):
        evaluate(queued.pk, bench)
    queued.refresh_from_db()
    assert queued.state == EvaluationState.QUEUED


def test_it_says_that_the_disk_is_full_and_measures_again(
    queued: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/data/scratch/kernel.cpp")

    monkeypatch.setattr("campaigns.steps.measuring.evaluate.materialise", full)
    evaluate(queued.pk, bench)
    queued.refresh_from_db()
    assert queued.outcome == Outcome.BROKEN_HOST
    assert queued.reason == "disk full: /data/scratch/kernel.cpp"
    assert queued.candidate.evaluations.get(attempt=2).state == EvaluationState.QUEUED


def test_it_ends_with_a_short_truth_when_the_samples_do_not_fit(
    queued: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    from campaigns.steps.measuring import evaluate as step

    record = step.record_report

    def full(evaluation: Evaluation, report: Report) -> Campaign | None:
        if report.cases:
            raise OperationalError("database or disk is full")
        return record(evaluation, report)

    monkeypatch.setattr(step, "record_report", full)
    evaluate(queued.pk, bench)
    queued.refresh_from_db()
    assert (queued.state, queued.outcome) == (EvaluationState.DONE, Outcome.BROKEN_HOST)
    assert queued.reason.startswith("disk full: ")


def test_it_does_not_blame_a_candidate_for_a_host_too_busy_to_time_it(
    queued: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    timing = cast.timing

    def busy(source: Any, blocks: int, shift: int) -> Any:
        found = timing(source, blocks, shift)
        samples = (-5.0, *found.samples_us[1:])
        return type(found)(samples, found.long_calls, found.short_calls, found.timer)

    monkeypatch.setattr(cast, "timing", busy)
    evaluate(queued.pk, bench)
    queued.refresh_from_db()
    assert queued.outcome == Outcome.BROKEN_HOST
    assert "too busy" in queued.void


@pytest.mark.storage
def test_it_gives_the_work_of_a_vanished_worker_to_another_within_a_minute(
    queued: Evaluation, bench: WorkerContext, settings: Any
) -> None:
    long_ago = timezone.now() - timedelta(seconds=settings.KOPT_LEASE_S + 1)
    move(queued, EvaluationState.RUNNING, holder="gpu-7 abc 1 d", heartbeat_at=long_ago)
    work = reconcile()
    queued.refresh_from_db()
    assert (queued.state, queued.holder) == (EvaluationState.QUEUED, "")
    assert [following.measure for _, following in work] == [(queued.pk,)]
    event = queued.campaign.events.get(kind="worker_vanished")
    assert "worker gpu-7 vanished" in event.message
    # The lease and the time between two looks together.
    from campaigns.tasks import RECONCILE_EVERY_S

    assert settings.KOPT_LEASE_S + RECONCILE_EVERY_S + settings.KOPT_HEARTBEAT_S <= 60


def test_it_leaves_a_living_holder_alone(queued: Evaluation) -> None:
    move(queued, EvaluationState.RUNNING, holder="gpu-7 abc 1 d", heartbeat_at=timezone.now())
    assert reconcile() == []
    queued.refresh_from_db()
    assert queued.state == EvaluationState.RUNNING


def test_it_gives_up_a_candidate_that_takes_its_workers_along(
    queued: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.steps.measuring.claims.is_gone", lambda holder: True)
    move(queued, EvaluationState.RUNNING, holder="gpu-7 abc 1 d", claims=5)
    reconcile()
    queued.refresh_from_db()
    assert (queued.state, queued.outcome) == (EvaluationState.DONE, Outcome.BROKEN_HOST)
    assert queued.phase == Phase.START
    assert queued.candidate.evaluations.count() == 1
