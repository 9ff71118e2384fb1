"""Threads that work in bursts get cores of their own; all others may run as before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from campaigns.evaluator.judge.integrity import process_hold
from campaigns.evaluator.judge.integrity.process_hold import LEAST_S, ThreadPlaces, cpu_s

CPUS = os.sched_getaffinity(0)
# For each letter it is sent, some CPU time: "m" of the first thread, "w" also of a lasting one, "n"
# also of that and of a new one. A line with the lasting thread's number comes first.
WORKER = """
import hashlib, queue, sys, threading, time

def work():
    until = time.thread_time() + float(sys.argv[1])
    while time.thread_time() < until:
        hashlib.sha256(bytes(1 << 18))

asked, done = queue.Queue(), queue.Queue()

def serve():
    while True:
        asked.get()
        work()
        done.put(0)

lasting = threading.Thread(target=serve, daemon=True)
lasting.start()
print(lasting.native_id, flush=True)
for letter in iter(lambda: sys.stdin.read(1), ""):
    new = threading.Thread(target=work)
    if letter == "n":
        new.start()
    if letter != "m":
        asked.put(0)
    work()
    if letter != "m":
        done.get()
    if letter == "n":
        new.join()
    print(letter, flush=True)
"""


class Worker:
    """A process whose threads have worked as the letters say, and which is stopped."""

    def __init__(self):
        command = [sys.executable, "-c", WORKER, f"{LEAST_S}"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.pid = self._process.pid
        self.other = int(self._process.stdout.readline())
        self.places = ThreadPlaces()
        self.places.bind({self.pid})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._process:
            self._process.kill()

    def does(self, letters):
        """How many CPUs its threads may use when its next burst begins, and where they then are."""
        for letter in letters:
            self._process.stdin.write(letter)
            self._process.stdin.flush()
            assert self._process.stdout.readline().strip() == letter
        os.kill(self.pid, signal.SIGSTOP)
        self.places.bind({self.pid})
        found = [os.sched_getaffinity(thread) for thread in (self.pid, self.other)]
        os.kill(self.pid, signal.SIGCONT)
        self.places.release({self.pid})
        assert os.sched_getaffinity(self.pid) == CPUS
        return found


@pytest.fixture
def worker():
    with Worker() as started:
        yield started


needs_two = pytest.mark.skipif(len(CPUS) < 2, reason="there is one CPU")


@needs_two
def test_threads_that_work_together_get_cores_of_their_own(worker):
    first, other = worker.does("ww")
    assert (len(first), len(other), len(first | other)) == (1, 1, 2)


def test_cpu_time_is_that_of_all_threads_also_of_those_that_ended(worker):
    before_s = cpu_s(worker.pid)
    worker.does("wn")
    assert cpu_s(worker.pid) - before_s >= 5 * LEAST_S
    # No process has a number that high.
    assert not cpu_s(2**22 + 1)


@needs_two
@pytest.mark.parametrize("letters", ["mm", "nn"], ids=["alone", "with threads that end"])
def test_others_may_run_as_before(worker, letters):
    worker.does("ww")
    assert worker.does(letters) == [CPUS, CPUS]


@needs_two
def test_a_thread_that_the_candidate_has_bound_stays_there(worker):
    own = {max(CPUS)}
    os.sched_setaffinity(worker.other, own)
    assert worker.does("ww") == [CPUS, own]


def test_more_threads_than_cpus_are_not_bound(worker):
    worker.places = ThreadPlaces({min(CPUS)})
    assert worker.does("ww")[1] == CPUS


def test_threads_get_cores_before_the_second_half_of_one(monkeypatch):
    monkeypatch.setattr(process_hold, "_core_of", lambda cpu: "ab"[cpu // 2])
    monkeypatch.setattr(process_hold, "_last_cpu", {1: 0, 2: 1, 3: 1}.__getitem__)
    assert ThreadPlaces(range(4))._placed([1, 2]) == {1: 0, 2: 2}
    assert ThreadPlaces(range(4))._placed([1, 2, 3]) == {1: 0, 2: 2, 3: 1}
