"""The runner: loads one candidate and does as told. It sees no reference, no answer, no clock.

bootstrap (ours: start the device, open the judge's memory) → lock → build → seal → load (the
candidate's first byte). After the load nothing that this process says is believed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from campaigns.evaluator import cuda_driver, wire
from campaigns.evaluator.builds.call_chain import Unordered
from campaigns.evaluator.builds.kernel import CallPlan, CandidateKernel
from campaigns.evaluator.builds.memory import Memory, map_shared, open_memory
from campaigns.evaluator.builds.python_error import place_of
from campaigns.evaluator.contract import Job, KernelLaunch, Timer, backends
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.stream import Stream
from campaigns.evaluator.interpreter.stand_in import host_fault
from campaigns.evaluator.machine_code.read import read_code
from campaigns.evaluator.profile.run import count
from campaigns.evaluator.runner.variants import Variants
from campaigns.evaluator.sandbox.lock import Lock, NotLocked, RunnerBox
from campaigns.evaluator.sandbox.workplace import Workplace
from campaigns.evaluator.sanitizers.run import Subject, sanitize
from campaigns.evaluator.tracer_answers import NOT_TOLD, PARTS
from campaigns.evaluator.wire import Ask, Reply, ReplyStatus

GO, DONE, FAILED = 1, 2, 3
CASES = (Ask.CASE, Ask.KEEP, Ask.TURN)
VARIANTS = (Ask.BUILD_VARIANT, Ask.TAKE_VARIANT)
WATCHED = (Ask.SANITIZE, Ask.COUNT)
SINGLE = (Ask.CALL, Ask.CALL_APART)
CALLS = (*SINGLE, Ask.ORDER, Ask.BURST)

Part = tuple[int, float, float]


def main(job: Job, box: RunnerBox, sock: socket.socket, trouble: str) -> int:
    """Serve the judge until it says stop or goes away.

    job: with this runner's source as its candidate. trouble: why the device could not be started,
    told when the judge asks to attach.
    """
    # It may write nowhere that Python keeps compiled modules, and would try for each of them.
    sys.dont_write_bytecode = True
    if job.stream == Stream.BUILD:
        give_way()
    runner = Runner(job, box, trouble)
    while (asked := wire.receive_ask(sock)) is not None:
        ask, sequence, body, fds = asked
        if ask is Ask.STOP:
            _answer(sock, sequence, ReplyStatus.OK)
            return 0
        if ask is Ask.BURST and runner.gate is not None:
            # Before its inputs are written, so that none of them can be kept since the last burst.
            cuda_driver.release_cache()
            _answer(sock, sequence, ReplyStatus.OK)
            runner.spin_and_run(body)
            continue
        answer, number, x, y = runner.do(ask, body, fds)
        _answer(sock, sequence, answer, number, x, y)
    return 0


def give_way() -> None:
    """Let any other process have the CPU first: compilers on every CPU, which build ahead, would
    otherwise keep what is measured meanwhile waiting for whole time slices (4 ms).

    What this process starts inherits it.
    """
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _answer(
    sock: socket.socket,
    sequence: int,
    answer: ReplyStatus,
    a: int = 0,
    x: float = 0.0,
    y: float = 0.0,
) -> None:
    wire.send_reply(sock, Reply(answer, sequence, a, x, y))


class Runner:
    """The candidate's process from the inside."""

    def __init__(self, job: Job, box: RunnerBox, trouble: str) -> None:
        self._job = job
        limits = job.protocol.limits
        self._lock = Lock(box, limits.total_s, watched=job.sanitize or bool(job.counters))
        self._sealed = False
        self._place = Workplace(box.scratch, self._lock, box.build_log, limits.build_s)
        self._memory: Memory | None = None
        self._kernel: CandidateKernel | None = None
        self._plan: CallPlan | None = None
        # With what is prepared for their bursts, by the judge's number of the case.
        self._kept: dict[int, CallPlan] = {}
        self._variants = Variants(job, self._place)
        self._trouble = trouble
        self._launch: KernelLaunch | None = None
        self.gate: ctypes.Array[ctypes.c_ubyte] | None = None

    def do(self, ask: Ask, body: Any, fds: list[int]) -> tuple[ReplyStatus, int, float, float]:
        """Do what was asked; an exception becomes the fitting answer, its text goes to the log."""
        failed = {Ask.BUILD: ReplyStatus.BUILD_FAILED, Ask.LOAD: ReplyStatus.LOAD_FAILED}
        try:
            return (ReplyStatus.OK, *self._do(ask, body, fds))
        except BuildFailed as error:
            self._variants.explain(error)
            self._explain(ask, str(error))
            return ReplyStatus.BUILD_FAILED, 0, 0.0, 0.0
        except (Unsupported, NotLocked) as error:
            print(f"unsupported: {error}", file=sys.stderr)
            return ReplyStatus.UNSUPPORTED, 0, 0.0, 0.0
        except Unordered as error:
            self._variants.explain(error)
            print(error, file=sys.stderr)
            return ReplyStatus.UNORDERED, 0, 0.0, 0.0
        except BaseException as error:  # noqa: BLE001 - hostile code may raise anything, SystemExit too
            traceback.print_exc()
            self._variants.explain(error)
            place = place_of(error, self._job.candidate)
            if self._sealed and self._interprets() and (why := host_fault(error)):
                print(f"{place} ({why})", file=sys.stderr)
                return ReplyStatus.NOT_JUDGED, 0, 0.0, 0.0
            print(place, file=sys.stderr)
            return failed.get(ask, ReplyStatus.CALL_FAILED), 0, 0.0, 0.0

    def _interprets(self) -> bool:
        """Whether the candidate runs in an interpreter, in place of the device it is made for."""
        return self._job.device == "cpu" and "cpu" not in backends.get(self._job.backend).kinds

    def _do(self, ask: Ask, body: Any, fds: list[int]) -> tuple[int, float, float]:
        if ask is Ask.ATTACH:
            self._attach(body, fds)
        elif ask is Ask.BUILD:
            backend = backends.get(self._job.backend)
            self._kernel = backend.make(self._job, self._job.candidate, self._place)
            self._kernel.build(body)
        elif ask is Ask.SEAL:
            told = self._variants if self._job.stream else self._built()
            self._lock.seal(programs=told.starts_programs)
            self._sealed = True
        elif ask is Ask.LOAD:
            self._load()
        elif ask in CASES:
            self._turn_to_case(ask, body)
        elif ask in VARIANTS:
            self._variant(ask, body, fds)
        elif ask in WATCHED:
            self._watch(ask, body)
        elif ask is Ask.READ_CODE:
            self._leave(asdict(read_code(self._job, self._place, body)))
        elif ask in CALLS:
            self._call(ask, body)
        else:
            return self._tell(ask, body)
        return 0, 0.0, 0.0

    def _variant(self, ask: Ask, body: Any, fds: list[int]) -> None:
        source, layouts = body
        if ask is Ask.BUILD_VARIANT:
            self._variants.build(source, layouts, fds)
            return
        # What the one before holds is given back first.
        self._kernel = self._plan = None
        self._kernel = self._variants.take(source, layouts, fds)

    def _call(self, ask: Ask, body: Any) -> None:
        if ask in SINGLE:
            self._planned().call(body, ordered=ask is Ask.CALL)
        elif ask is Ask.ORDER:
            self._planned().order(body)
        else:
            self._run(body)

    def _tell(self, ask: Ask, body: Any) -> tuple[int, float, float]:
        """What the driver says, or how bursts will be made."""
        if ask is Ask.PREPARE:
            timer, nodes = self._planned().prepare(*body)
            return list(Timer).index(timer), float(nodes), 0.0
        if ask is Ask.PROFILE:
            return (0, *self._planned().profile(body))
        if ask is Ask.KERNEL:
            return self._planned().kernel(body)
        if ask is Ask.COPIED:
            return self._planned().copied(), 0.0, 0.0
        if ask is Ask.LAUNCH:
            return self._launch_part(body)
        if ask is Ask.STAY and self._memory is not None:
            return 0, self._memory.stay(body), 0.0
        return 0, 0.0, 0.0

    def _launch_part(self, part: int) -> tuple[int, float, float]:
        """Part 0 looks, the others tell; no kernels where the tracer saw none or failed."""
        if part == 0:
            try:
                self._launch = self._planned().launch()
            except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
                self._launch = None
                print(f"launch not traced: {error}", file=sys.stderr)
        return launch_part(self._launch, part)

    def _attach(self, handle: Any, fds: list[int]) -> None:
        if self._trouble:
            raise Unsupported(self._trouble)
        self._memory = open_memory(handle, fds)
        if handle.cuda is not None:
            self.gate = map_shared(fds[-1], mmap.PAGESIZE)
        # With one of these files a candidate could cut the judge's memory off.
        for fd in fds:
            os.close(fd)
        self._lock.lock_down()

    def _explain(self, ask: Ask, why: str) -> None:
        """A refusal by the compiler goes to the build log; one at the load to the runner's."""
        if ask is Ask.BUILD:
            self._place.keep_log(why)
        else:
            print(why, file=sys.stderr, flush=True)

    def _turn_to_case(self, ask: Ask, body: Any) -> None:
        if ask is Ask.CASE:
            self._lay_out(*body)
        elif ask is Ask.KEEP:
            self._kept[body] = self._planned()
        else:
            self._plan = self._kept[body]

    def _lay_out(self, layout: Layout, slots: int) -> None:
        if self._memory is None:
            raise RuntimeError("case before attach")
        self._plan = self._built().plan(layout, self._memory, slots)

    def _watch(self, ask: Ask, layout: Layout) -> None:
        """Leave what a tool says where the supervisor reads; nothing is loaded here."""
        if self._memory is None:
            raise RuntimeError("watched before attach")
        subject = Subject(self._job, self._place, layout)
        if ask is Ask.COUNT:
            self._leave(asdict(count(subject, self._memory)))
        else:
            self._leave([asdict(one) for one in sanitize(subject, self._memory)])

    def _leave(self, told: Any) -> None:
        # What a candidate may have written is not made six times as long, which would be cut off.
        self._place.keep_log(json.dumps(told, ensure_ascii=False))

    def _load(self) -> None:
        if not self._sealed:
            raise RuntimeError("asked to load before the lock was closed")
        self._built().load()

    def _built(self) -> CandidateKernel:
        if self._kernel is None:
            raise RuntimeError("asked to seal before build")
        return self._kernel

    def _planned(self) -> CallPlan:
        if self._plan is None:
            raise RuntimeError("asked to call before a case was laid out")
        return self._plan

    def _run(self, calls: int) -> None:
        """One burst. With no calls there need not be anything that could be called yet."""
        if calls:
            self._planned().run(calls)
        elif self._memory is not None:
            self._memory.stir()

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
            self._run(calls)
            word = DONE
        gate[0] = word


def launch_part(launch: KernelLaunch | None, part: int) -> Part:
    """The runner's side: kernels and occupancy, grid, block, registers and shared memory."""
    if launch is None or part not in PARTS:
        return 0, 0.0, 0.0
    told = launch.occupancy_percent
    grid, block = (_three(sizes) for sizes in (launch.grid, launch.block))
    parts: tuple[Part, ...] = (
        (launch.kernels, float(NOT_TOLD if told is None else told), 0.0),
        grid,
        block,
        (launch.registers, float(launch.shared_bytes), 0.0),
    )
    return parts[part]


def _three(sizes: Sequence[int]) -> Part:
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, float(y), float(z)
