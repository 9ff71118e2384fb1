"""A program with a sanitizer in it runs in the box as well, and ends with all it started."""

from __future__ import annotations

import os
import time

import pytest

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.sandbox.workplace import Workplace
from tests.evaluator.sandbox.conftest import USERS
from tests.evaluator.small import LOOP, source

HEADERS = """
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
"""
# Each that works writes behind the output, the further the later it stands here.
ATTEMPTS = (
    'open("SECRET", O_RDONLY) >= 0',
    'open("PROBLEM", O_RDONLY | O_DIRECTORY) >= 0',
    "socket(AF_INET, SOCK_STREAM, 0) >= 0",
    "ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0",
    "kill(getppid(), 0) == 0",
    "open(memory_of(getppid()), O_RDONLY) >= 0",
    'open("/usr/bin/kopt-was-here", O_WRONLY | O_CREAT, 0644) >= 0',
)
MEMORY = """
static const char* memory_of(int process) {
  static char at[64];
  snprintf(at, sizeof at, "/proc/%d/mem", process);
  return at;
}
"""


def trying(place, attempts):
    lines = [f"if ({text}) ((volatile float*)y)[N + {k}] = 1;" for k, text in enumerate(attempts)]
    body = "\n".join([*lines, LOOP])
    body = body.replace("SECRET", str(place / "secret")).replace("PROBLEM", str(place / "double"))
    return source(body, f"#include <stdio.h>{HEADERS}{MEMORY}")


@pytest.mark.parametrize("user", USERS)
def test_it_reaches_nothing_from_a_sanitized_program(run, place, user):
    report = run(user, trying(place, ATTEMPTS), sanitize=True)
    assert report.outcome is Outcome.PASSED, report.reason
    address = report.sanitized[0]
    assert (address.ran, address.faults) == (True, ()), address.note


def test_it_would_see_an_attempt_that_works(run, place):
    works = 'open("/dev/null", O_RDONLY) >= 0'
    report = run(USERS[0], trying(place, (*ATTEMPTS, works)), sanitize=True)
    (fault,) = report.sanitized[0].faults
    assert f"{4 * len(ATTEMPTS)} bytes" in fault.what


class Open:
    """A lock that closes nothing."""

    def sanitized(self, seconds):
        return lambda: None


@pytest.fixture
def workplace(tmp_path):
    log = os.memfd_create("log")
    yield Workplace(tmp_path, Open(), log, 60.0)
    os.close(log)


def test_it_ends_one_that_closes_its_output_and_goes_on(workplace):
    begun = time.monotonic()
    ended = workplace.run_sanitized(["sh", "-c", "exec >&- 2>&-; sleep 60"], {}, 0.5)
    assert ended.words == "killed by SIGKILL"
    assert time.monotonic() - begun < 30


def test_it_ends_what_one_leaves_behind(workplace, tmp_path):
    command = "(exec >&- 2>&-; sleep 60) & echo $! >&1; exit 3"
    ended = workplace.run_sanitized(["sh", "-c", command], {}, 20.0)
    assert ended.words == "exit status 3"
    left = int(ended.log)
    deadline = time.monotonic() + 20
    while os.path.exists(f"/proc/{left}") and time.monotonic() < deadline:
        with open(f"/proc/{left}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                break
        time.sleep(0.05)
    else:
        assert not os.path.exists(f"/proc/{left}")


def test_it_gives_options_to_the_program(workplace):
    ended = workplace.run_sanitized(
        ["sh", "-c", "echo $ASAN_OPTIONS $HOME"], {"ASAN_OPTIONS": "x=1"}, 20.0
    )
    assert ended.log.split() == ["x=1", os.environ["HOME"]]
    assert ended.status == 0
