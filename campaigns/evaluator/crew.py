"""The three processes of one evaluation: a judge and a runner per arm.

A crew can be started before its job is known: each member starts the device (0.2 to 0.3 s on a
GPU) and waits for its order. Every crew does one job and ends; no process ever sees two candidates.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from campaigns.evaluator.contract import Job, Source, load_job
from campaigns.evaluator.judge import main as judge
from campaigns.evaluator.processes import end_descendants, fork, kill_group, wait_status
from campaigns.evaluator.runner import main as runner

CANDIDATE, INCUMBENT = "candidate", "incumbent"
ARMS = (CANDIDATE, INCUMBENT)
JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Member:
    """One process; an order is written to `orders`, the path of a job file."""

    pid: int
    orders: int


class Crew:
    """Judge and runners on `device`, waiting for a job. `phases` reads the judge's progress."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._members: dict[str, Member] = {}
        log = os.memfd_create("kopt-crew-log", os.MFD_CLOEXEC)
        pairs = {n: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for n in ARMS}
        for name, (_, theirs) in pairs.items():
            self._add(name, partial(_run, name, device, theirs), [theirs.fileno()], log)
        self.phases, told = os.pipe()
        ours = {name: pair[0] for name, pair in pairs.items()}
        # In memory and in two processes only: a file in the scratch folder could be forged.
        self._report = os.memfd_create("kopt-report", os.MFD_CLOEXEC)
        kept = [told, self._report, *(sock.fileno() for sock in ours.values())]
        self._add(JUDGE, partial(_judge, device, ours, (told, self._report)), kept, log)
        os.close(told)
        os.close(log)
        for pair in pairs.values():
            for end in pair:
                end.close()

    def _add(self, name: str, body: partial[int], keep: list[int], log: int) -> None:
        read_end, write_end = os.pipe()
        pid = fork(partial(body, read_end), log, (*keep, read_end))
        os.close(read_end)
        self._members[name] = Member(pid, write_end)

    def report(self) -> str:
        """What the judge wrote; only to be read once it has ended."""
        size = os.fstat(self._report).st_size
        return os.pread(self._report, size, 0).decode()

    def order(self, job: Job, job_file: Path) -> None:
        """Hand out the job; a runner that it has no use for is ended."""
        for name in arms_of(job):
            folder_of(job, name).mkdir(parents=True)
        for name in (*arms_of(job), JUDGE):
            os.write(self._members[name].orders, f"{job_file}\n".encode())
        for name in set(ARMS) - set(arms_of(job)):
            self.end_member(name, 0.0)

    def end_member(self, name: str, grace_s: float) -> int | None:
        """Its own end if that comes within `grace_s`, then the end of its process group.

        Returns the wait status, or None when it could not be had.
        """
        member = self._members.pop(name, None)
        if member is None:
            return None
        os.close(member.orders)
        status = wait_status(member.pid, grace_s)
        kill_group(member.pid)
        return status if status is not None else wait_status(member.pid, 5.0)

    def end(self) -> None:
        """End whoever is left, and whatever they have started."""
        for name in list(self._members):
            self.end_member(name, 0.0)
        end_descendants()


def arms_of(job: Job) -> tuple[str, ...]:
    return ARMS if job.incumbent is not None else (CANDIDATE,)


def folder_of(job: Job, arm: str) -> Path:
    return job.scratch / arm


def start_device(device: str) -> str:
    """Start `device` in this process; what went wrong, or ""."""
    if not device.startswith("cuda"):
        return ""
    import torch

    try:
        torch.cuda.set_device(device)
        torch.empty(1, device=device)
    except RuntimeError as error:
        return f"{device} can not be started: {error}"
    return ""


def _run(name: str, device: str, sock: socket.socket, orders: int) -> int:
    trouble = start_device(device)
    job = _await(orders)
    if job is None:
        return 0
    source: Source | None = job.candidate if name == CANDIDATE else job.incumbent
    if source is None:
        return 0
    folder = folder_of(job, name)
    _log_to(folder / "run.log")
    return runner.main(job, source, folder, sock, trouble)


def _judge(
    device: str, channels: dict[str, socket.socket], told: tuple[int, int], orders: int
) -> int:
    start_device(device)
    job = _await(orders)
    if job is None:
        return 0
    _log_to(job.scratch / "judge.log")
    for name in set(ARMS) - set(arms_of(job)):
        channels.pop(name).close()
    pipe, report = told
    return judge.main(job, report, channels, pipe)


def _await(orders: int) -> Job | None:
    """The job that is ordered; None when the crew is ended without one."""
    with os.fdopen(orders) as lines:
        order = lines.readline().strip()
    return load_job(Path(order).read_text()) if order else None


def _log_to(path: Path) -> None:
    with path.open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
