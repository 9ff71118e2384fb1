"""The process between supervisor and runner: it makes the box, watches it, and writes it down.

It holds no candidate code and stays outside of the box, so that what it says is evidence: how the
runner ended, what it printed, which layers held, what was refused, whether memory ran out.

    supervisor ── warden ── [first process of the PID namespace] ── runner
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from campaigns.evaluator.sandbox import folder, limits, lock, view
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan
from campaigns.evaluator.sandbox.linux import calls
from campaigns.evaluator.sandbox.linux.seccomp import SystemCallAudit
from campaigns.evaluator.sandbox.lock import RunnerBox
from campaigns.evaluator.sandbox.processes import adopt_orphans, end_descendants, fork
from campaigns.evaluator.sandbox.view import SCRATCH, SHARED

LOG_HEAD = 16 * 1024
LOG_TAIL = 48 * 1024
LOOK_S = 0.25
STATUS = struct.Struct("<i")
MESSAGE_BYTES = 64 * 1024
# One that is told to end has processes to kill and a record to write.
END_S = 5.0


@dataclass(frozen=True, slots=True)
class Ends:
    """Open files. record: a memory file, written at the end and never open in the runner.

    build_log: the memory file of the compiler's words. runner: what only the runner may keep.
    opens_shared: see `RunnerBox`.
    """

    record: int
    build_log: int
    runner: tuple[int, ...]
    opens_shared: bool = True


@dataclass
class Record:
    """What the warden saw. status: the runner's wait status, or None when it was ended from here.

    locked: whether the runner said that it was, before any of the candidate's code ran; holds: the
    layers that then held.
    """

    status: int | None = None
    log: str = ""
    locked: bool = False
    holds: dict[str, str] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    memory: str = ""


def watch(plan: SandboxPlan, uid: int | None, ends: Ends, body: Callable[[RunnerBox], int]) -> int:
    """Run `body` in a box of its own until it ends or this process is told to (SIGTERM)."""
    # The numbers of the signals that come, and handlers so that they wake and do nothing else.
    wake, wake_end = os.pipe2(os.O_NONBLOCK)
    signal.set_wakeup_fd(wake_end)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    adopt_orphans()
    groups = limits.make_groups(plan.memory_bytes)
    scratch = SCRATCH if Layer.MOUNTS in plan.holds else folder.make(uid)
    log, log_end = os.pipe()
    control, control_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    status, status_end = os.pipe()
    box = RunnerBox(
        plan=plan,
        uid=uid,
        scratch=scratch,
        control=control_end.fileno(),
        build_log=ends.build_log,
        memory_is_bounded=groups.memory,
        opens_shared=ends.opens_shared,
    )
    if Layer.USER in plan.holds:
        view.enter_user_namespace()
    if Layer.PROCESSES in plan.holds:
        view.enter_process_namespace()
    inside = partial(_inside, box, groups, body, ends.runner, status_end)
    kept = (*ends.runner, box.control, ends.build_log, status_end)
    child = fork(inside, log_end, kept)
    for fd in (log_end, status_end, *ends.runner):
        os.close(fd)
    control_end.close()
    warden = Warden(box, child, groups)
    try:
        warden.serve(log, control, wake)
    finally:
        end_descendants()
        folder.remove_shared_files([child])
    warden.finish(log, status)
    # First of all, so that nothing that a candidate left behind can keep it from being written.
    os.pwrite(ends.record, json.dumps(warden.record.__dict__).encode(), 0)
    groups.remove()
    if scratch != SCRATCH:
        folder.remove(scratch)
    return 0


def _inside(
    box: RunnerBox,
    groups: limits.Groups,
    body: Callable[[RunnerBox], int],
    runner: tuple[int, ...],
    status: int,
) -> int:
    """The first process inside: closes the box, then is the runner or the parent of it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    groups.enter()
    lock.enter(box)
    if Layer.PROCESSES not in box.plan.holds:
        os.close(status)
        return body(box)
    # The first process of a PID namespace ignores the signals by which programs end themselves,
    # so it is none of the candidate's: it waits, and all others end with it.
    child = fork(partial(body, box), 1, (*runner, box.control, box.build_log))
    for fd in (*runner, box.control, box.build_log):
        os.close(fd)
    calls.drop_capabilities()
    while True:
        ended, code = os.wait()
        if ended == child:
            os.write(status, STATUS.pack(code))
            return 0


