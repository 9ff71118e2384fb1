"""One evaluation from the outside: fork judge and runners, keep the deadline, reap, report.

The supervisor holds no candidate code and no device. It reports what a dead process cannot: a
crash (and its signal), a time limit, a broken host.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from campaigns.evaluator.contract import Job, Outcome, Phase, Report, backends
from campaigns.evaluator.contract.errors import printable
from campaigns.evaluator.contract.files import load_job, load_report
from campaigns.evaluator.sandbox.layers import Layer
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.evaluator.sandbox.processes import describe_status
from campaigns.evaluator.service.crew import JUDGE, Crew
from campaigns.evaluator.service.evidence import with_evidence

LOG_LIMIT = 64 * 1024
# With less free than this not even a small kernel can be built.
LEAST_ROOM = 32 * 1024
# A runner that is dying of its own (a core of many pages) still has its signal to tell.
LAST_WORDS_S = 0.3
# The judge keeps the total limit whenever it waits for a candidate; this is for when it hangs.
JUDGE_GRACE = 0.1
LEAST_GRACE_S = 3.0
CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Outside:
    """What the supervisor talks to. client: the worker. wish: asks for a crew for the next job.

    The crew is asked for while candidates compile, before anything is timed. policy: the layers of
    the sandbox on this host. starting, rivals: see `Crew`; of the job.
    """

    client: socket.socket
    wish: Callable[[str], None]
    policy: Policy
    starting: int
    rivals: int


def supervise(job_file: Path, device: str, outside: Outside, crew: Crew | None) -> Report:
    """Run the job; whatever happens, there is a report.

    device: what the job is for. crew: one that waits already; ended when it is for another device,
    or for more or fewer candidates.
    A crew is started before the job is read: its runners are copies of this process, and of a job
    with two sources each of them may know its own.
    """
    started = time.monotonic()
    refusal = outside.policy.refusal(device)
    wanted = device, outside.rivals
    if crew is not None and ((crew.device, crew.rivals) != wanted or refusal):
        crew.end()
        crew = None
    origin = "started for this job" if crew is None else "from the reserve"
    job: Job | None = None
    try:
        if not refusal:
            crew = crew or Crew(device, outside.policy, outside.starting, outside.rivals)
        job = load_job(job_file.read_text())
        refusal = refusal or outside.policy.refusal_of_problem(device, shipped=job.shipped)
        if crew is None or refusal:
            report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, refusal)
        else:
            report = _run(job, outside, crew)
    except OSError as error:
        job = job or load_job(job_file.read_text())
        reason = f"{error.strerror}: {error.filename or job.scratch}"
        report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)
    finally:
        if crew is not None:
            crew.end()
    more = {"crew": origin, "compiler": _compiler(job)}

    def finished(one: Report) -> Report:
        return replace(
            _blame_full_disk(one, job.scratch),
            wall_s={**one.wall_s, "total": time.monotonic() - started},
            environment={**one.environment, **more},
            rivals=tuple(map(finished, one.rivals)),
        )

    return finished(report)


def _compiler(job: Job) -> str:
    """After the measurement, and outside the sandbox: it is asked for its version, no more."""
    try:
        return backends.get(job.backend).compiler()
    except backends.UnknownBackend:
        return ""


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
    stopped = (
        pass_lines(job, crew, outside.client)
        if job.stream
        else _wait_for_judge(job, crew.phases, outside)
    )
    status = crew.end_member(JUDGE, 0.0 if stopped else 5.0)
    report = stopped or _judged(job, crew, status)
    every = report, *report.rivals
    # One that was only wrong waits for its next question.
    have_no_words = stopped or all(one.outcome is Outcome.WRONG_RESULT for one in every)
    grace_s = 0.0 if have_no_words else LAST_WORDS_S
    statuses = {name: crew.end_member(name, grace_s) for name in job.arms}
    # Those that are left may still write to what is read now.
    crew.end()
    reports = zip(job.contenders, every, strict=False)
    first, *rivals = [with_evidence(one, job, crew, (n, statuses[n])) for n, one in reports]
    return replace(first, rivals=tuple(rivals))


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
    total_s = job.total_s
    deadline = time.monotonic() + total_s + max(LEAST_GRACE_S, JUDGE_GRACE * total_s)
    client, phase = outside.client, Phase.START.value
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            reason = (
                f"the judge did not end within {total_s:g} s, in phase {phase} "
                "(ref.py hangs or is too slow for its cases)"
            )
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase(phase), reason)
        ready, _, _ = select.select([pipe, client.fileno()], [], [], min(left, 1.0))
        if client.fileno() in ready and _has_gone(client):
            reason = "cancelled: the worker has ended"
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


def _tail(path: Path) -> str:
    """The last 64 KiB of a log of ours."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_LIMIT))
            return printable(file.read(LOG_LIMIT).decode("utf-8", "replace"))
    except OSError:
        return ""


def pass_lines(job: Job, crew: Crew, client: socket.socket) -> Report | None:
    """Serve until the judge closes its pipe; a report when the stream had to be stopped."""
    total_s = job.protocol.limits.total_s
    deadline = time.monotonic() + total_s + 10
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([crew.phases, client.fileno()], [], [], min(left, 1.0))
        try:
            if client.fileno() in ready:
                if not (more := client.recv(CHUNK)):
                    return _stopped(job, "cancelled: the worker has ended")
                crew.pass_on(more)
            if crew.phases in ready:
                if not (told := os.read(crew.phases, CHUNK)):
                    return None
                client.sendall(told)
            elif not ready:
                client.sendall(b"alive\n")
        except ConnectionError:
            return _stopped(job, "cancelled: the worker has ended")
    return _stopped(job, f"the stream did not end within {total_s:g} s")


def _stopped(job: Job, reason: str) -> Report:
    return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)
