"""The cast of the flow's tests: a small problem, a device, a scripted proposer, a fake judge.

The fake judge reads the time of a kernel from its own text ("time 80"), or how it fails ("crash").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest
from django.db.models import QuerySet

from campaigns.devices.discover import Device
from campaigns.evaluator.contract import (
    CaseReport,
    Function,
    Job,
    MachineCode,
    Outcome,
    Phase,
    Profile,
    Report,
    Sanitized,
    Source,
    Timer,
    Timing,
)
from campaigns.models import Campaign, CampaignState, Cause, Evaluation, Worker
from campaigns.models.transitions import is_legal
from campaigns.proposers.base import Draft, Failure, Hypothesis, MetricDirection, Situation, Variant
from campaigns.proposers.handed_in import HandedIn
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState
from campaigns.rules.search_log import SearchSource, SearchStep
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.stop.proposers import parse_budgets
from campaigns.rules.target.goal import parse_goal
from campaigns.rules.verdict.buckets import Bucket
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.control import confirm, resume
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.reproduce import reproduce
from campaigns.steps.measuring.waits import wait_for_device
from campaigns.steps.notify import Next
from campaigns.steps.worker import WorkerContext, worker_beat
from knowledge.models import Platform
from knowledge.specs.cited import Cited

IDLE = DeviceState.IDLE
DEVICE = Device(
    kind="cpu",
    device="cpu",
    name="Test CPU",
    platform_slug="test-cpu",
    target="native",
    memory_bytes=1 << 30,
    uuid="test-cpu",
)
# Another one of the same model.
TWIN = replace(DEVICE, uuid="twin-cpu")
BANDWIDTH = Cited(
    metric="copy_bandwidth",
    value=10e9,
    unit="B/s",
    evidence="measured",
    citation="copy_bandwidth: 10 GB/s <- <gpu-wiki>/docs/measured/test-cpu.md:L9",
    href="/w/docs/docs/measured/test-cpu.md?rev=abc#L9",
    display="10 GB/s",
)
COMPUTE = Cited(
    metric="fma_throughput",
    value=100e9,
    unit="op/s",
    evidence="measured",
    citation="fma_throughput: 100 Gop/s <- <gpu-wiki>/docs/measured/test-cpu.md:L10",
    href="/w/docs/docs/measured/test-cpu.md?rev=abc#L10",
    display="100 Gop/s",
)
# 100,000 bytes at 10 GB/s: the floor of every case is 10 µs.
WORK = (1000.0, 100_000.0)
TOML = """
schema = 1
name = "tiny"
title = "Tiny"
op = "copy"
dtype = "float32"
[files]
cpp = "v0.cpp"
[tolerance]
atol = 0
rtol = 0
[[case]]
name = "one"
params = { N = 1 }
[[case]]
name = "two"
on = ["cpu"]
protected = false
params = { N = 2 }
"""
REF = "def setup(*, N, seed, device): ...\ndef reference(**inputs): ...\n"


def set_the_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case is 10 µs at best, by two cited ceilings; "search" is the one proposer."""
    monkeypatch.setattr(
        "campaigns.steps.lifecycle.set_target.work_model",
        lambda folder, cases: {c.name: WORK for c in cases},
    )
    at = "campaigns.records.target.ceilings"
    monkeypatch.setattr(f"{at}.bandwidth_ceilings", lambda platform, **_: [BANDWIDTH])
    monkeypatch.setattr(f"{at}.compute_ceilings", lambda platform, dtype, **_: [COMPUTE])
    monkeypatch.setattr(
        "campaigns.steps.lifecycle.create_campaign.proposer_names", lambda: ("search",)
    )


def make_platform() -> Platform:
    """The platform of the test device."""
    return Platform.objects.get_or_create(
        slug="test-cpu",
        defaults={
            "name": "Test CPU",
            "vendor": "Test",
            "arch": "x86-64",
            "kind": "cpu",
            "target": "native",
            "aliases": ["Test CPU"],
        },
    )[0]


def write_problem(parent: Path, v0: str = "time 100") -> Path:
    """A problem folder with two cases and this v0."""
    folder = parent / "tiny"
    folder.mkdir(parents=True)
    (folder / "problem.toml").write_text(TOML)
    (folder / "ref.py").write_text(REF)
    (folder / "v0.cpp").write_text(v0)
    return folder


