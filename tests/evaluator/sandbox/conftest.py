"""One evaluation per theme and user, shared by all tests that look at what became of an attempt."""

from __future__ import annotations

import multiprocessing
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Job, Report, Source
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.evaluator.sandbox import places, probe
from campaigns.evaluator.sandbox.layers import SandboxPlan
from campaigns.evaluator.sandbox.policy import Policy
from tests.evaluator import small
from tests.evaluator.sandbox import attempts, hosts
from tests.evaluator.sandbox.ordinary import Ordinary

LINE = re.compile(r"^try (.+) (-?\d+) (\d+)$", re.MULTILINE)
ROOT = os.getuid() == 0
# As root both ways are tried; an ordinary user has only its own.
USERS = ("root", "nobody") if ROOT else ("itself",)


@dataclass(frozen=True)
class Tried:
    """A report, and what each attempt printed: result and errno."""

    report: Report
    results: dict[str, tuple[int, int]]
    values: dict[str, str]


@pytest.fixture(scope="session")
def plan() -> SandboxPlan:
    return probe.plan_for("cpu")


@pytest.fixture(scope="session")
def clean() -> ForkServerContext:
    """Processes whose parent never ran torch: a fork of its OpenMP threads would wait for ever."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["campaigns.evaluator.judge.session", hosts.__name__])
    return context


@pytest.fixture
def with_layers(clean, problem, tmp_path) -> Callable[..., Report]:
    """Evaluate a candidate on a host that has only these layers, without a service.

    broken: run in the supervisor's process first, to spoil a layer there.
    """

    def run(
        plan: SandboxPlan,
        candidate: Source | None = None,
        *,
        require_all: bool = False,
        shipped: bool = True,
        broken: Callable[[], None] = hosts.whole,
    ) -> Report:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        job_file, report_file = scratch / "job.json", tmp_path / "report.json"
        job = small.job(problem, tmp_path, candidate or small.source(), timed=False)
        job = replace(job, shipped=shipped)
        job_file.write_text(dump(job))
        policy = Policy(require_all=require_all, _plans={"cpu": plan})
        # Apart, since a supervisor ends all children of its process.
        arguments = (job_file, policy, broken, report_file)
        child = clean.Process(target=hosts.supervise_one, args=arguments)
        child.start()
        child.join()
        return load_report(report_file.read_text())

    return run


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    """A folder that everybody may enter, with a secret that everybody may read."""
    with tempfile.TemporaryDirectory(prefix="kopt-escape-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        for name in ("secret", "db.sqlite3"):
            (root / name).write_text("#error hunter2\nhunter2 = 1;\n")
            (root / name).chmod(0o644)
        (root / "scratch").mkdir()
        (root / "scratch").chmod(0o777)
        small.write_problem(root)
        yield root


@pytest.fixture(scope="session")
def evaluate_as(service) -> Iterator[Callable[[str, Job], Report]]:
    """Evaluate a job as one of USERS."""
    with Ordinary() as ordinary:
        services = {"nobody": ordinary}
        yield lambda user, job: services.get(user, service).evaluate(job)


@pytest.fixture(scope="session")
def run(evaluate_as, place) -> Callable[..., Report]:
    """Evaluate a candidate as one of USERS; its scratch is the same for all."""

    def evaluate(user: str, candidate: Source, **more: object) -> Report:
        job = small.job(place / "double", place / "scratch" / user, candidate, **more)
        return evaluate_as(user, job)

    return evaluate


@pytest.fixture(scope="session")
def tried(service, evaluate_as, place) -> Callable[[str, str], Tried]:
    """What became of all attempts of a theme, made by a runner of `user`."""
    known: dict[str, dict[str, Tried]] = {}

    def look(user: str, theme: str) -> Tried:
        if user not in known:
            values = _values(service, place, user)
            jobs = [
                small.job(
                    place / "double",
                    place / "scratch" / user,
                    attempts.candidate(listed, values),
                    job_id=name,
                )
                for name, listed in attempts.EVERY.items()
            ]
            known[user] = {
                report.job_id: Tried(report, results(report.runner_log), values)
                for report in (evaluate_as(user, job) for job in jobs)
            }
        return known[user][theme]

    return look


def results(log: str) -> dict[str, tuple[int, int]]:
    return {name: (int(result), int(code)) for name, result, code in LINE.findall(log)}


def _values(service, place: Path, user: str) -> dict[str, str]:
    service._ready()
    return {
        "SECRET": str(place / "secret"),
        "DATABASE": str(place / "db.sqlite3"),
        "PROBLEM": str(place / "double"),
        "SCRATCH": str(place / "scratch" / user / "scratch"),
        "HOME": str(Path.home()),
        "PYTHON": str(Path(os.__file__).parent),
        "EVALUATOR": str(places.EVALUATOR),
        "SHARED": "/dev/shm/kopt-escape",
        "SERVICE": str(service._process.pid),
    }