class Warden:
    """Reads the runner's output, answers its refused calls, looks at its memory."""

    def __init__(self, box: RunnerBox, child: int, groups: limits.Groups) -> None:
        self.record = Record()
        self._box = box
        self._child = child
        self._groups = groups
        readable = (*box.plan.readable, *box.plan.devices)
        # Its own folder is what it was given; a look at another one in /tmp is worth a note, though
        # there is nothing but what it has put there itself.
        writable = (box.scratch, Path(SHARED), *box.plan.devices)
        has_view = Layer.MOUNTS in box.plan.holds
        self._audit = SystemCallAudit(readable, writable, box.scratch, changes_files=has_view)
        self._printed = Printed()
        self._waited: int | None = None

    def serve(self, log: int, control: socket.socket, woken: int) -> None:
        """Until the runner has ended, or SIGTERM came."""
        os.set_blocking(log, False)
        poll = select.poll()
        for fd in (woken, log, control.fileno()):
            poll.register(fd, select.POLLIN)
        every_ms = None if self._groups.memory else LOOK_S * 1000
        while True:
            ended, code = os.waitpid(self._child, os.WNOHANG)
            if ended:
                self._waited = code
                return
            for fd, event in poll.poll(every_ms):
                if fd == woken:
                    if signal.SIGTERM in os.read(woken, 512):
                        return
                elif not self._attend(fd, event, log, control, poll):
                    poll.unregister(fd)
            if every_ms is not None and self._is_over_memory():
                return

    def _attend(
        self, fd: int, event: int, log: int, control: socket.socket, poll: select.poll
    ) -> bool:
        """Take what has come on one descriptor; False when it has ended."""
        if fd == log:
            return self._printed.read(log)
        if fd == control.fileno():
            data, fds, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 1)
            if data:
                self.record.locked = True
                self.record.holds.update(json.loads(data)["holds"])
            for listener in fds:
                poll.register(listener, select.POLLIN)
            return bool(data)
        if event & select.POLLIN:
            self._audit.answer(fd)
        return bool(event & select.POLLIN)

    def _is_over_memory(self) -> bool:
        """The watch where no control group bounds the memory: what lies in memory, four times a s.

        Pages that several processes share are counted for each; that is on the safe side.
        """
        # Its orphans fall to this process, which holds next to nothing itself.
        if limits.resident_below(os.getpid()) <= self._box.plan.memory_bytes:
            return False
        self.record.memory = _over(self._box.plan.memory_bytes)
        return True

    def finish(self, log: int, status: int) -> None:
        """Complete the record once nothing of the runner is left."""
        while self._printed.read(log) and select.select([log], [], [], 0)[0]:
            pass
        told = os.read(status, STATUS.size) if Layer.PROCESSES in self._box.plan.holds else b""
        self.record.status = STATUS.unpack(told)[0] if told else self._waited
        if self._groups.ran_out_of_memory():
            self.record.memory = _over(self._box.plan.memory_bytes)
        if times := self._groups.refused_processes():
            self._audit.note("a thread or process too many", times)
        self.record.refused = dict(self._audit.counts)
        self.record.log = self._printed.text()


class Printed:
    """What a runner printed: the beginning and the end are kept, however much there is."""

    def __init__(self) -> None:
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0

    def read(self, pipe: int) -> bool:
        """Take what is there; False at the end of it."""
        try:
            data = os.read(pipe, 65536)
        except BlockingIOError:
            return True
        room = LOG_HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if (over := len(self._tail) - LOG_TAIL) > 0:
            del self._tail[:over]
            self._dropped += over
        return bool(data)

    def text(self) -> str:
        middle = f"\n… {self._dropped} bytes left out …\n".encode() if self._dropped else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")


def _over(memory_bytes: int) -> str:
    return f"over its memory limit of {memory_bytes >> 20:,} MiB"
