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
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from campaigns.evaluator.contract import (
    Job,
    MachineCode,
    Outcome,
    Phase,
    Report,
    Sanitized,
    load_job,
    load_machine_code,
    load_report,
    load_sanitized,
)
from campaigns.evaluator.processes import describe_status
from campaigns.evaluator.sandbox.layers import Layer, describe
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.evaluator.sandbox.warden import Record
from campaigns.evaluator.service.crew import CANDIDATE, INCUMBENT, JUDGE, Crew, arms_of

LOG_LIMIT = 64 * 1024
# How many refused calls the reason of a crash names; the report has them all.
HINTED = 3
# An error that may come of a refused call says so; any other has its reason in its own words.
DENIED = re.compile(r"errno|denied|permitted|no such file", re.IGNORECASE)
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

    It is asked for while candidates compile, when nothing is being timed yet. policy: the layers
    of the sandbox on this host.
    """

    client: socket.socket
    wish: Callable[[str], None]
    policy: Policy


def supervise(job_file: Path, device: str, outside: Outside, crew: Crew | None) -> Report:
    """Run the job; whatever happens, there is a report.

    device: what the job is for. crew: one that waits already; ended when it is for another device.
    A crew is started before the job is read: its runners are copies of this process, and of a job
    with two sources each of them may know its own.
    """
    started = time.monotonic()
    origin = "started for this job" if crew is None else "from the reserve"
    refusal = outside.policy.refusal(device)
    if crew is not None and (crew.device != device or refusal):
        crew.end()
        crew = None
    job: Job | None = None
    try:
        if not refusal:
            crew = crew or Crew(device, outside.policy.plan(device))
        job = load_job(job_file.read_text())
        if crew is None:
            report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, refusal)
        else:
            report = _blame_full_disk(_run(job, outside, crew), job.scratch)
    except OSError as error:
        job = job or load_job(job_file.read_text())
        reason = f"{error.strerror}: {error.filename or job.scratch}"
        report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)
    finally:
        if crew is not None:
            crew.end()
    return replace(
        report,
        wall_s={**report.wall_s, "total": time.monotonic() - started},
        environment={**report.environment, "crew": origin},
    )


def _blame_full_disk(report: Report, scratch: Path) -> Report:
    """A build without room fails in many ways, none of them the candidate's doing (law 8)."""
    if report.outcome is Outcome.PASSED or report.phase not in (Phase.START, Phase.BUILD):
        return report
    # In a view of its own a build has a folder in memory, and fills that by its own doing.
    on_disk = Layer.MOUNTS not in report.environment.get("sandbox", "").split(", ")
    said = on_disk and os.strerror(errno.ENOSPC) in report.build_log
    if said or shutil.disk_usage(scratch).free < LEAST_ROOM:
        return replace(report, outcome=Outcome.BROKEN_HOST, reason=f"disk full: {scratch}")
    return report


def _run(job: Job, outside: Outside, crew: Crew) -> Report:
    crew.order(job)
    stopped = _wait_for_judge(job, crew.phases, outside)
    status = crew.end_member(JUDGE, 0.0 if stopped else 5.0)
    grace_s = 0.0 if stopped else LAST_WORDS_S
    statuses = {name: crew.end_member(name, grace_s) for name in arms_of(job)}
    report = stopped or _judged(job, crew, status)
    # Those that are left may still write to what is read now.
    crew.end()
    return _with_evidence(report, job, crew, statuses[CANDIDATE])


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
            reason = (
                f"the judge did not end within {total_s:g} s, in phase {phase} "
                "(ref.py hangs, or is too slow for its cases)"
            )
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase(phase), reason)
        ready, _, _ = select.select([pipe, client.fileno()], [], [], min(left, 1.0))
        if client.fileno() in ready and _has_gone(client):
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


def _has_gone(client: socket.socket) -> bool:
    try:
        return not client.recv(64)
    except ConnectionError:  # with progress left unread
        return True


def _tell(client: socket.socket, line: bytes) -> None:
    try:
        client.sendall(line)
    except OSError:
        # The next select sees the closed connection and cancels the evaluation.
        return


