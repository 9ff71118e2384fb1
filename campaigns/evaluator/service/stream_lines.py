"""Lines of a stream between its client and its judge, passed on as they come."""

from __future__ import annotations

import os
import select
import socket
import time

from campaigns.evaluator.contract import Job, Outcome, Phase, Report
from campaigns.evaluator.service.crew import Crew

CHUNK = 1 << 16


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
