"""The processes of one evaluation: a judge, and wardens with a runner for each arm, and one for the
problem's reference, each in its box.

A crew can be started before its job is known: each member starts the device (0.2 to 0.3 s on a
GPU) and waits for its order. Every crew does one job and ends; no process ever sees two candidates.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import random
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TextIO

from campaigns.evaluator.builds.triton_cache import warm_driver
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract.files import dump, load_job
from campaigns.evaluator.contract.job import CANDIDATE, INCUMBENT, KERNELS, RIVAL
from campaigns.evaluator.contract.problem_reader import problem_files
from campaigns.evaluator.judge import main as judge
from campaigns.evaluator.judge.progress import JudgeProgress, JudgeTask
from campaigns.evaluator.problem_code import serve
from campaigns.evaluator.reference.messages import NAME as REFERENCE
from campaigns.evaluator.runner import main as runner
from campaigns.evaluator.sandbox import judge_lock, warden
from campaigns.evaluator.sandbox.folder import remove_shared_files
from campaigns.evaluator.sandbox.identity import Lease, lease_uid
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan
from campaigns.evaluator.sandbox.lock import RunnerBox
from campaigns.evaluator.sandbox.policy import Policy, take_card
from campaigns.evaluator.sandbox.processes import (
    draw_apart,
    end_descendants,
    fork,
    keep_freed_memory,
    kill_group,
    wait_status,
)
from campaigns.evaluator.service.jobs import aids_of_judge, warm_up_judge, work_beside

JUDGE = "judge"
# How long a judge waits for a crew that starts, and the pause between two looks.
STARTS_S, PAUSE_S = 10.0, 0.01


@dataclass(frozen=True, slots=True)
class Member:
    """One process; an order is written to `orders`, a job as a job file has it."""

    pid: int
    orders: int


@dataclass(frozen=True, slots=True)
class ArmFiles:
    """Memory files of one arm that this process reads: the warden's record, the build log."""

    record: int
    build_log: int


