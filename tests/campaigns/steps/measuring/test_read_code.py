"""Whose machine code is read, and how it is asked for (R48)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.devices.explain import read_code
from campaigns.evaluator.contract import Case, Job, MachineCode, Outcome, Phase, Report, Source
from campaigns.models import EvaluationKind
from campaigns.records.explained.profiles import explained_of
from campaigns.steps.lifecycle.run_here import run_here
from tests.campaigns.steps import cast

SLOWER, FASTER = ["time 200"], ["time 50"]


@pytest.fixture
def job(tmp_path) -> Job:
    source, cases = Source("k.py", "time 1"), (Case("a", {"N": 1}), Case("b", {"N": 2}))
    return Job(
        *("evaluation-1-1", tmp_path, "triton", "cuda:0", "sm_90a", cases, source, tmp_path),
        incumbent=source,
    )


def test_tritons_compiler_is_asked_without_the_device_and_for_one_case(job):
    judge = cast.Judge()
    assert read_code(job, judge) == cast.CODE
    (asked,) = judge.read
    assert (asked.device, asked.target) == ("cpu", "sm_90a")
    assert asked.cases == job.cases[:1]
    assert not asked.timed
    assert asked.protocol.max_slots == 2
    assert asked.incumbent is None


def test_another_backend_is_built_where_it_runs(job):
    judge = cast.Judge()
    read_code(replace(job, backend="cuda"), judge)
    assert judge.read[0].device == "cuda:0"


def test_where_nothing_can_be_read_it_says_why(job):
    class Broken(cast.Judge):
        def evaluate(self, job, beat=None):
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, "no room")

    assert read_code(job, Broken()) == MachineCode("", note="no room")


@pytest.mark.django_db
def test_r48_the_code_of_every_incumbent_is_read_and_of_nobody_else(tmp_path, script):
    script(SLOWER, FASTER)
    judge = cast.Judge()
    campaign = cast.make_campaign(tmp_path, max_rounds=3)
    run_here(campaign.pk, cast.make_bench(judge), lambda message: None)
    texts = [asked.candidate.text for asked in judge.read]
    assert len(texts) == 2
    assert "time 50" in texts[1]
    first, second, third = campaign.rounds.order_by("number")
    assert explained_of(first.chosen).code == explained_of(third.chosen).code == cast.CODE
    assert explained_of(second.chosen).code is None
    kinds = {one.kind for one in second.chosen.evaluations.all()}
    assert EvaluationKind.REMEASURE not in kinds