def make_campaign(
    parent: Path,
    v0: str = "time 100",
    *,
    goal: str = "",
    by: object = None,
    proposers: str = "search",
    baselines: bool = False,
    **policy: object,
) -> Campaign:
    """A confirmed campaign on the tiny problem, started by this user or by a command."""
    platform = make_platform()
    wish = Wish(
        problem=write_problem(parent, v0),
        platform=platform.slug,
        backend="cpp",
        policy=StopPolicy(**policy),
        goal=parse_goal(goal) if goal else None,
        seed=7,
        created_by=by,
        proposers=parse_budgets(proposers),
        baselines=baselines,
    )
    campaign = create_campaign(wish)
    confirm(campaign)
    return campaign


CODE = MachineCode(
    "objdump, native", (Function("solve", 40, {"vector_256": 8, "call": 2}, {"expf": 2}),)
)


@dataclass
class Judge:
    """A fake of EvaluatorService. jobs: what it was asked; during: called in mid-evaluation.

    looks: what it was asked to run under sanitizers, apart from `jobs`; they say `said`. read: jobs
    whose machine code was asked for; that is `code`. rests: how often it was told to use no device.
    started: whether somebody started it before a job.
    """

    jobs: list[Job] = field(default_factory=list)
    during: Callable[[Job], None] = lambda job: None
    looks: list[Job] = field(default_factory=list)
    rests: int = 0
    started: bool = False
    borrows: bool = False
    said: tuple[Sanitized, ...] = (Sanitized("AddressSanitizer", True),)
    read: list[Job] = field(default_factory=list)
    code: MachineCode = CODE

    def start(self) -> None:
        self.started = True

    def rest(self) -> None:
        self.rests += 1

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        if job.sanitize:
            self.looks.append(job)
            return replace(report_on(job), sanitized=self.said)
        if job.read_code:
            self.read.append(job)
            return replace(report_on(job), cases=(), machine_code=self.code)
        if job.counters:
            note = "nothing is counted here"
            counted = Profile("perf", job.cases[0].name, note=note)
            return replace(report_on(job), cases=(), profile=counted)
        self.jobs.append(job)
        if beat:
            beat("build")
        self.during(job)
        if beat:
            beat("burst")
        return report_on(job)


@dataclass
class Moody(Judge):
    """Finds something else in evaluations of some kinds. moods: kind → the text that it reads."""

    moods: dict[str, str] = field(default_factory=dict)

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        found = Evaluation.objects.get(pk=job.job_id.split("-")[1])
        text = self.moods.get(found.kind, job.candidate.text)
        return super().evaluate(replace(job, candidate=replace(job.candidate, text=text)), beat)


def report_on(job: Job) -> Report:
    """What the fake judge finds: the kernel's text says it, and that of each rival."""
    alone = replace(job, rivals=())
    rivals = tuple(report_on(replace(alone, candidate=rival)) for rival in job.rivals)
    return replace(_found(alone), rivals=rivals)


def _found(job: Job) -> Report:
    failure = re.search(r"(crash|wrong|build|host|hang|unsure)", job.candidate.text)
    if failure:
        outcome = {
            "crash": Outcome.CRASHED,
            "wrong": Outcome.WRONG_RESULT,
            "build": Outcome.BUILD_FAILED,
            "host": Outcome.BROKEN_HOST,
            "hang": Outcome.TIMED_OUT,
            "unsure": Outcome.NOT_JUDGED,
        }[failure[1]]
        return Report(job.job_id, outcome, Phase.CHECK, f"it says {failure[1]}")
    cases = tuple(
        CaseReport(
            case=case.name,
            correct=True,
            checked_calls=9,
            max_abs_error=0.0,
            max_rel_error=0.0,
            margin=0.0,
            candidate=timing(job.candidate, job.protocol.blocks, 0),
            incumbent=timing(job.incumbent, job.protocol.blocks, 1) if job.incumbent else None,
        )
        for case in job.cases
    )
    return Report(job.job_id, Outcome.PASSED, Phase.DONE, "", cases, environment={"cores": "2"})


def timing(source: Source, blocks: int, shift: int) -> Timing:
    """Two samples a block around the time in the text, 0.2 % apart."""
    found = re.search(r"time (\d+)", source.text)
    time_us = float(found[1]) if found else 100.0
    samples = tuple(time_us * (1 + 0.001 * ((i + shift) % 3 - 1)) for i in range(2 * blocks))
    return Timing(samples, 16, 4, Timer.CALLS)