class Crew:
    """Judge and runners on `device`, waiting for a job. `phases` reads the judge's progress.

    rivals: how many runners there are for further candidates. session: names these very processes,
    which end with their job; no other crew has the same.
    starting: a file of the zygote's, locked by each member of a crew while it starts its device.
    """

    def __init__(self, device: str, policy: Policy, starting: int, rivals: int = 0) -> None:
        self.device, self.rivals = device, rivals
        self._starting = starting
        self.session = secrets.token_hex(8)
        plan = policy.plan(device)
        arms = [CANDIDATE, INCUMBENT, *(f"{RIVAL} {n}" for n in range(1, rivals + 1))]
        self._plans = {**dict.fromkeys(arms, plan), REFERENCE: policy.reference_plan(device)}
        self._members: dict[str, Member] = {}
        self._notes: dict[str, ArmFiles] = {}
        self._leases: list[Lease] = []
        self._ended: list[int] = []
        log = _memory_file("kopt-crew-log")
        pairs = {n: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for n in self._plans}
        for name in in_any_order(self._plans):
            self._add_boxed(name, pairs[name][1], log)
        self.phases, told = os.pipe()
        ours = {name: pair[0] for name, pair in pairs.items()}
        # In memory and in two processes only: a file in the scratch folder could be forged.
        self._report = _memory_file("kopt-report")
        kept = [told, self._report, starting, *(sock.fileno() for sock in ours.values())]
        read_end, orders = os.pipe()
        body = partial(_judge, plan, device, ours, (told, self._report), (read_end, starting))
        self._members[JUDGE] = Member(fork(body, log, (*kept, read_end)), orders)
        for fd in (read_end, told, log):
            os.close(fd)
        for pair in pairs.values():
            for end in pair:
                end.close()

    def _add_boxed(self, name: str, sock: socket.socket, log: int) -> None:
        notes = ArmFiles(_memory_file("kopt-record"), _memory_file("kopt-build-log"))
        uid, plan = None, self._plans[name]
        if Layer.UID in plan.holds:
            self._leases.append(lease_uid())
            uid = self._leases[-1].uid
        read_end, orders = os.pipe()
        runner_only = (sock.fileno(), read_end, os.dup(self._starting))
        refers = name == REFERENCE
        ends = warden.Ends(notes.record, notes.build_log, runner_only, opens_shared=not refers)
        inherited = read_end, runner_only[-1]
        body = partial(_refer if refers else _run, (self.device, plan.card), sock, inherited)
        watch = partial(warden.watch, plan, uid, ends, body)
        pid = fork(watch, log, (*runner_only, notes.record, notes.build_log))
        for fd in inherited:
            os.close(fd)
        self._members[name] = Member(pid, orders)
        self._notes[name] = notes

    def report(self) -> str:
        """What the judge wrote; only to be read once it has ended."""
        return _whole(self._report)

    def record(self, name: str) -> warden.Record:
        """What the warden of a runner wrote down; only to be read once it has ended."""
        text = _whole(self._notes[name].record)
        return warden.Record(**json.loads(text)) if text else warden.Record()

    def build_log(self, name: str) -> str:
        """What the compiler of a runner said."""
        return _whole(self._notes[name].build_log)

    def order(self, job: Job) -> None:
        """Hand out the job; a runner that it has no use for is ended."""
        for name, told in orders_of(job).items():
            # One that has died already is found out about by the judge, and says why in its log.
            # JSON has no line break inside of a text, so this is one line.
            self._write(name, dump(told).replace("\n", " ").encode() + b"\n")
            if name == REFERENCE:
                self._write(name, json.dumps(problem_files(job.problem)).encode() + b"\n")
            if not (job.stream and name == JUDGE):
                self._close_orders(name)
        for name in self._members.keys() - {*job.arms, JUDGE, REFERENCE}:
            self.end_member(name, 0.0)

    def _write(self, name: str, data: bytes) -> None:
        with (
            contextlib.suppress(BrokenPipeError),
            os.fdopen(os.dup(self._members[name].orders), "wb") as orders,
        ):
            orders.write(data)

    def pass_on(self, lines: bytes) -> None:
        """Give the judge of a stream more orders."""
        if JUDGE in self._members:
            self._write(JUDGE, lines)

    def _close_orders(self, name: str) -> None:
        member = self._members[name]
        if member.orders >= 0:
            os.close(member.orders)
            self._members[name] = Member(member.pid, -1)

    def end_member(self, name: str, grace_s: float) -> int | None:
        """Its own end if that comes within `grace_s`, then the end of its process group.

        Returns the wait status, or None when it could not be had.
        """
        if name not in self._members:
            return None
        self._close_orders(name)
        pid = self._members.pop(name).pid
        self._ended.append(pid)
        status = wait_status(pid, grace_s)
        if name != JUDGE:
            if status is None:
                os.kill(pid, signal.SIGTERM)
                wait_status(pid, warden.END_S)
            status = self.record(name).status
        kill_group(pid)
        return status if status is not None else wait_status(pid, warden.END_S)

    def end(self) -> None:
        """End the members that are left, and every process that they have started."""
        for name in list(self._members):
            self.end_member(name, 0.0)
        end_descendants()
        remove_shared_files(self._ended)
        for lease in self._leases:
            lease.end()


def orders_of(job: Job) -> dict[str, Job]:
    """What each member is told. A runner learns of its own source, and not which arm it is.

    A kernel that knew that it is the incumbent could hold itself back, to let another seem faster.
    """
    blind = replace(
        job,
        problem=Path(),
        scratch=Path(),
        cases=(),
        incumbent=None,
        incumbent_backend="",
        rivals=(),
    )
    told = {
        arm: replace(blind, backend=backend, candidate=source)
        for arm, (backend, source) in job.arms.items()
    }
    # The reference learns of no candidate, and its folder alone names the problem.
    nothing = replace(blind, backend="", candidate=Source("", ""))
    return {**told, REFERENCE: replace(nothing, problem=Path(job.problem.name)), JUDGE: job}


def in_any_order(names: Iterable[str]) -> list[str]:
    """Shuffled, so that the order does not tell which arm is which."""
    found = list(names)
    random.SystemRandom().shuffle(found)
    return found


