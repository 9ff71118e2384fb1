"""A real Celery worker, killed with -9 in a second session: the claim is not lost, nor believed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.architecture.source_tree import ROOT
from tests.campaigns.tasks.conftest import Installation
from tests.evaluator import small

# Twenty times the work, which no compiler leaves out and whose gain no load hides; the round's
# candidate does it once.
KERNEL = """
extern "C" void solve(const float* x, float* y, int N) {
  for (int pass = 0; pass < PASSES; ++pass)
    for (int i = 0; i < N; ++i) ((volatile float*)y)[i] = 2 * ((const volatile float*)x)[i];
}
"""
# A campaign up to the round whose first session is queued, with a draft of our own.
OPEN = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "kopt.settings"
import django
django.setup()
from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Source
from campaigns.models import Campaign
from campaigns.rules.verdict.buckets import Bucket
from campaigns.proposers.base import Draft, Hypothesis, MetricDirection, Variant
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.worker import WorkerContext
from campaigns.steps.rounds.open_round import open_round
from campaigns.steps.worker import worker_beat
campaign = Campaign.objects.get()
confirm(campaign)
device = this_device()
with EvaluatorService() as service:
    bench = WorkerContext(service, device, worker_beat("opener", device))
    while campaign.state != "analyze":
        for key in advance(campaign).measure:
            evaluate(key, bench)
        campaign = Campaign.objects.get()
        assert not campaign.is_finished, campaign.stop_sentence
hypothesis = Hypothesis(
    strategy="own", title="One pass", change="passes", rationale="three are for nothing",
    evidence=("seen",), expected_metric="time_us", expected_direction=MetricDirection.DOWN,
    expected_amount=0.5, risks="none", params={}, bucket=Bucket.K1,
)
open_round(campaign, Draft(hypothesis, (Variant("one pass", Source("v1.cpp", sys.argv[1])),)), 1)
"""
SECOND = (
    "SELECT id FROM campaigns_evaluation "
    "WHERE kind = 'remeasure' AND state = 'running' AND phase <> 'start'"
)
WORDS = "SELECT word FROM campaigns_standing ORDER BY id"


def write_problem(parent: Path) -> Path:
    folder = small.write_problem(parent, small.TOML.replace("4096", "65536"))
    (folder / "v0.cpp").write_text(KERNEL.replace("PASSES", "20"))
    return folder


def test_it_goes_on_with_the_second_session_in_another_worker(
    installation: Installation, tmp_path: Path
) -> None:
    installation.prepare()
    wish = ["--problem", str(write_problem(tmp_path)), "--backend", "cpp", "--rounds", "2"]
    campaign = json.loads(
        installation.manage("campaign", "new", *wish, "--no-baselines", "--draft", "--json")
    )
    faster = KERNEL.replace("PASSES", "1")
    opened = [sys.executable, "-c", OPEN, faster]
    subprocess.run(opened, cwd=ROOT, env=installation.env, check=True)

    queues = f"default,platform.{campaign['platform']}"
    first = installation.start_worker(queues)
    installation.wait(lambda: installation.select(SECOND), "a second session")
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    # Nothing is believed yet.
    assert installation.select(WORDS) == [("claimed",)]
    assert installation.select("SELECT state FROM campaigns_round WHERE number = 2") == [
        ("claimed",)
    ]
    assert installation.select("SELECT count(*) FROM campaigns_verdict") == [(1,)]

    installation.start_worker(queues)
    installation.wait(
        lambda: installation.select("SELECT state FROM campaigns_campaign") == [("done",)],
        "the campaign's end",
    )
    ends = installation.select("SELECT kind, outcome, reason FROM campaigns_evaluation ORDER BY id")
    assert installation.select(WORDS) == [("claimed",), ("verified",)], ends
    verdicts = "SELECT word FROM campaigns_verdict ORDER BY id"
    assert installation.select(verdicts) == [("accepted",), ("accepted",)]
    ended = [kind for kind, outcome, _ in ends if outcome == "passed"]
    assert {"decide", "remeasure", "report"} <= set(ended), ends
    assert ended.index("decide") < ended.index("remeasure") < ended.index("report")
