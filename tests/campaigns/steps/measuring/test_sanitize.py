"""The second session runs the candidate under sanitizers as well; nothing before it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.explain import sanitize
from campaigns.evaluator.contract import Fault, Job, Outcome, Phase, Report, Sanitized
from campaigns.models import EvaluationKind, Verdict
from campaigns.rules.stop.policy import StopPolicy
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast

GUILTY = Sanitized(
    "AddressSanitizer", True, (Fault("heap-buffer-overflow", "read", "kernel.cpp", 8),)
)


@pytest.fixture
def judge() -> cast.Moody:
    return cast.Moody()


@pytest.fixture
def verdict(
    db: None, tmp_path: Path, bench: WorkerContext, script: Callable[..., cast.Script]
) -> Callable[..., Verdict]:
    """The verdict on a kernel that is twice as fast."""

    def run(*, required: bool = False) -> Verdict:
        folder = cast.write_problem(tmp_path)
        policy = StopPolicy(max_rounds=2)
        wish = Wish(folder, "test-cpu", "cpp", policy=policy, require_sanitizers=required)
        campaign = create_campaign(wish)
        confirm(campaign)
        script(["time 50"])
        run_here(campaign.pk, bench, lambda message: None)
        return campaign.rounds.get(number=2).verdict

    return run


def test_it_looks_once_and_only_at_what_would_be_accepted(
    verdict: Callable[[], Verdict], judge: cast.Moody
) -> None:
    found = verdict()
    assert (found.word, found.reason) == ("accepted", "promoted")
    (look,) = judge.looks
    assert (look.candidate.text, look.incumbent, look.timed) == ("time 50", None, False)
    gate = next(gate for gate in found.gates if gate["name"] == "sanitizers")
    assert (gate["passed"], gate["found"]) == (True, "AddressSanitizer clean")


def test_it_takes_back_a_gain_that_a_sanitizer_speaks_against(
    verdict: Callable[[], Verdict], judge: cast.Moody
) -> None:
    judge.said = (GUILTY,)
    found = verdict()
    assert (found.word, found.reason) == ("rejected", "sanitizer")
    assert "AddressSanitizer found heap-buffer-overflow in kernel.cpp line 8" in found.sentence
    round_ = found.round
    assert cast.fresh(round_.campaign).incumbent.round.number == 1
    assert [standing.word for standing in round_.standings.all()] == ["claimed", "not_verified"]


@pytest.mark.parametrize(
    ("required", "word", "reason"),
    [(False, "accepted", "promoted"), (True, "needs_review", "not_sanitized")],
)
def test_it_is_stopped_by_one_that_can_not_run_where_the_protocol_requires_them(
    verdict: Callable[..., Verdict], judge: cast.Moody, required: bool, word: str, reason: str
) -> None:
    judge.said = (Sanitized("AddressSanitizer", False, note="g++ has no runtime"),)
    found = verdict(required=required)
    assert (found.word, found.reason) == (word, reason)
    kept = 1 if required else 2
    assert cast.fresh(found.round.campaign).incumbent.round.number == kept


@pytest.mark.parametrize("mood", ["time 100", "crash"])
def test_it_looks_at_nothing_that_failed_or_is_slow(
    verdict: Callable[[], Verdict], judge: cast.Moody, mood: str
) -> None:
    judge.moods = dict.fromkeys((EvaluationKind.DECIDE, EvaluationKind.SCREEN), mood)
    assert verdict().word != "accepted"
    assert judge.looks == []


def test_it_says_why_nothing_could_be_run() -> None:
    class Dead(cast.Judge):
        def evaluate(self, job: Job, beat: object = None) -> Report:
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, "the service died")

    job = Job("1", Path(), "cpp", "cpu", "native", (), cast.Source("a.cpp", ""), Path())
    (said,) = sanitize(replace(job, timed=True), Dead())
    assert (said.ran, said.note) == (False, "the service died")