def _with_evidence(report: Report, job: Job, crew: Crew, status: int | None) -> Report:
    """Add logs and records, and to a bare reason what only they or the exit status can tell."""
    if job.sanitize and report.outcome is Outcome.PASSED:
        said = tuple(map(_readable, load_sanitized(crew.build_log(CANDIDATE))))
        return replace(report, sanitized=said, environment=_placed(report, crew))
    if job.read_code and report.outcome is Outcome.PASSED:
        code = load_machine_code(crew.build_log(CANDIDATE))
        return replace(report, machine_code=_plain(code), environment=_placed(report, crew))
    # It was compiled under a name of ours; people know it by theirs.
    name = _line(job.candidate.name)
    build_log = _printable(crew.build_log(CANDIDATE))
    build_log = re.sub(r"\bcandidate\.(cpp|cu|py)\b", lambda _: name, build_log)
    record = crew.record(CANDIDATE)
    log = _printable(record.log)
    reason = report.reason
    if report.outcome is Outcome.BUILD_FAILED:
        reason = _telling_line(log if report.phase is Phase.LOAD else build_log)
    elif report.outcome is Outcome.CRASHED and not record.locked:
        # It died before any of the candidate's code was there to be blamed.
        return replace(
            report,
            outcome=Outcome.BROKEN_HOST,
            reason=f"the sandbox could not be closed: {_telling_line(log)}",
            runner_log=log,
        )
    elif report.outcome is Outcome.CRASHED:
        died = "died" in reason
        why = f"{describe_status(status)}{_thrown(log)}" if died else _telling_line(log)
        hint = _hint(record) if died or DENIED.search(why) else ""
        reason = f"{reason}: {why}{', ' if record.memory else ''}{record.memory}{hint}"
    elif report.outcome is Outcome.BROKEN_HOST:
        if INCUMBENT in arms_of(job):
            log += _printable(crew.record(INCUMBENT).log)
        if "see the log" in reason:
            reason = reason.replace("see the log", _telling_line(log))
    return replace(
        report,
        reason=reason,
        build_log=build_log,
        runner_log=log,
        environment=_placed(report, crew),
    )


def _readable(said: Sanitized) -> Sanitized:
    """With what a process that held the candidate may have written as text for people."""
    faults = [
        replace(fault, kind=_line(fault.kind), what=_line(fault.what), file=_line(fault.file))
        for fault in said.faults
    ]
    return replace(said, faults=tuple(faults), note=_line(said.note))


def _plain(code: MachineCode) -> MachineCode:
    """The same for names, which a compiler takes from the candidate."""
    functions = tuple(
        replace(
            one, name=_line(one.name), calls={_line(n): times for n, times in one.calls.items()}
        )
        for one in code.functions
    )
    return replace(code, functions=functions, note=_line(code.note))


def _placed(report: Report, crew: Crew) -> dict[str, str]:
    found = _sandbox(crew.record(CANDIDATE))
    return {**report.environment, **found, "session": crew.session}


def _hint(record: Record) -> str:
    """What a crash may come of: who takes a refused call's answer for memory or a file."""
    named = ", ".join(_line(what) for what in sorted(record.refused)[:HINTED])
    return f" (the sandbox had refused it: {named})" if named else ""


def _thrown(log: str) -> str:
    """What the C++ library says of an exception that nobody caught."""
    said = [line for line in map(str.strip, log.splitlines()) if line.startswith("what():")]
    return f", {_line(said[-1])}" if said else ""


def _sandbox(record: Record) -> dict[str, str]:
    """Which layers held, as the runner said before it loaded anything, and what was refused."""
    found = {}
    if record.holds:
        found["sandbox"] = describe({Layer(name): said for name, said in record.holds.items()})
    if record.refused:
        found["refused"] = ", ".join(f"{what} ×{n}" for what, n in sorted(record.refused.items()))
    return found


def _telling_line(log: str) -> str:
    """The line that says most: a compiler's first error, an exception's last line, or the end."""
    # A line of carets only points at the line above it.
    lines = [line.strip() for line in log.splitlines() if line.strip(" \t^~|")]
    compiler = [line for line in lines if " error: " in line]
    raised = [line for line in lines if re.match(r"[\w.]*Error\b", line)]
    chosen = compiler[:1] or raised[-1:] or lines[-1:] or ["no message"]
    return chosen[0][:300]


def _tail(path: Path) -> str:
    """The last 64 KiB of a log of ours."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_LIMIT))
            return _printable(file.read(LOG_LIMIT).decode("utf-8", "replace"))
    except OSError:
        return ""


def _printable(text: str) -> str:
    """What hostile code may have written: text for people, never parsed."""
    return "".join(c for c in text if c in "\n\t" or c.isprintable())


def _line(text: str) -> str:
    """The same in one line."""
    return " ".join(_printable(text).split())
