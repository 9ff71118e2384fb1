"""A person hands kernels into a campaign on the C++ softmax, judged for real on this CPU."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.models import Campaign, CampaignState
from campaigns.problems.shipped import problem_folder
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.worker import WorkerContext, choose_device, worker_beat
from tests.end_to_end.answer import Run
from tests.end_to_end.kernels import BETTER, WRONG
from tests.evaluator import small

pytestmark = [pytest.mark.judged, pytest.mark.sentinel, pytest.mark.django_db]

SAID = (
    *("--title", "An exponential in vector lanes", "--change", "e^x from arithmetic alone"),
    *("--rationale", "a call of expf a value", "--metric", "time per call"),
    *("--direction", "down", "--amount", "40%"),
)
FAST = "--flags=-O3 -ffast-math"
# The shipped kernel four times a call, so that no load hides the gain of another.
AGAIN = """
extern "C" void solve(float* input, float* output, int N, int D) {
    for (int again = 0; again < 4; ++again) softmax(input, output, N, D);
}
"""


def slow_problem(parent: Path) -> Path:
    folder = parent / "slow"
    shutil.copytree(problem_folder("softmax"), folder)
    kernel = folder / "v0.cpp"
    once = kernel.read_text().replace('extern "C" void solve', "static void softmax")
    kernel.write_text(once + AGAIN)
    return folder


def work(campaign: Campaign, bench: WorkerContext, state: str) -> None:
    """What a worker does until the campaign is in that state."""
    for _ in range(200):
        found = Campaign.objects.get(pk=campaign.pk)
        if found.state == state:
            return
        for key in advance(found).measure:
            evaluate(key, bench)
    raise AssertionError(f"{found}: is {found.state}, not {state}")


def test_a_better_kernel_is_accepted_a_wrong_one_is_not_and_the_rest_is_refused(
    run: Run, service: EvaluatorService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = replace(small.QUICK, blocks=6, burst_ms=4.0)
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    wish = ("--problem", str(slow_problem(tmp_path)), "--backend", "cpp", "--case", "2048x256")
    made = run(
        "campaign",
        "new",
        *wish,
        "--no-baselines",
        "--proposers",
        "person",
        "--rounds",
        "6",
        "--json",
    )
    assert made.code == 0, made.lines
    campaign = Campaign.objects.get(pk=made.data["campaign"])
    device = choose_device("tester")
    bench = WorkerContext(service, device, worker_beat("tester", device))
    work(campaign, bench, CampaignState.AWAITING)

    better, wrong = tmp_path / "better.cpp", tmp_path / "wrong.cpp"
    better.write_text(BETTER)
    wrong.write_text(WRONG)
    own = ("round", "submit", campaign.pk)
    refused = run(*own, better, "--title", "Faster")
    assert (refused.code, refused.lines[-1].partition(": ")[2]) == (
        1,
        "change: is needed; a hypothesis comes before its code",
    )
    assert run(*own, wrong, *SAID, "--json").data["waits"] is True
    work(campaign, bench, CampaignState.REPAIR)
    assert run("round", "repair", campaign.pk, "--none").code == 0
    work(campaign, bench, CampaignState.AWAITING)
    found = run("round", "show", campaign.pk, 2, "--json").data
    assert found["verdict"]["reason"] == "wrong_result"
    assert found["proposed_by"] == {"kind": "person", "name": "command line"}

    again = (*SAID, "--change", "the same, with a sum that is right")
    assert run(*own, better, FAST, *again, "--json").code == 0
    work(campaign, bench, CampaignState.IMPLEMENT)
    work(campaign, bench, CampaignState.AWAITING)
    found = run("round", "show", campaign.pk, 3, "--json").data
    assert found["verdict"]["verdict"] == "accepted", found["verdict"]["sentence"]
    twice = run(*own, better, FAST, *SAID, "--change", "nothing new")
    assert twice.code == 1
    assert twice.lines[-1].endswith("source: is the incumbent's, of round 3")
    twice = run(*own, wrong, "--flags=", *SAID, "--change", "nothing new")
    assert twice.lines[-1].endswith("source: round 2 had the same one")
    assert run("campaign", "stop", campaign.pk).code == 0
    work(campaign, bench, CampaignState.DONE)
    shown = run("campaign", "show", campaign.pk, "--json").data
    assert [(row["kind"], row["rounds"], row["accepted"]) for row in shown["by_proposer"]] == [
        ("person", 2, 1)
    ]
