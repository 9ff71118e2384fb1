"""Where a host lets nobody make namespaces, Landlock and the filter have to hold by themselves."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.sandbox import folder
from campaigns.evaluator.sandbox.layers import Layer
from tests.evaluator import small
from tests.evaluator.sandbox import attempts
from tests.evaluator.sandbox.conftest import ROOT, Tried, results
from tests.evaluator.sandbox.hosts import without
from tests.evaluator.sandbox.ordinary import NOBODY, Ordinary
from tests.evaluator.small import LOOP, source

# As in a container without CAP_SYS_ADMIN whose Python only root may read.
NAMESPACES = (
    *(Layer.USER, Layer.NETWORK, Layer.MOUNTS, Layer.PROC, Layer.HOSTNAME, Layer.IPC),
    *(Layer.PROCESSES, Layer.UID),
)
WORDS = "a setting of the worker's user"
DEEP = """
  for (int i = 0; i < 3000 && !mkdir("deeper", 0700) && !chdir("deeper"); ++i) {}
  symlink(MINE, "link"); mkdir("closed", 0);
"""


@pytest.fixture(scope="module", params=("itself", "nobody") if ROOT else ("itself",))
def user(request):
    return request.param


@pytest.fixture
def mine(place, user):
    """A file of the user that the worker runs as."""
    file = place / f"mine-{user}"
    file.write_text(WORDS)
    file.chmod(0o640)
    if user == "nobody":
        os.chown(file, NOBODY, NOBODY)
    yield file
    file.unlink()


@pytest.fixture(scope="module")
def ordinary():
    with Ordinary(namespaces=False) as running:
        yield running


@pytest.fixture
def bare(with_layers, place, plan, user, ordinary):
    """Evaluate on a host of that kind, in a worker of that user."""

    def run(candidate):
        if user == "itself":
            return with_layers(without(plan, *NAMESPACES), candidate)
        job = small.job(
            place / "double", place / "scratch" / "bare", candidate, timed=False, shipped=True
        )
        return ordinary.evaluate(job)

    return run


@pytest.fixture
def tried(bare, mine):
    values = {"MINE": str(mine), "SHARED": "/dev/shm/kopt-bare", "SERVICE": str(os.getpid())}
    Path(values["SHARED"]).write_text(WORDS)
    Path(values["SHARED"]).chmod(0o666)
    report = bare(attempts.candidate(attempts.WITHOUT_A_VIEW, values))
    Path(values["SHARED"]).unlink()
    return Tried(report, results(report.runner_log), values)


def test_it_refuses_without_a_view(tried, mine, plan):
    report = tried.report
    assert report.outcome is Outcome.PASSED, f"{report.reason}\n{report.runner_log}"
    assert "mounts" not in report.environment["sandbox"]
    assert tried.results.keys() == attempts.WITHOUT_A_VIEW.keys()
    worked = {
        name: (result, os.strerror(code))
        for name, (result, code) in tried.results.items()
        if result != -1 or code not in attempts.WITHOUT_A_VIEW[name].errnos
    }
    assert worked == {}
    refused = report.environment["refused"].replace(str(mine), "MINE")
    recorded = {attempt.recorded for attempt in attempts.WITHOUT_A_VIEW.values()}
    assert {words for words in recorded if words not in refused} == set()
    assert mine.read_text() == WORDS
    assert mine.stat().st_mode & 0o777 == 0o640


def test_it_runs_honest_kernels_without_a_view(bare):
    report = bare(source())
    assert report.outcome is Outcome.PASSED, f"{report.reason}\n{report.runner_log}"
    assert "refused" not in report.environment


def test_it_removes_what_was_left_and_still_says_what_was_seen(with_layers, plan, tmp_path):
    """Without Landlock as well, so that there is something left."""
    outside = tmp_path / "outside"
    outside.write_text(WORDS)
    includes = (
        "#include <sys/stat.h>\n#include <unistd.h>\n#include <stdio.h>\n#include <signal.h>\n"
    )
    body = 'char at[500]; fprintf(stderr, "in %s\\n", getcwd(at, 500)); kill(-1, 0);'
    text = f"{body}\n{DEEP.replace('MINE', chr(34) + str(outside) + chr(34))}\n{LOOP}"
    first = f"static int calls = 0; if (calls++ == 0) {{ {text} }}\n{LOOP}"
    report = with_layers(without(plan, *NAMESPACES, Layer.LANDLOCK), source(first, includes))
    assert report.outcome is Outcome.PASSED, f"{report.reason}\n{report.runner_log}"
    assert "kill ×1" in report.environment["refused"]
    (place,) = re.findall(r"^in (.+)$", report.runner_log, re.MULTILINE)
    assert folder.PREFIX in place
    deadline = time.monotonic() + 60
    while os.path.exists(place) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(place)
    assert outside.read_text() == WORDS
