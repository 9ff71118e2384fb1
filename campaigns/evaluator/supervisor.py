"""One evaluation from the outside: fork judge and runners, keep the deadline, reap, report.

The supervisor holds no candidate code and no device. It states what the dead can not: crashed
(and by which signal), timed out, broken host.
"""

from __future__ import annotations

import os
import re
import select
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from campaigns.evaluator.contract import (
    Job,
    Outcome,
    Phase,
    Report,
    dump,
    load_job,
    load_report,
)
from campaigns.evaluator.judge import main as judge
from campaigns.evaluator.processes import describe_status, fork, kill_group, wait_status
from campaigns.evaluator.runner import main as runner

LOG_LIMIT = 64 * 1024
# A runner that is dying of its own (a core of many pages) still has its signal to tell.
LAST_WORDS_S = 0.3


@dataclass(frozen=True, slots=True)
class Arm:
    """One runner as the supervisor sees it."""

    name: str
    pid: int
    folder: Path


def supervise(job_file: Path, report_file: Path, client: socket.socket) -> None:
    """Run the job and write its report atomically; whatever happens, there is a report."""
    job = load_job(job_file.read_text())
    started = time.monotonic()
    try:
        report = _run(job, client)
    except OSError as error:
        report = _broken(job, f"{error.strerror}: {error.filename or job.scratch}")
    report = replace(report, wall_s={**report.wall_s, "total": time.monotonic() - started})
    part = report_file.with_suffix(".part")
    part.write_text(dump(report))
    os.replace(part, report_file)


def _broken(job: Job, reason: str) -> Report:
    return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)


def _run(job: Job, client: socket.socket) -> Report:
    channels, arms = _start_arms(job)
    verdict_file = job.scratch / "judge.json"
    read_end, write_end = os.pipe()
    with (job.scratch / "judge.log").open("wb") as log:
        pid = fork(
            lambda: judge.main(job, verdict_file, channels, write_end),
            log.fileno(),
        )
    os.close(write_end)
    for channel in channels.values():
        channel.close()
    overdue = _wait_for_judge(job, pid, read_end, client)
    os.close(read_end)
    status = None if overdue else wait_status(pid, 5.0)
    kill_group(pid)
    statuses = {arm.name: _end(arm, 0.0 if overdue else LAST_WORDS_S) for arm in arms}
    if overdue:
        report = Report(job.job_id, Outcome.TIMED_OUT, Phase.START, overdue)
    elif not verdict_file.exists():
        tail = _tail(job.scratch / "judge.log").strip().splitlines()
        why = tail[-1] if tail else describe_status(status)
        report = _broken(job, f"the judge ended without a report ({why})")
    else:
        report = load_report(verdict_file.read_text())
    return _with_evidence(report, arms, statuses)


def _start_arms(job: Job) -> tuple[dict[str, socket.socket], list[Arm]]:
    """Fork a runner per arm; the judge's ends of their sockets come back."""
    channels: dict[str, socket.socket] = {}
    arms = []
    sources = {"candidate": job.candidate}
    if job.incumbent is not None:
        sources["incumbent"] = job.incumbent
    for name, source in sources.items():
        folder = job.scratch / name
        folder.mkdir(parents=True)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        others = [*channels.values(), ours]
        with (folder / "run.log").open("wb") as log:
            pid = fork(
                partial(runner.main, job, source, folder, theirs, others),
                log.fileno(),
            )
        theirs.close()
        channels[name] = ours
        arms.append(Arm(name, pid, folder))
    return channels, arms


def _wait_for_judge(job: Job, pid: int, pipe: int, client: socket.socket) -> str:
    """Pass phases on until the judge closes its pipe; why it had to be stopped, or ""."""
    deadline = time.monotonic() + job.protocol.limits.total_s
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return f"no result after {job.protocol.limits.total_s:.0f} s, the limit in total"
        ready, _, _ = select.select([pipe, client.fileno()], [], [], min(left, 1.0))
        if client.fileno() in ready and not client.recv(64):
            kill_group(pid)
            return "cancelled: the worker has gone"
        if pipe in ready:
            line = os.read(pipe, 4096)
            if not line:
                return ""
            _tell(client, line)
        elif not ready:
            _tell(client, b"alive\n")


def _tell(client: socket.socket, line: bytes) -> None:
    try:
        client.sendall(line)
    except OSError:
        # The next select sees the closed connection and cancels the evaluation.
        return


def _end(arm: Arm, grace_s: float) -> int | None:
    """The runner's own end if it comes soon, and then the end of its whole process group."""
    status = wait_status(arm.pid, grace_s)
    kill_group(arm.pid)
    return status if status is not None else wait_status(arm.pid, 5.0)


def _with_evidence(report: Report, arms: list[Arm], statuses: Mapping[str, int | None]) -> Report:
    """Add the logs, and to a bare reason what only they or the exit status can tell."""
    folders = {arm.name: arm.folder for arm in arms}
    build_log = _tail(folders["candidate"] / "build.log")
    log = _tail(folders["candidate"] / "run.log")
    reason = report.reason
    if report.outcome is Outcome.BUILD_FAILED:
        reason = f"{reason}: {_telling_line(build_log) or _telling_line(log)}"
    elif report.outcome is Outcome.CRASHED:
        why = describe_status(statuses["candidate"]) if "died" in reason else _telling_line(log)
        reason = f"{reason}: {why}"
    elif report.outcome is Outcome.BROKEN_HOST:
        if "incumbent" in folders:
            log += _tail(folders["incumbent"] / "run.log")
        if "see the log" in reason:
            reason = reason.replace("see the log", _telling_line(log))
    return replace(report, reason=reason, build_log=build_log, runner_log=log)


def _telling_line(log: str) -> str:
    """The line that says most: a compiler's first error, an exception's last line, or the end."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    compiler = [line for line in lines if " error: " in line]
    raised = [line for line in lines if re.match(r"[\w.]*Error\b", line)]
    chosen = compiler[:1] or raised[-1:] or lines[-1:] or ["no message"]
    return chosen[0][:300]


def _tail(path: Path) -> str:
    """The last 64 KiB of a log that hostile code may have written: text, never parsed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(handle, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - LOG_LIMIT))
        raw = file.read(LOG_LIMIT)
    text = raw.decode("utf-8", "replace")
    return "".join(c for c in text if c in "\n\t" or c.isprintable())
