"""The faults: each is a row that says when it happens and what it does."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

from django.conf import settings

from campaigns.benchmarks.faults import loads
from campaigns.benchmarks.faults.servers import DISK_BYTES, Servers, kill
from campaigns.benchmarks.faults.traffic import Proxy
from campaigns.benchmarks.harness import BenchmarkError

OUTAGE_S = 30.0
# Longer than the lease of a claim.
FROZEN_S = 60.0
STOP_S = 90.0
COMPILER = ("cc1plus", "candidate.cpp")
COMPILING_S = 1.0
ADVANCE = """import time
from kopt.celery import app
for _ in range(300):
    for _ in range(2):
        app.send_task("campaigns.tasks.advance", args=[{campaign}], queue="default")
    time.sleep(0.2)
"""
RUNNING = """SELECT e.holder FROM campaigns_evaluation e
JOIN campaigns_candidate c ON c.id = e.candidate_id JOIN campaigns_round r ON r.id = c.round_id
WHERE r.campaign_id = {campaign} AND r.number > 1 AND e.state = 'running' AND e.phase {phase}"""
DONE = "SELECT count(*) FROM campaigns_evaluation WHERE state = 'done'"

# Where the fault meets kopt: the process to end, 1 where there is none to name, 0 as long as the
# moment has not come.
Moment = Callable[[Servers, int], int]
Inject = Callable[[Servers, int, int], str]


# What a fault needs beside an installation.
SERVER, EMBEDDED = "PostgreSQL and Redis", "SQLite"
DISK = "a file system of its own (root may mount one)"


@dataclass(frozen=True, slots=True)
class HostFault:
    """inject: told the campaign and what `moment` gave; says what it saw itself, or nothing. Raises
    BenchmarkError where something other than the campaign did not end well."""

    name: str
    moment: Moment
    inject: Inject
    needs: str = ""

    def lacks(self, servers: Servers) -> str:
        """What is needed and not there."""
        there = {"", SERVER if servers.database is not None else EMBEDDED}
        if servers.own_disk:
            there.add(DISK)
        return "" if self.needs in there else self.needs


def _begun(servers: Servers, campaign: int) -> int:
    return 1


def _measuring(servers: Servers, campaign: int, phase: str = "NOT IN ('', 'start')") -> int:
    """The worker that measures now."""
    holders = servers.select(RUNNING.format(campaign=campaign, phase=phase))
    return int(holders[0][0].split()[-2]) if holders else 0


def _evaluator(servers: Servers, campaign: int) -> int:
    return _first(servers.processes("service.zygote", below=_measuring(servers, campaign)))


def _judge(servers: Servers, campaign: int) -> int:
    for pid in servers.processes("service.zygote", below=_measuring(servers, campaign)):
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/1").endswith("judge.log"):
                return pid
    return 0


def _compiler(servers: Servers, campaign: int) -> int:
    """The candidate's compiler: others build what calls it, or read its code."""
    worker = _measuring(servers, campaign, "= 'build'")
    return _first(servers.processes(*COMPILER, below=worker))


def _web(servers: Servers, campaign: int) -> int:
    return _first(servers.processes("uvicorn")) if _measuring(servers, campaign) else 0


def _flow(servers: Servers, campaign: int) -> int:
    """The flow worker in the instant in which a result has come and it has to go on."""
    before = servers.select(DONE)
    if not _measuring(servers, campaign):
        return 0
    deadline = time.monotonic() + FROZEN_S
    while servers.select(DONE) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    return _first(servers.processes("celery", " default "))


def _first(pids: list[int]) -> int:
    return pids[0] if pids else 0


def _nothing(servers: Servers, campaign: int, pid: int) -> str:
    return ""


def _kill(servers: Servers, campaign: int, pid: int) -> str:
    kill(pid)
    return ""


def _kill_compilers(servers: Servers, campaign: int, pid: int) -> str:
    """All of one evaluation, as a host does that has no memory left: of candidate and incumbent."""
    killed, deadline = {pid}, time.monotonic() + COMPILING_S
    kill(pid)
    while time.monotonic() < deadline:
        for each in servers.processes(*COMPILER):
            kill(each)
            killed.add(each)
    return f"{len(killed)} processes killed"


def _freeze(servers: Servers, campaign: int, pid: int) -> str:
    with _frozen([pid]):
        time.sleep(FROZEN_S)
    return ""


