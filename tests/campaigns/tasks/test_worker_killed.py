"""A real Celery worker, killed with -9 in the middle of a measurement and started again."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.campaigns.tasks.conftest import Installation
from tests.evaluator import small

pytestmark = [pytest.mark.storage, pytest.mark.sentinel]

# Twice the work that is needed, which no compiler leaves out.
KERNEL = """
extern "C" void solve(const float* x, float* y, int N) {
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < N; ++i) ((volatile float*)y)[i] = 2 * ((const volatile float*)x)[i];
}
"""
RUNNING = "SELECT id FROM campaigns_evaluation WHERE state = 'running' AND phase <> 'start'"
STATE = "SELECT state FROM campaigns_campaign"


def test_it_goes_on_when_its_worker_is_killed_and_started_again(
    installation: Installation, tmp_path: Path
) -> None:
    installation.prepare()
    problem = small.write_problem(tmp_path, small.TOML.replace("4096", "65536"))
    (problem / "v0.cpp").write_text(KERNEL)
    wish = ["--problem", str(problem), "--backend", "cpp", "--rounds", "2"]
    campaign = json.loads(installation.manage("campaign", "new", *wish, "--no-baselines", "--json"))
    queues = f"default,platform.{campaign['platform']}"
    first = installation.start_worker(queues)
    installation.wait(lambda: installation.select(RUNNING), "a running evaluation")
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert installation.select(RUNNING)

    installation.start_worker(queues)
    installation.wait(
        lambda: installation.select(STATE) in ([("done",)], [("aborted",)]), "the campaign's end"
    )
    assert installation.select(STATE) == [("done",)]
    assert installation.select("SELECT number, state FROM campaigns_round ORDER BY number") == [
        (1, "closed"),
        (2, "closed"),
    ]
    assert installation.select("SELECT count(*) FROM campaigns_verdict") == [(2,)]
    vanished = "SELECT count(*) FROM campaigns_event WHERE kind = 'worker_vanished'"
    assert installation.select(vanished) == [(1,)]
    assert installation.select("SELECT max(claims) FROM campaigns_evaluation") == [(2,)]
