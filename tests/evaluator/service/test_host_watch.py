"""What the judge sees around a measurement, on made-up hosts and on this one."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch

from campaigns.evaluator.service import host_watch
from tests.evaluator import small

CPU = torch.device("cpu")
# Ticks of user, nice, system, idle, iowait, irq, softirq and steal.
QUIET = "cpu 9 9 9 9 9 9 9 9\ncpu0 500 0 500 5000 10 5 5 100\ncpu1 500 0 0 4000 0 0 0 0\n"


@pytest.fixture
def host(monkeypatch, tmp_path):
    """A host whose files a test writes; time goes on by two seconds with every look."""
    proc, cpus = tmp_path / "proc", tmp_path / "cpus"
    (proc / "pressure").mkdir(parents=True)
    cpus.mkdir()
    monkeypatch.setattr(host_watch, "PROC", proc)
    monkeypatch.setattr(host_watch, "CPUS", cpus)
    monkeypatch.setattr(host_watch.os, "sysconf", lambda name: 100)
    monkeypatch.setattr(host_watch.os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(host_watch, "below", lambda pid: {77})
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr(host_watch.time, "monotonic", lambda: float(next(clock)))
    (proc / "stat").write_text(QUIET)
    (proc / "loadavg").write_text("1.25 1.00 0.50 2/300 4711\n")
    (proc / "77").mkdir()
    (proc / "77" / "stat").write_bytes(_stat(0))
    return proc


def _stat(ticks):
    """A runner whose name is as bad as names get, with so much CPU time."""
    return b"77 (a\xff) b ( R 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0" % ticks


def _waited(host, microseconds):
    text = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={microseconds}\nfull avg10=0 total=0\n"
    (host / "pressure" / "cpu").write_text(text)


def test_it_counts_the_cpus_that_others_keep_busy(host):
    seen = host_watch.HostWatch(CPU)
    # In two seconds of 100 ticks: 360 ticks of work, 100 of them by the runner.
    # CPU 2 is not ours to use.
    busy = "cpu0 600 0 550 5000 10 10 10 100\ncpu1 700 0 0 4000 0 0 0 0\ncpu2 900 0 0 0 0 0 0 0\n"
    (host / "stat").write_text(busy)
    (host / "77" / "stat").write_bytes(_stat(100))
    assert seen.look("c", 1).others == pytest.approx(1.3)
    assert seen.look("c", 2).others == 0.0


def test_it_tells_the_share_that_others_took_since_it_was_last_begun(host):
    seen = host_watch.HostWatch(CPU)
    (host / "stat").write_text(QUIET.replace("cpu1 500", "cpu1 900"))
    assert seen.others_share() == pytest.approx(1.0)
    seen.begin()
    assert seen.others_share() == 0.0


def test_it_tells_what_waited_and_what_was_stolen_since_the_look_before(host):
    _waited(host, 5_000_000)
    seen = host_watch.HostWatch(CPU)
    _waited(host, 5_500_000)
    (host / "stat").write_text(QUIET.replace("5000 10 5 5 100", "5180 10 5 5 120"))
    found = seen.look("c", 1)
    assert (found.pressure, found.stolen) == (pytest.approx(0.25), pytest.approx(0.1))
    assert (found.load, found.case, found.block) == (1.25, "c", 1)
    assert seen.look("c", 2).pressure == 0.0


def test_it_leaves_out_what_a_host_does_not_tell(host):
    for name in ("stat", "loadavg"):
        (host / name).unlink()
    found = host_watch.HostWatch(CPU).look("c", 0)
    told = (found.pressure, found.stolen, found.others, found.load, found.clock_mhz)
    assert told == (None,) * 5


def test_it_takes_the_clock_of_the_fastest_cpu_that_it_may_use(host, tmp_path):
    listed = (
        "processor: 0\ncpu MHz: 800.5\nprocessor: 1\ncpu MHz: 2600\nprocessor: 2\ncpu MHz: 9999\n"
    )
    (host / "cpuinfo").write_text(listed)
    assert host_watch.HostWatch(CPU).look("c", 0).clock_mhz == 2600.0
    fast = tmp_path / "cpus" / "cpu1" / "cpufreq"
    fast.mkdir(parents=True)
    (fast / "scaling_cur_freq").write_text("3100000\n")
    assert host_watch.HostWatch(CPU).look("c", 0).clock_mhz == 3100.0


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (0, ()),
        (0x1 | 0x2, ()),
        (0x4, ("power cap",)),
        (0x60, ("heat (software)", "heat (hardware)")),
    ],
)
def test_it_names_what_holds_a_clock_down_and_not_that_nothing_runs(bits, words):
    assert host_watch.throttle_words(bits) == words


def test_it_looks_before_between_and_after_the_blocks_of_every_case(judge):
    source = small.source()
    report = judge(source, incumbent=source, protocol=replace(small.QUICK, blocks=2))
    assert [(m.case, m.block) for m in report.surroundings] == [("n4096", n) for n in range(3)]
    last = report.surroundings[-1]
    assert last.load is not None
    assert last.others is not None
    # The runners' own work is not a neighbour's: nobody can keep busy more than all CPUs.
    assert 0 <= last.others <= (os.cpu_count() or 1) + 0.5


def test_it_saw_nothing_around_a_candidate_that_was_not_timed(judge):
    assert judge(small.source("")).surroundings == ()