@contextmanager
def _frozen(pids: list[int]) -> Iterator[None]:
    for pid in pids:
        kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            kill(pid, signal.SIGCONT)


def _stop_unheld(servers: Servers, campaign: int, pid: int) -> str:
    """Stop a campaign whose first measurement waits, while every measuring worker is frozen."""
    with _frozen(servers.processes("celery", " platform.")):
        other = loads.begin_campaign(servers)
        waits = "SELECT state FROM campaigns_campaign WHERE state = 'baseline' AND id = "
        loads.await_rows(servers, waits + str(other), OUTAGE_S)
        servers.manage("campaign", "stop", str(other))
        begun = time.monotonic()
        ended = f"SELECT id FROM campaigns_campaign WHERE id = {other} AND finished_at IS NOT NULL"
        if loads.await_rows(servers, ended, STOP_S):
            return f"the stopped campaign ended after {time.monotonic() - begun:.1f} s"
        raise BenchmarkError(f"the stopped campaign had not ended after {STOP_S:.0f} s")


def _terminate(servers: Servers, campaign: int, pid: int) -> str:
    ended = servers.select(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    return f"{ended[0][0]} backends ended"


def _lock(servers: Servers, campaign: int, pid: int) -> str:
    path = servers.url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, timeout=10)) as file:
        file.execute("BEGIN IMMEDIATE")
        time.sleep(OUTAGE_S)
        file.rollback()
    return ""


def _fill(servers: Servers, campaign: int, pid: int) -> str:
    """Leave not one free block, and give the room back."""
    if servers.database is None:
        # Else SQLite would go on for a while in the blocks that its log has already.
        servers.select("PRAGMA wal_checkpoint(TRUNCATE)")
    try:
        servers.resize_disk(servers.used_bytes())
        time.sleep(OUTAGE_S)
    finally:
        servers.resize_disk(DISK_BYTES)
    return ""


def _advance_twice(servers: Servers, campaign: int, pid: int) -> str:
    """Keep both threads of the flow worker busy with one campaign for a minute."""
    code = [sys.executable, "-c", ADVANCE.format(campaign=campaign)]
    done = subprocess.run(code, cwd=settings.BASE_DIR, env=servers.env, check=False, timeout=STOP_S)
    if done.returncode:
        raise BenchmarkError("the notifications could not be sent")
    return "600 notifications"


def _outage(of: str, how: str) -> Inject:
    """Cut the database or the broker, or refuse or stall it for a while."""

    def inject(servers: Servers, campaign: int, pid: int) -> str:
        proxy: Proxy = getattr(servers, of)
        if how == "cut":
            return f"{proxy.cut()} connections cut"
        getattr(proxy, how)()
        time.sleep(OUTAGE_S)
        proxy.pass_on()
        return ""

    return inject


FAULTS = (
    HostFault("none, to compare with", _measuring, _nothing),
    HostFault("measuring worker killed", _measuring, _kill),
    HostFault(f"measuring worker frozen for {FROZEN_S:.0f} s", _measuring, _freeze),
    HostFault("flow worker killed", _flow, _kill),
    HostFault("evaluator service killed", _evaluator, _kill),
    HostFault("judge killed", _judge, _kill),
    HostFault("compiler killed", _compiler, _kill_compilers),
    HostFault("web server killed", _web, _kill),
    HostFault("database connections cut", _measuring, _outage("database", "cut"), SERVER),
    HostFault("database backends terminated", _measuring, _terminate, SERVER),
    *(
        HostFault(f"{of} {said} for {OUTAGE_S:.0f} s", _measuring, _outage(of, how), SERVER)
        for of in ("database", "broker")
        for said, how in (("refused", "refuse"), ("stalled", "stall"))
    ),
    HostFault("broker connections cut", _measuring, _outage("broker", "cut"), SERVER),
    HostFault(f"database locked for {OUTAGE_S:.0f} s", _measuring, _lock, EMBEDDED),
    HostFault(f"disk of the data folder full for {OUTAGE_S:.0f} s", _measuring, _fill, DISK),
    HostFault("harness that fills the disk", _begun, loads.greedy_harness),
    HostFault(f"{loads.LOGINS} logins at once", _measuring, loads.log_in_at_once),
    HostFault(f"wiki import of {loads.WIKI_FILES} files", _measuring, loads.import_wiki_files),
    HostFault("stop of what nobody holds", _measuring, _stop_unheld),
    HostFault("two flow threads on one campaign", _begun, _advance_twice),
)
