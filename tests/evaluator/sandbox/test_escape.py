"""From inside a runner: every way out that we know of is tried, fails, and is written down."""

from __future__ import annotations

import os
import platform

import pytest

from campaigns.evaluator.contract import Outcome
from tests.evaluator.sandbox.attempts import EVERY
from tests.evaluator.sandbox.conftest import USERS
from tests.evaluator.small import source

CASES = [(user, theme, name) for user in USERS for theme in EVERY for name in EVERY[theme]]
pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="some attempts are made with x86_64's call numbers"
)


@pytest.fixture(scope="session", autouse=True)
def _shared_objects_of_others():
    """A POSIX and a System V object that everybody may open."""
    path = "/dev/shm/kopt-escape"
    with open(path, "w") as file:
        file.write("hunter2")
    os.chmod(path, 0o666)
    yield
    os.unlink(path)


@pytest.mark.parametrize(("user", "theme", "name"), CASES)
def test_r60_it_refuses(tried, user, theme, name):
    found, attempt = tried(user, theme), EVERY[theme][name]
    assert name in found.results, f"never ran: {found.report.reason}\n{found.report.runner_log}"
    result, code = found.results[name]
    assert result == -1
    assert code in attempt.errnos, os.strerror(code)
    recorded = attempt.recorded
    for key, value in found.values.items():
        recorded = recorded.replace(key, value)
    assert recorded in found.report.environment["refused"]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("theme", EVERY)
def test_it_does_not_disturb_an_honest_kernel(tried, run, user, theme):
    report = tried(user, theme).report
    assert report.outcome is Outcome.PASSED, report.reason
    assert "hunter2" not in report.runner_log
    assert run(user, source()).outcome is Outcome.PASSED


@pytest.mark.parametrize("user", USERS)
def test_it_names_the_layers_that_held(tried, user):
    held = tried(user, "files").report.environment["sandbox"]
    for layer in ("network", "mounts", "processes", "landlock", "seccomp", "audit"):
        assert layer in held
    assert ("uid" in held) == (user == "root")
    assert ("user namespace" in held) == (user != "root")
