"""How perf is called and believed: a stand-in for it, and the real one in the real box."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from campaigns.evaluator.contract import Outcome, Source
from campaigns.evaluator.profile import perf
from campaigns.profiles.perf import DEFAULT_COUNTERS, read_stat
from tests.evaluator.profile.standing_in import Open, counted, script, workplace

TEXT = """
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = x[i];
}
"""
TABLE = """# started on Sat Nov 28 12:00:00 2026

4000000,,cycles:u,2000000,100.00,,
8000000,,instructions:u,2000000,100.00,2.00,insn per cycle
1000,,cache-references:u,2000000,100.00,,
250,,cache-misses:u,2000000,100.00,25.00,of all cache refs
<not supported>,,branches:u,0,100.00,,
<not supported>,,branch-misses:u,0,100.00,,
"""


@pytest.fixture
def look(tmp_path, monkeypatch):
    """What is told of a source, where perf does this."""

    def run(does, text=TEXT, lock=None):
        program = script(tmp_path / "stand_in", f'echo "$@" > calls\n{does}\n')
        monkeypatch.setattr(perf.shutil, "which", lambda name: program)
        monkeypatch.setattr(perf, "cpp_compiler", lambda: "/usr/bin/g++")
        (tmp_path / "said").write_text(TABLE)
        with workplace(tmp_path, lock or Open()) as place:
            return counted(place, "cpp", "cpu", Source("kernel.cpp", text), *DEFAULT_COUNTERS)

    return run


def test_it_counts_user_code_of_the_calls_alone(look, tmp_path):
    lock = Open()
    found = look("cp said perf.csv", lock=lock)
    assert (found.tool, found.note, found.calls) == ("perf", "", 2)
    assert read_stat(found.text, "said")[0].values["ipc"] == 2
    called = (tmp_path / "calls").read_text()
    assert "stat -x , -o perf.csv -e cycles:u,instructions:u,cache-references:u," in called
    assert "--delay=-1 --control=fifo:tell,heard -- " in called
    assert re.search(r"python\S* \S+/profile/started\.py sealed \./program$", called)
    assert lock.opened == [True]


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("sed 's/^[0-9]*,/<not supported>,/' said > perf.csv", "hides its CPU's counters"),
        ("sed 's/^[0-9]*,/<not counted>,/' said > perf.csv", "no call of the candidate"),
        ("echo Access to performance monitoring is limited.; exit 255", "may not count"),
        ("echo something new; exit 3", "exit status 3: something new"),
    ],
)
def test_it_says_why_nothing_was_counted(look, does, words):
    found = look(does)
    assert found.text == ""
    assert words in found.note


def test_what_does_not_compile_is_told_by_the_compiler(look, tmp_path):
    found = look("cp said perf.csv", text=f"{TEXT}\nint bad = ;\n")
    assert found.note.startswith("it could not be run: ")
    assert not (tmp_path / "calls").exists()


def test_it_says_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(perf.shutil, "which", lambda name: None)
    with workplace(tmp_path, Open()) as place:
        found = counted(place, "cpp", "cpu", Source("kernel.cpp", TEXT), "cycles")
    assert found.note == "perf is not on this host; install linux-perf"


FILTERED = """
import ctypes, os
from campaigns.evaluator.sandbox import identity
from campaigns.evaluator.sandbox.linux import filters, numbers, seccomp
number, libc = numbers.number("perf_event_open"), ctypes.CDLL(None, use_errno=True)
def opened(cpu):
    at = libc.syscall(number, 0, 0, cpu, -1, 0)
    return os.strerror(ctypes.get_errno()) if at < 0 else "opened"
allowed = dict(programs=True, on_gpu=False, shares_uid=False, notify=False, changes_files=True)
identity.no_new_privileges()
seccomp.install(filters.program(filters.Permissions(**allowed, opens_events=True)), listen=False)
print(opened(0), opened(-1), sep="; ")
seccomp.install(filters.refusing(filters.FOR_EVENTS), listen=False)
print(opened(-1))
try:
    seccomp.install(filters.refusing(()), listen=False)
except OSError as error:
    print(error.strerror)
"""


def test_the_filter_lets_a_process_be_counted_and_no_cpu_until_it_is_taken_away():
    done = subprocess.run(
        [sys.executable, "-c", FILTERED], capture_output=True, text=True, check=True
    )
    refused = "Operation not permitted"
    # What is not refused comes to its argument, which is none.
    assert done.stdout.splitlines() == [f"{refused}; Bad address", refused, refused]


COUNTS_BY_ITSELF = """
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
extern "C" void solve(const float* x, float* y, int N) {
  long at = syscall(SYS_perf_event_open, 0, 0, -1, -1, 0);
  if (at >= 0 || errno != EPERM) abort();
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
"""


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not on this host")
def test_in_its_box_perf_counts_what_the_candidate_may_not(judge):
    """A virtual machine counts no cycles, but the time that the calls took is the kernel's own."""
    report = judge(Source("k.cpp", COUNTS_BY_ITSELF), timed=False, counters=("task-clock",))
    assert report.outcome is Outcome.PASSED
    assert report.profile.note == ""
    assert re.search(r"^[\d.]+,msec,task-clock:u,", report.profile.text, re.MULTILINE)
    assert report.profile.case
