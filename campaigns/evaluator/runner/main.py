"""The runner: loads one candidate and does as told. It sees no reference, no answer, no clock.

bootstrap (ours: start the device, open the judge's memory) → lock → load (the candidate's first
byte). After the load nothing this process says is believed; it only ever moves numbers.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

from campaigns.evaluator import wire
from campaigns.evaluator.backends import base
from campaigns.evaluator.contract import Job, Source, Timer
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.runner.memory import Memory, open_memory
from campaigns.evaluator.sandbox.lock import lock_down
from campaigns.evaluator.wire import Answer, Ask, Reply

GO, DONE, FAILED = 1, 2, 3


def main(job: Job, source: Source, folder: Path, sock: socket.socket, trouble: str) -> int:
    """Serve the judge until it says stop or goes away.

    trouble: why the device could not be started, told when the judge asks to attach.
    """
    runner = Runner(job, source, folder, trouble)
    while (asked := wire.receive_ask(sock)) is not None:
        ask, sequence, body, fds = asked
        if ask is Ask.STOP:
            _answer(sock, sequence, Answer.OK)
            return 0
        if ask is Ask.BURST and runner.gate is not None:
            _answer(sock, sequence, Answer.OK)
            runner.spin_and_run(body)
            continue
        answer, number, x, y = runner.do(ask, body, fds)
        _answer(sock, sequence, answer, number, x, y)
    return 0


def _answer(
    sock: socket.socket, sequence: int, answer: Answer, a: int = 0, x: float = 0.0, y: float = 0.0
) -> None:
    wire.send_reply(sock, Reply(answer, sequence, a, x, y))


class Runner:
    """The candidate's process from the inside."""

    def __init__(self, job: Job, source: Source, folder: Path, trouble: str) -> None:
        self._job = job
        self._source = source
        self._folder = folder
        self._memory: Memory | None = None
        self._kernel: base.Kernel | None = None
        self._plan: base.Plan | None = None
        self._trouble = trouble
        self.gate: mmap.mmap | None = None

    def do(self, ask: Ask, body: Any, fds: list[int]) -> tuple[Answer, int, float, float]:
        """Do what was asked; an exception becomes the fitting answer, its text goes to the log."""
        failed = {Ask.BUILD: Answer.BUILD_FAILED, Ask.LOAD: Answer.LOAD_FAILED}
        try:
            return (Answer.OK, *self._do(ask, body, fds))
        except base.BuildFailed as error:
            (self._folder / "build.log").write_text(str(error))
            return Answer.BUILD_FAILED, 0, 0.0, 0.0
        except base.Unsupported as error:
            print(f"unsupported: {error}", file=sys.stderr)
            return Answer.UNSUPPORTED, 0, 0.0, 0.0
        except BaseException:  # noqa: BLE001 - hostile code may raise anything, SystemExit too
            traceback.print_exc()
            return failed.get(ask, Answer.CALL_FAILED), 0, 0.0, 0.0

    def _do(self, ask: Ask, body: Any, fds: list[int]) -> tuple[int, float, float]:
        if ask is Ask.ATTACH:
            self._attach(body, fds)
        elif ask is Ask.BUILD:
            self._kernel = base.get(self._job.backend).make(self._job, self._source, self._folder)
            self._kernel.build(body)
        elif ask is Ask.LOAD:
            self._built().load()
        elif ask is Ask.CASE:
            self._lay_out(*body)
        elif ask is Ask.CALL:
            self._planned().call(body)
        elif ask is Ask.PREPARE:
            return list(Timer).index(self._planned().prepare(body)), 0.0, 0.0
        elif ask is Ask.BURST:
            self._planned().run(body)
        elif ask is Ask.PROFILE:
            return (0, *self._planned().profile(body))
        return 0, 0.0, 0.0

    def _attach(self, handle: Any, fds: list[int]) -> None:
        if self._trouble:
            raise base.Unsupported(self._trouble)
        on_gpu = handle.cuda is not None
        self._memory = open_memory(handle, fds)
        if on_gpu:
            self.gate = mmap.mmap(fds[-1], mmap.PAGESIZE)
        os.chdir(self._folder)
        lock_down(self._folder)

    def _lay_out(self, layout: Layout, slots: int) -> None:
        if self._memory is None:
            raise RuntimeError("case before attach")
        self._plan = self._built().plan(layout, self._memory, slots)

    def _built(self) -> base.Kernel:
        if self._kernel is None:
            raise RuntimeError("asked to load before build")
        return self._kernel

    def _planned(self) -> base.Plan:
        if self._plan is None:
            raise RuntimeError("asked to call before a case was laid out")
        return self._plan

    def spin_and_run(self, calls: int) -> None:
        """Spin for the judge's go, run the burst, and say done in the same word."""
        gate = self.gate
        if gate is None:
            raise RuntimeError("no gate")
        parent = os.getppid()
        while gate[0] != GO:
            # A judge that has gone would leave this loop spinning; the supervisor kills us then,
            # and this look is for the case that it, too, has gone.
            if os.getppid() != parent:
                os._exit(1)
        word = FAILED
        with contextlib.suppress(BaseException):
            self._planned().run(calls)
            word = DONE
        gate[0] = word
