"""The judge stops what runs below its supervisor, itself and what stands between left out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from campaigns.evaluator.contract.errors import HostError
from campaigns.evaluator.judge.integrity import process_hold
from campaigns.evaluator.judge.integrity.process_hold import (
    ProcessHold,
    StopRefused,
    below,
    parent_of,
)

# A stand-in for the supervisor: it starts a runner with a child, and a judge that holds them.
SCRIPT = """
import os, signal, subprocess, sys, time
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold

def state(pid):
    return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]

runner = subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60"])
other = subprocess.Popen(["sleep", "60"])
time.sleep(0.3)
judge = os.fork()
if judge == 0:
    hold = ProcessHold()
    hold.freeze()
    child = int(open(f"/proc/{runner.pid}/task/{runner.pid}/children").read().split()[0])
    told = [state(runner.pid), state(child), state(other.pid)]
    hold.thaw(runner.pid)
    time.sleep(0.1)
    told += [state(runner.pid), state(child), state(other.pid)]
    hold.kill(runner.pid)
    time.sleep(0.1)
    told += [state(runner.pid), state(other.pid)]
    os.write(1, "".join(told).encode())
    os._exit(0)
os.waitpid(judge, 0)
os.killpg(0, signal.SIGKILL)
"""


def ran(script: str) -> subprocess.CompletedProcess[str]:
    """It ends its process group, which therefore is one of its own."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, start_new_session=True)


def test_it_stops_all_lets_one_go_on_and_ends_it():
    done = ran(SCRIPT)
    assert done.stdout == "TTTSSTZT", done.stderr


# A process chooses its name, byte by byte.
NAMELESS = r"""
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, b"\xff) R 1 (\xfe", 0, 0, 0)
print("named", flush=True)
time.sleep(60)
"""


def test_it_reads_the_state_of_a_process_whose_name_is_no_text():
    process = subprocess.Popen([sys.executable, "-c", NAMELESS], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"named\n"
        assert parent_of(process.pid) == os.getpid()
        os.kill(process.pid, signal.SIGSTOP)
        process_hold._await_rest(process.pid, time.monotonic() + 60, 0.0)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("syscall", "at_rest"),
    [
        pytest.param(b"running\n", False, id="on its way there"),
        pytest.param(b"-1 0x7ffcdf200ef0 0x7f0464efe1cc\n", True, id="off its core"),
        pytest.param(None, True, id="not told"),
    ],
)
def test_one_that_is_called_stopped_is_at_rest_when_it_has_left_its_core(
    monkeypatch, syscall, at_rest
):
    def read(path):
        if path.endswith("/stat"):
            return b"1 (python) T 0 1 1"
        assert path.endswith("/syscall")
        if syscall is None:
            raise PermissionError(13, "Permission denied", path)
        return syscall

    monkeypatch.setattr(process_hold, "_whole", read)
    assert process_hold._at_rest(os.getpid()) is at_rest


def test_the_host_tells_of_one_that_has_left_its_core():
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    path = f"/proc/{process.pid}/task/{process.pid}/syscall"
    try:
        if not Path(path).exists():
            pytest.skip("this host does not tell")
        # While Python starts it may wait for the disk.
        deadline = time.monotonic() + 60
        while (told := process_hold._whole(path)) != b"running\n" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert told == b"running\n"
        os.kill(process.pid, signal.SIGSTOP)
        process_hold._await_rest(process.pid, time.monotonic() + 60, 0.0)
        assert not process_hold._whole(path).startswith(b"running")
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("used_s", "slept", "error"),
    [
        pytest.param(0.5, 3, HostError, id="no core to stop on"),
        pytest.param(2.0, 3, StopRefused, id="system calls that do not end"),
        pytest.param(0.5, 300, StopRefused, id="let go on by itself"),
    ],
)
def test_it_tells_a_busy_host_from_one_that_will_not_stop(monkeypatch, used_s, slept, error):
    counts = iter([1, 1 + slept])
    told = "voluntary_ctxt_switches:\t{}"
    monkeypatch.setattr(process_hold, "_at_rest", lambda pid: False)
    monkeypatch.setattr(process_hold, "cpu_s", lambda pid: used_s)
    monkeypatch.setattr(
        process_hold, "_standing", lambda pid: {"1": (told.format(next(counts)).encode(),)}
    )
    with pytest.raises(error):
        process_hold._await_rest(1, time.monotonic() - 1, 0.0)


# The same, and whom the judge sees going on that it has not let go on.
WOKEN = """
import os, signal, subprocess, sys, time
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold

runner = subprocess.Popen(["sleep", "60"])
other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
time.sleep(0.3)
judge = os.fork()
if judge == 0:
    hold = ProcessHold()
    hold.know("incumbent", runner.pid)
    hold.know("candidate", other.pid)
    told = []
    for wake in (lambda: None, lambda: hold.thaw(runner.pid), lambda: os.kill(other.pid, 18)):
        hold.freeze()
        wake()
        time.sleep(0.2)
        moved = hold.moved()
        told.append(hold.whose(moved) if moved else "nobody")
    os.write(1, " ".join(told).encode())
    os._exit(0)
os.waitpid(judge, 0)
os.killpg(0, signal.SIGKILL)
"""


def test_it_sees_who_goes_on_without_being_let():
    done = subprocess.run(
        [sys.executable, "-c", WOKEN], capture_output=True, text=True, start_new_session=True
    )
    assert done.stdout == "nobody nobody candidate", done.stderr


# An orphan belongs to the arm whose warden has taken it in; an arm that is ended leaves nothing.
EXPELLED = """
import os, signal, time
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold, below
from campaigns.evaluator.sandbox.processes import adopt_orphans, end_descendants

def arm():
    read, write = os.pipe()
    if warden := os.fork():
        return warden, int(os.read(read, 64))
    adopt_orphans()
    if not (runner := os.fork()):
        if not os.fork() and os.fork():
            os._exit(0)
        time.sleep(60)
        os._exit(0)
    os.write(write, b"%d" % runner)
    os.waitpid(runner, 0)
    end_descendants()
    time.sleep(60)
    os._exit(0)

arms = {name: arm() for name in ("candidate", "rival 1")}
time.sleep(0.5)
if not (judge := os.fork()):
    hold = ProcessHold()
    for name, (_, runner) in arms.items():
        hold.know(name, runner)
    hold.freeze()
    told = []
    for name, (warden, _) in arms.items():
        told.append({hold.whose(pid) for pid in below(warden)} == {name})
    warden, _ = arms["rival 1"]
    told.append(len(below(warden)))
    hold.expel("rival 1")
    told += [len(below(warden)), hold.moved()]
    os.write(1, f"{told}".encode())
    os._exit(0)
os.waitpid(judge, 0)
os.killpg(0, signal.SIGKILL)
"""


def test_it_ends_an_arm_with_all_that_it_has_started():
    done = ran(EXPELLED)
    # The runner, its child that has ended, and the orphan of that one.
    assert done.stdout == "[True, True, 3, 0, 0]", done.stderr


def test_it_stops_nobody_once_its_supervisor_has_gone(monkeypatch):
    hold = ProcessHold()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(HostError, match="lost its supervisor"):
        hold.freeze()


def test_it_finds_children_of_children():
    process = subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while len(below(process.pid)) < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.pid in below(os.getpid())
        assert below(process.pid) <= below(os.getpid())
        assert len(below(process.pid)) == 1
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
