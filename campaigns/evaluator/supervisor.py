"""One evaluation from the outside: fork judge and runners, keep the deadline, reap, report.

The supervisor holds no candidate code and no device. It states what the dead can not: crashed
(and by which signal), timed out, broken host.
"""

from __future__ import annotations

import errno
import os
import re
import select
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from campaigns.evaluator.contract import Job, Outcome, Phase, Report, load_job, load_report
from campaigns.evaluator.crew import (
    CANDIDATE,
    INCUMBENT,
    JUDGE,
    Crew,
    arms_of,
    folder_of,
)
from campaigns.evaluator.processes import describe_status

LOG_LIMIT = 64 * 1024
# With less free than this not even a small kernel can be built.
LEAST_ROOM = 32 * 1024
# A runner that is dying of its own (a core of many pages) still has its signal to tell.
LAST_WORDS_S = 0.3
# The judge keeps the total limit whenever it waits for a candidate; this is for when it hangs.
JUDGE_GRACE = 0.1
LEAST_GRACE_S = 3.0


@dataclass(frozen=True, slots=True)
class Outside:
    """Whom the supervisor talks to. wish: asks for a crew on a device, for the next job.

    It is asked for while candidates compile, when nothing is being timed yet.
    """

    client: socket.socket
    wish: Callable[[str], None]


def supervise(job_file: Path, outside: Outside, crew: Crew | None) -> Report:
    """Run the job; whatever happens, there is a report.

    crew: one that waits already; ended and replaced when the job is for another device.
    """
    job = load_job(job_file.read_text())
    started = time.monotonic()
    origin = "started for this job" if crew is None else "from the reserve"
    try:
        report = _blame_full_disk(_run(job, job_file, outside, crew), job.scratch)
    except OSError as error:
        reason = f"{error.strerror}: {error.filename or job.scratch}"
        report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)
    return replace(
        report,
        wall_s={**report.wall_s, "total": time.monotonic() - started},
        environment={**report.environment, "crew": origin},
    )


def _blame_full_disk(report: Report, scratch: Path) -> Report:
    """A build without room fails in many ways, none of them the candidate's doing (law 8)."""
    if report.outcome is Outcome.PASSED or report.phase not in (Phase.START, Phase.BUILD):
        return report
    said = os.strerror(errno.ENOSPC) in report.build_log
    if said or shutil.disk_usage(scratch).free < LEAST_ROOM:
        return replace(report, outcome=Outcome.BROKEN_HOST, reason=f"disk full: {scratch}")
    return report


def _run(job: Job, job_file: Path, outside: Outside, crew: Crew | None) -> Report:
    if crew is not None and crew.device != job.device:
        crew.end()
        crew = None
    crew = crew or Crew(job.device)
    try:
        crew.order(job, job_file)
        stopped = _wait_for_judge(job, crew.phases, outside)
        status = crew.end_member(JUDGE, 0.0 if stopped else 5.0)
        grace_s = 0.0 if stopped else LAST_WORDS_S
        statuses = {name: crew.end_member(name, grace_s) for name in arms_of(job)}
        report = stopped or _judged(job, crew, status)
    finally:
        crew.end()
    return _with_evidence(report, job, statuses)


def _judged(job: Job, crew: Crew, status: int | None) -> Report:
    """The judge's report. A judge that did not end well is not believed, whatever it wrote."""
    if status == 0:
        return load_report(crew.report())
    tail = _tail(job.scratch / "judge.log").strip().splitlines()
    why = tail[-1] if tail else "no message"
    reason = f"the judge ended without a report: {describe_status(status)} ({why})"
    return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)


def _wait_for_judge(job: Job, pipe: int, outside: Outside) -> Report | None:
    """Pass phases on until the judge closes its pipe; a report when it had to be stopped.

    The judge keeps the candidate to all limits itself. When even the last one passes without its
    end, it is the judge that hangs (in the problem's code, or in the driver), so the host is to
    blame.
    """
    total_s = job.protocol.limits.total_s
    deadline = time.monotonic() + total_s + max(LEAST_GRACE_S, JUDGE_GRACE * total_s)
    client, phase = outside.client, Phase.START.value
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            reason = f"the judge did not end in phase {phase} (does ref.py hang?)"
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase(phase), reason)
        ready, _, _ = select.select([pipe, client.fileno()], [], [], min(left, 1.0))
        if client.fileno() in ready and not client.recv(64):
            reason = "cancelled: the worker has gone"
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase(phase), reason)
        if pipe in ready:
            told = os.read(pipe, 4096)
            if not told:
                return None
            phases = [line.split()[1] for line in told.decode().splitlines()]
            phase = phases[-1]
            if Phase.BUILD in phases:
                outside.wish(job.device)
            _tell(client, told)
        elif not ready:
            _tell(client, b"alive\n")


def _tell(client: socket.socket, line: bytes) -> None:
    try:
        client.sendall(line)
    except OSError:
        # The next select sees the closed connection and cancels the evaluation.
        return


def _with_evidence(report: Report, job: Job, statuses: Mapping[str, int | None]) -> Report:
    """Add the logs, and to a bare reason what only they or the exit status can tell."""
    build_log = _tail(folder_of(job, CANDIDATE) / "build.log")
    # It was compiled under a name of ours; people know it by theirs.
    build_log = re.sub(r"\bcandidate\.(cpp|cu|py)\b", lambda _: job.candidate.name, build_log)
    log = _tail(folder_of(job, CANDIDATE) / "run.log")
    reason = report.reason
    if report.outcome is Outcome.BUILD_FAILED:
        told = _telling_line(build_log)
        reason = _telling_line(log) if report.phase is Phase.LOAD and told.startswith("$") else told
    elif report.outcome is Outcome.CRASHED:
        why = describe_status(statuses[CANDIDATE]) if "died" in reason else _telling_line(log)
        reason = f"{reason}: {why}"
    elif report.outcome is Outcome.BROKEN_HOST:
        log += _tail(folder_of(job, INCUMBENT) / "run.log")
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