def start_device(device: str) -> str:
    """Start `device` in this process; what went wrong, or ""."""
    if not device.startswith("cuda"):
        return ""
    import torch

    try:
        torch.cuda.set_device(device)
        torch.empty(1, device=device)
    except RuntimeError as error:
        return f"cannot be started: {error}"
    return ""


@contextlib.contextmanager
def _starting(file: int) -> Iterator[None]:
    """Within, judges that are about to time wait: a device that is being started has other work."""
    fcntl.lockf(file, fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.lockf(file, fcntl.LOCK_UN)


def _started(
    place: tuple[str, str], file: int, warm_up: Callable[[str], None] = lambda device: None
) -> tuple[str, str]:
    """The device as this process has it, and what went wrong with its start.

    warm_up: what a GPU is then prepared by; of a crew in reserve nobody waits for it.
    """
    with _starting(file):
        device = take_card(*place)
        trouble = start_device(device)
        if not trouble and device.startswith("cuda"):
            warm_up(device)
    return device, trouble


def await_started(file: int) -> None:
    """Wait until no member of any crew starts its device, but not for one that hangs."""
    deadline = time.monotonic() + STARTS_S
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_UN)
            return
        time.sleep(PAUSE_S)


def _run(
    place: tuple[str, str], sock: socket.socket, inherited: tuple[int, int], box: RunnerBox
) -> int:
    """place: the device and the UUID of its card, as for `take_card`. inherited: the orders, and
    the file that is locked while the device starts.
    """
    orders, starting = inherited
    device, trouble = _started(place, starting, warm_driver)
    os.close(starting)
    with os.fdopen(orders) as pipe:
        job = _await(pipe)
    if job is None:
        return 0
    said = f"{place[0]} {trouble}" if trouble else ""
    return runner.main(replace(job, device=device), box, sock, said)


def _refer(
    place: tuple[str, str], sock: socket.socket, inherited: tuple[int, int], box: RunnerBox
) -> int:
    """The problem's reference. place, inherited: as for `_run`."""
    orders, starting = inherited
    device, trouble = _started(place, starting)
    os.close(starting)
    with os.fdopen(orders) as pipe:
        job = _await(pipe)
        files = json.loads(pipe.readline() or "{}")
    if job is None or trouble:
        print(trouble, file=sys.stderr)
        return 0
    given = {name: base64.b64decode(data) for name, data in files.items()}
    return serve.main(replace(job, device=device), given, box, sock)


def _judge(
    plan: SandboxPlan,
    place: str,
    channels: dict[str, socket.socket],
    told: tuple[int, int],
    inherited: tuple[int, int],
) -> int:
    """place: the device; memory is handed over under the number that all give it. inherited: as
    for `_run`.
    """
    orders, starting = inherited
    judge_lock.enter(plan)
    device, _ = _started((place, plan.card), starting, warm_up_judge)
    more = os.fdopen(orders)
    job = _await(more)
    if job is None:
        return 0
    with (job.scratch / "judge.log").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    # Relative where there is none.
    written = (job.scratch, job.builds, Path(os.environ.get(KERNELS, "")))
    kept = [path for path in written if path.is_absolute() and path.is_dir()]
    held = judge_lock.close(plan, [job.problem], kept)
    for name in channels.keys() - {*job.arms, REFERENCE}:
        channels.pop(name).close()
    pipe, out = told
    # Judge and runners are forks of one process: what one draws the others must not.
    draw_apart()
    keep_freed_memory()
    progress = JudgeProgress(pipe, environment={"judge": held})
    job = replace(job, device=device)
    quiet = partial(await_started, starting)
    task = JudgeTask(job, channels, progress, aids_of_judge(), more, quiet)
    report = judge.main(task, work_beside(job))
    # To the file that no runner has open.
    with os.fdopen(out, "w") as file:
        file.write(dump(report))
    return 0


def _await(orders: TextIO) -> Job | None:
    """The job that is ordered; None when the crew is ended without one."""
    order = orders.readline()
    return load_job(order) if order else None


def _memory_file(name: str) -> int:
    return os.memfd_create(name, os.MFD_CLOEXEC)


def _whole(fd: int) -> str:
    return os.pread(fd, os.fstat(fd).st_size, 0).decode("utf-8", "replace")
