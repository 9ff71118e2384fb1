"""Two real Celery workers at one search, one of them killed with -9 and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.campaigns.tasks.conftest import Installation
from tests.evaluator import small


def other_host_names() -> bool:
    """Whether a process here may call its host by another name."""
    try:
        return (
            subprocess.run(["unshare", "--uts", "hostname", "other"], check=False).returncode == 0
        )
    except OSError:
        return False


pytestmark = [
    pytest.mark.storage,
    pytest.mark.skipif(
        not os.environ.get("KOPT_BROKER_URL"), reason="workers of two hosts need a broker"
    ),
    pytest.mark.skipif(not other_host_names(), reason="no right to name a host (unshare --uts)"),
]

KERNEL = """constexpr int TILE = 64;
extern "C" void solve(const float* x, float* y, int N) {
  for (int b = 0; b < N; b += TILE)
    for (int i = b; i < b + TILE && i < N; ++i) y[i] = 2 * x[i];
}
"""
SHARE = """
SELECT w.name FROM campaigns_sweeporder o JOIN campaigns_evaluation e ON e.id = o.evaluation_id
JOIN campaigns_worker w ON w.id = e.worker_id WHERE o.built = ''
"""
DECIDED = "SELECT id FROM campaigns_evaluation WHERE kind = 'decide'"
POINTS = "SELECT count(*), count(DISTINCT number) FROM campaigns_sweeppoint"
PARAMS = "SELECT params FROM campaigns_sweeppoint"
LOST = "SELECT count(*) FROM campaigns_evaluation WHERE kind = 'share' AND outcome = 'broken_host'"
HOSTS = ("near", "far")


def test_a_search_goes_on_when_a_helper_is_killed(
    installation: Installation, tmp_path: Path
) -> None:
    installation.prepare()
    problem = small.write_problem(tmp_path, small.TOML.replace("4096", "65536"))
    (problem / "v0.cpp").write_text(KERNEL)
    wish = ["--problem", str(problem), "--backend", "cpp", "--rounds", "2"]
    campaign = json.loads(installation.manage("campaign", "new", *wish, "--no-baselines", "--json"))
    queues = f"default,platform.{campaign['platform']}"
    workers = {f"both@{host}": installation.start_worker(queues, host) for host in HOSTS}

    installation.wait(lambda: installation.select(SHARE), "variants in the hands of a helper")
    ((helper,), *_) = installation.select(SHARE)
    os.killpg(workers[helper].pid, signal.SIGKILL)
    workers[helper].wait()
    installation.start_worker(queues, helper.partition("@")[2])

    installation.wait(lambda: installation.select(DECIDED), "the end of the search")
    ((count, numbers),) = installation.select(POINTS)
    params = {json.dumps(row, sort_keys=True) for row in installation.select(PARAMS)}
    assert count == numbers == len(params) > 20
    assert installation.select(LOST) == [(1,)]
    assert installation.select("SELECT count(*) FROM campaigns_sweeporder") == [(0,)]