@dataclass
class Script:
    """A proposer that proposes these kernels, a list of texts for each round after the first."""

    rounds: list[list[str]]
    name: str = "script"
    seen: list[Situation] = field(default_factory=list)

    def propose(self, situation: Situation) -> Draft | None:
        self.seen.append(situation)
        index = len(situation.history)
        if index >= len(self.rounds):
            return None
        variants = tuple(
            Variant(f"variant {n}", Source("kernel.cpp", text), {"n": n})
            for n, text in enumerate(self.rounds[index], 1)
        )
        return Draft(hypothesis(index), variants)


@dataclass
class Mender(Script):
    """The same, and it mends: these texts, one after the other, for whatever failed."""

    repairs: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def repair(self, situation: Situation, failure: Failure) -> Variant | None:
        self.failures.append(failure)
        if len(self.failures) > len(self.repairs):
            return None
        text = self.repairs[len(self.failures) - 1]
        return Variant(f"repair {len(self.failures)}", Source("kernel.cpp", text), {})


def hypothesis(index: int) -> Hypothesis:
    return Hypothesis(
        strategy=f"idea-{index}",
        title=f"Idea {index}",
        change="one thing",
        rationale="it may help",
        evidence=("one: 100 µs",),
        expected_metric="time_us",
        expected_direction=MetricDirection.DOWN,
        expected_amount=0.2,
        risks="none",
        params={"index": index},
        bucket=Bucket.K1,
        searched=(SearchStep(SearchSource.WIKI, "copies", "none | needed"),),
    )


def handed_in(text: str, **said: object) -> HandedIn:
    """What a person hands in: this kernel, with a hypothesis that is its own."""
    usual = HandedIn(
        source=text,
        title=f"Try {text}",
        change=f"make it {text}",
        rationale="the loop waits for memory",
        metric="time per call",
        direction="down",
        amount="20%",
        evidence=("one",),
    )
    return replace(usual, **said)


def make_bench(judge: Judge, name: str = "tester", device: Device = DEVICE) -> WorkerContext:
    """A bench on the test device, or on another of its model."""
    make_platform()
    worker = worker_beat(name, device)
    return WorkerContext(judge, device, worker, look_at_host=lambda: DeviceCheck(IDLE, "at rest"))


def waiting_campaign(parent: Path) -> tuple[Campaign, Worker]:
    """A campaign whose baseline waits for a device that others use, and that device's worker."""
    campaign = make_campaign(parent)
    step_until(campaign, CampaignState.BASELINE)
    worker = make_bench(Judge()).worker
    queued = Evaluation.objects.get(candidate__round__campaign=campaign)
    wait_for_device(queued, worker, Cause.BUSY, "process 4711 computes on it")
    return campaign, worker


def fresh(campaign: Campaign) -> Campaign:
    """The campaign as the database has it now."""
    return Campaign.objects.get(pk=campaign.pk)


def step(campaign: Campaign) -> Next:
    """One step of the campaign as the database has it now."""
    return advance(fresh(campaign))


def step_until(campaign: Campaign, state: str) -> Next:
    """Steps without measuring until the campaign is in that state; the last answer."""
    for _ in range(20):
        following = step(campaign)
        if fresh(campaign).state == state:
            return following
    raise AssertionError(f"{fresh(campaign)} is in {fresh(campaign).state}, not in {state}")


def assert_legal_course(campaign: Campaign) -> None:
    """Every state it was in may follow the one before, and the last is the present one (R50)."""
    course = ["draft", *campaign.phases.order_by("pk").values_list("state", flat=True)]
    for before, after in pairwise(course):
        assert is_legal("campaign", before, after), course
    assert course[-1] == fresh(campaign).state


def measure_all(campaign: Campaign, bench: WorkerContext) -> None:
    """Measure what the next step asks for."""
    for key in step(campaign).measure:
        evaluate(key, bench)


def run_again(campaign: Campaign, bench: WorkerContext) -> Campaign:
    """Run the campaign on to its end, or until it is held."""
    return run_here(campaign.pk, bench, lambda message: None)


def past_its_host(campaign: Campaign, bench: WorkerContext) -> Campaign:
    """Resume the campaign as often as a host that fails holds it, to its end."""
    while campaign.state == CampaignState.PAUSED:
        resume(campaign)
        campaign = run_again(campaign, bench)
    return campaign


def reproduce_all(bench: WorkerContext) -> None:
    """What this worker does for accepted gains until nothing is left."""
    for _ in range(20):
        jobs = reproduce()
        if not jobs:
            return
        for _, following in jobs:
            for key in following.measure:
                evaluate(key, bench)
    raise AssertionError("it goes round in circles")


def voids() -> QuerySet[Evaluation]:
    """The measurements that nothing is concluded from."""
    return Evaluation.objects.exclude(void="")
