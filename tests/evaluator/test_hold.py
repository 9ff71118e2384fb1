"""The judge stops what runs below its supervisor, itself and what stands between left out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from campaigns.evaluator.errors import HostError
from campaigns.evaluator.judge.hold import Hold, below

# A stand-in for the supervisor: it starts a runner with a child, and a judge that holds them.
SCRIPT = """
import os, signal, subprocess, sys, time
from campaigns.evaluator.judge.hold import Hold

def state(pid):
    return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]

runner = subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60"])
other = subprocess.Popen(["sleep", "60"])
time.sleep(0.3)
judge = os.fork()
if judge == 0:
    hold = Hold()
    hold.freeze()
    child = int(open(f"/proc/{runner.pid}/task/{runner.pid}/children").read().split()[0])
    told = [state(runner.pid), state(child), state(other.pid)]
    hold.thaw(runner.pid)
    time.sleep(0.1)
    told += [state(runner.pid), state(child), state(other.pid)]
    os.write(1, "".join(told).encode())
    os._exit(0)
os.waitpid(judge, 0)
os.killpg(0, signal.SIGKILL)
"""


def test_it_stops_all_and_lets_one_go_on():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, start_new_session=True
    )
    assert done.stdout == "TTTSST", done.stderr


def test_it_stops_nobody_once_its_supervisor_has_gone(monkeypatch):
    hold = Hold()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(HostError, match="lost its supervisor"):
        hold.freeze()


def test_it_finds_children_of_children():
    process = subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True)
    try:
        deadline = time.monotonic() + 10
        while len(below(process.pid)) < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.pid in below(os.getpid())
        assert below(process.pid) <= below(os.getpid())
        assert len(below(process.pid)) == 1
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
