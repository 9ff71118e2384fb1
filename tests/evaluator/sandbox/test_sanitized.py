"""A program with a sanitizer in it runs in the box as well, and ends with all it started."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.sandbox.layers import Layer
from campaigns.evaluator.sandbox.lock import Lock, NotLocked, RunnerBox
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


WRITES = "#include <signal.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"


def looked_at(run, user, body, more=""):
    report = run(user, source(f"{body}\n{LOOP}\n{more}", WRITES), sanitize=True)
    assert report.outcome is Outcome.PASSED, report.reason
    return report


@pytest.mark.parametrize("user", USERS)
def test_it_cleans_what_a_sanitized_program_wrote(run, user):
    """As text for people, and for a database that stores no zero character."""
    said = r'fprintf(stderr, "error: a%cb\033]0;title\007\u202ec\n", 0); fflush(stderr); _exit(9);'
    note = looked_at(run, user, said).sanitized[0].note
    assert note.endswith("error: ab]0;titlec")
    forged = r"""FILE* log = fopen("asan.0", "w");
      fprintf(log, "==1==ERROR: AddressSanitizer: made up\nx is located here\033%cthere\n", 0);
      fclose(log);"""
    (fault,) = looked_at(run, user, forged).sanitized[0].faults
    assert (fault.kind, fault.what) == ("made up", "herethere")


@pytest.mark.parametrize(
    "trap",
    [
        'mkdir("asan.0", 0700);',
        'mkfifo("asan.0", 0600);',
        'symlink("/dev/zero", "asan.0");',
        'for (int i = 0; i < 9000; ++i) { char at[20]; sprintf(at, "tsan.%d", i); '
        'FILE* log = fopen(at, "w"); if (log) { truncate(at, 1 << 29); fclose(log); } }',
        'unlink("AddressSanitizer"); mkfifo("AddressSanitizer", 0600);',
    ],
)
def test_it_is_not_kept_from_a_finding_by_what_lies_in_its_folder(run, trap):
    said = looked_at(run, USERS[0], trap, "((volatile float*)y)[N] = 1;").sanitized
    assert [fault.kind for fault in said[0].faults] == ["heap-buffer-overflow"]


def test_it_runs_none_on_a_gpu_that_nothing_would_hold(workplace, plan):
    holds = {Layer.NETWORK: "", Layer.UID: "", Layer.LANDLOCK: "7", Layer.SECCOMP: ""}
    lacking = replace(plan, kind="cuda", holds=holds)
    assert lacking.no_watching.endswith("than there is: mounts, processes")
    box = RunnerBox(lacking, None, workplace.folder, -1, -1, memory_is_bounded=True)
    with pytest.raises(NotLocked, match="mounts, processes"):
        Lock(box, 1.0, watched=True).watched(1.0)
    assert replace(lacking, kind="cpu").no_watching == ""


def test_it_would_see_an_attempt_that_works(run, place):
    works = 'open("/dev/null", O_RDONLY) >= 0'
    report = run(USERS[0], trying(place, (*ATTEMPTS, works)), sanitize=True)
    (fault,) = report.sanitized[0].faults
    assert f"{4 * len(ATTEMPTS)} bytes" in fault.what


class Open:
    """A lock that closes nothing."""

    files = ()

    def watched(self, seconds, *, opens_events=False):
        return lambda: None

    def seal(self, *, programs):
        pass


@pytest.fixture
def workplace(tmp_path):
    log = os.memfd_create("log")
    yield Workplace(tmp_path, Open(), log, 60.0)
    os.close(log)


def test_it_ends_one_that_closes_its_output_and_goes_on(workplace):
    ended = workplace.run_watched(["sh", "-c", "exec >&- 2>&-; sleep 60"], {}, 0.5)
    assert ended.words == "killed by SIGKILL"


def test_it_ends_what_one_leaves_behind(workplace, tmp_path):
    command = "(exec >&- 2>&-; sleep 60) & echo $! >&1; exit 3"
    ended = workplace.run_watched(["sh", "-c", command], {}, 20.0)
    assert ended.words == "exit status 3"
    assert is_gone(int(ended.log))


def test_it_ends_what_one_built_apart_leaves_behind(workplace):
    def body():
        child = os.fork()
        if child == 0:
            for fd in (1, 2):
                os.close(fd)
            time.sleep(60)
            os._exit(0)
        os.write(1, str(child).encode())
        return 3

    ended = workplace.apart(body)
    assert ended.words == "exit status 3"
    assert is_gone(int(ended.log))


def is_gone(process):
    """Whether it has ended, or does within some seconds."""
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{process}") and time.monotonic() < deadline:
        with open(f"/proc/{process}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                return True
        time.sleep(0.05)
    return not os.path.exists(f"/proc/{process}")


def test_it_gives_options_to_the_program(workplace):
    ended = workplace.run_watched(
        ["sh", "-c", "echo $ASAN_OPTIONS $HOME"], {"ASAN_OPTIONS": "x=1"}, 20.0
    )
    assert ended.log.split() == ["x=1", os.environ["HOME"]]
    assert ended.status == 0
