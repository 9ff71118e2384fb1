"""The judge's side of one runner: questions with deadlines, and the start signal for bursts."""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import select
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from campaigns.evaluator import wire
from campaigns.evaluator.contract import Outcome, Phase
from campaigns.evaluator.contract.errors import CandidateError, HostError
from campaigns.evaluator.contract.job import CANDIDATE, INCUMBENT, RIVAL
from campaigns.evaluator.judge.integrity.process_hold import (
    ProcessHold,
    StopRefused,
    ThreadPlaces,
    cpu_s,
    with_children,
)
from campaigns.evaluator.judge.integrity.time_budget import REFERENCE, TimeBudget
from campaigns.evaluator.wire import Ask, Reply, ReplyStatus

SPINS_BETWEEN_LOOKS = 20_000
# Questions are numbered from a secret start in secret steps, so no answer can be sent ahead.
FIRST_BITS, STEP = 61, 1 << 20
# A burst is made again where a stopped process ran. At most so many bursts of one arm are, and this
# share of all: a candidate could otherwise repeat bursts until they seem fast.
MOST_FORGIVEN, SHARE_FORGIVEN = 8, 1 / 16

# Failures that the runner's own code reports.
FAILED = {
    ReplyStatus.BUILD_FAILED: (Outcome.BUILD_FAILED, "the build failed"),
    ReplyStatus.UNSUPPORTED: (Outcome.BROKEN_HOST, "this host cannot run it"),
}
# Once the candidate is loaded, it may be the one that answers. So only the fact that a question
# failed counts: no candidate can put the blame on the host, or be measured again, by its answer.
LOAD_FAILED = Outcome.BUILD_FAILED, "the candidate could not be loaded"
CALL_FAILED = Outcome.CRASHED, "a call raised an error"
# Believed everywhere: whoever says so is refused.
UNORDERED = (
    Outcome.WRONG_RESULT,
    "a call left work on another stream, and the stream that it was called on does not wait for it",
)
# Taken from interpreted candidates alone: it can prevent a rejection, never cause acceptance.
NOT_JUDGED = Outcome.NOT_JUDGED, "it was not run to its end"


class BurstGate:
    """One shared word on which both sides spin: GO by the judge, DONE or FAILED by the runner."""

    IDLE, GO, DONE, FAILED = range(4)

    def __init__(self) -> None:
        self.fd = os.memfd_create("kopt-gate", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, mmap.PAGESIZE)
        self._word = mmap.mmap(self.fd, mmap.PAGESIZE)

    def reset(self) -> None:
        self._word[0] = self.IDLE

    def go(self) -> None:
        self._word[0] = self.GO

    def answer(self) -> int:
        """Spin a while for the runner's answer; IDLE when it has not come."""
        word = self._word
        for _ in range(SPINS_BETWEEN_LOOKS):
            if word[0] > 1:
                return word[0]
        return self.IDLE


def _end(error: CandidateError) -> None:
    raise error


class RunnerChannel:
    """One runner. A candidate that fails raises CandidateError, an incumbent HostError.

    leave: has a candidate leave a comparison of several; raises the error where none would be left.
    """

    def __init__(
        self,
        name: str,
        sock: socket.socket,
        hold: ProcessHold,
        *,
        spins: bool,
        total: TimeBudget | None = None,
    ) -> None:
        wire.name_senders(sock)
        self.name = name
        # What an arm is called where people read of it alone.
        self.role = INCUMBENT if name == INCUMBENT else CANDIDATE
        self.leave: Callable[[CandidateError], None] = _end
        self.has_left = False
        self._total = total or TimeBudget()
        self.phase = Phase.START
        self.case = ""
        # What a check does beyond the case as declared, for messages: "", "hidden sizes", …
        self.detail = ""
        # Whether its candidate runs in an interpreter, in place of the device that it is made for.
        self.interpreted = False
        self.gate = BurstGate() if spins else None
        self._sock = sock
        self._bursts = self._forgiven = 0
        # Whether it may have run some of the candidate's code.
        self.is_hostile = False
        self._sequence = secrets.randbits(FIRST_BITS)
        # The process that answered first, before it had read any of the candidate.
        self._runner = 0
        # That process and those it has started, as of the start of a burst.
        self._family: set[int] = set()
        self._places = ThreadPlaces()
        # Their CPU time then.
        self._began_s = 0.0
        self._hold = hold

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Within, a candidate that fails leaves, and the others go on."""
        try:
            yield
        except CandidateError as error:
            self.leave(error)

    def accuse(self, error: Exception) -> None:
        """Raise it, unless another candidate is at fault: that one leaves, and this arm goes on."""
        if not isinstance(error, CandidateError) or error.arm in ("", self.name):
            raise error
        self.leave(error)

    def ask(self, ask: Ask, body: Any, limit_s: float, fds: list[int] | None = None) -> Reply:
        """Ask one question and wait for its answer, at most `limit_s` seconds."""
        self.begin(ask, body, fds)
        return self.finish(limit_s)

    def begin(self, ask: Ask, body: Any, fds: list[int] | None = None) -> None:
        """Ask one question without waiting; `finish` has to follow before the next one."""
        self.is_hostile = self.is_hostile or ask in (Ask.LOAD, Ask.TAKE_VARIANT)
        self.thaw()
        self._put(ask, body, fds or [])

    def finish(self, limit_s: float) -> Reply:
        """Wait for the answer, at most `limit_s` seconds from now."""
        self._sock.settimeout(max(1e-3, min(limit_s, self._total.left_s(self.name))))
        try:
            with self._total.waiting_for(self.name):
                received = wire.receive_reply(self._sock, self._sequence)
        except TimeoutError:
            raise self._late(limit_s) from None
        except wire.WireError as error:
            raise self.blame(Outcome.CHEATED, f"forged message: {error}") from None
        if received is None:
            raise self._dead()
        reply, sender = received
        if not self._runner:
            self._runner = sender
            self._hold.know(self.name, sender)
        if sender != self._runner:
            raise self.blame(Outcome.CHEATED, "forged message: from another process than its own")
        if reply.answer is ReplyStatus.OK:
            return reply
        failed = LOAD_FAILED if self.phase is Phase.LOAD else CALL_FAILED
        outcome, words = failed if self.is_hostile else FAILED.get(reply.answer, CALL_FAILED)
        if reply.answer is ReplyStatus.UNORDERED:
            outcome, words = UNORDERED
        if self.interpreted and reply.answer is ReplyStatus.NOT_JUDGED:
            outcome, words = NOT_JUDGED
        if outcome is Outcome.BROKEN_HOST:
            raise HostError(f"{self.name}: {words}, see the log")
        raise self.blame(outcome, words)

    def has_answered(self) -> bool:
        """Whether `finish` would not have to wait."""
        return bool(select.select([self._sock], [], [], 0)[0])

    def rest_helpers(self) -> None:
        """Stop what was continued to help the judge; raises what `freeze` does."""
        self._stop(self._hold.rest_helpers)

    def freeze(self) -> None:
        """Stop the runners of all arms; each stays stopped until it is asked again."""
        self._stop(self._hold.freeze)

    def _stop(self, stop: Callable[[], None]) -> None:
        refused: StopRefused | None = None
        try:
            with self._total.waiting_for(self.name):
                stop()
        except StopRefused as error:
            refused = error
        if refused is not None:
            name = self._hold.whose(refused.pid)
            self.accuse(self.blame(Outcome.CHEATED, str(refused), name))
            self._stop(stop)
        if self._total.left_s(self.name) <= 0:
            # A candidate that makes each stop slow would otherwise use up the judge's time
            # unnoticed.
            raise self._late(self._total.limit_s)
        self._total.require_cpu()

    def restless(self) -> Exception | None:
        """The error to raise where a stopped process has run; None where none has."""
        pid = self._hold.moved()
        if not pid:
            return None
        return self.blame(
            Outcome.CHEATED, "the process ran while it was stopped", self._hold.whose(pid)
        )

    def again(self, seconds: float) -> None:
        """Count time of a burst that has to be made again. Raises HostError once it is too much."""
        self._total.again(seconds)

    def forgive(self, restless: Exception) -> None:
        """Allow a burst to be made again; accuses whom it was when it has happened too often."""
        self._forgiven += 1
        if self._forgiven > MOST_FORGIVEN + SHARE_FORGIVEN * self._bursts:
            self.accuse(restless)
            self._forgiven = 0

    def thaw(self) -> None:
        """Let this runner continue; those of other arms stay as they are."""
        self._hold.thaw(self._runner)

    def kill(self) -> None:
        """End this runner and the processes that it started; it cannot be asked any more."""
        self._hold.kill(self._runner)

    def pose(self, calls: int, limit_s: float) -> None:
        """Before inputs are refreshed: a runner with a gate takes the question and spins."""
        if self.gate is not None:
            self.gate.reset()
            self.ask(Ask.BURST, calls, limit_s)

    def start_burst(self, calls: int) -> None:
        """While the runner is stopped: one without a gate finds its question when it continues."""
        self._bursts += 1
        if self.gate is None:
            self._put(Ask.BURST, calls, [])
        self._family = with_children(self._runner)
        if self.gate is None:
            with contextlib.suppress(OSError):
                self._places.bind(self._family)
        self._began_s = sum(map(cpu_s, self._family))

    @property
    def used_s(self) -> float:
        """CPU time of the runner since the start of its last burst."""
        return sum(map(cpu_s, self._family)) - self._began_s

    @staticmethod
    def rest(seconds: float) -> None:
        """Spin as `done` does, so that the judge's caches are as cold as after a longer wait."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            pass

    def go(self) -> None:
        """Start the burst. The caller's clock runs from here until `done`.

        The runner is stopped until now: awake any earlier, it could finish its work before the
        clock starts.
        """
        if self.gate is not None:
            self.gate.go()
        self._hold.thaw(self._runner, self._family)
        with contextlib.suppress(OSError):
            self._places.release(self._family)

    def done(self, limit_s: float) -> None:
        """Wait until the runner says that its burst is done."""
        if self.gate is None:
            self.finish(limit_s)
            return
        deadline = time.monotonic() + min(limit_s, self._total.left_s(self.name))
        with self._total.waiting_for(self.name):
            while not (word := self.gate.answer()) and time.monotonic() <= deadline:
                self._look_alive()
        if word == BurstGate.IDLE:
            raise self._late(limit_s)
        if word != BurstGate.DONE:
            raise self.blame(*CALL_FAILED)

    def _look_alive(self) -> None:
        self._sock.setblocking(False)
        try:
            if not self._sock.recv(wire.REPLY.size, socket.MSG_PEEK):
                raise self._dead()
        except BlockingIOError:
            return
        except ConnectionError:
            raise self._dead() from None

    def _put(self, ask: Ask, body: Any, fds: list[int]) -> None:
        self._sequence += 1 + secrets.randbelow(STEP)
        self._sock.setblocking(False)
        try:
            spoken = False
            with contextlib.suppress(BlockingIOError):
                # A message that no question asked for.
                spoken = bool(self._sock.recv(1, socket.MSG_PEEK))
            if spoken:
                raise self.blame(Outcome.CHEATED, "forged message: an answer before the question")
            # Without waiting: a runner that has answered every question has read it, so there is
            # room.
            wire.send_ask(self._sock, ask, self._sequence, body, fds)
        except BlockingIOError:
            words = "answered questions without reading them"
            raise self.blame(Outcome.CHEATED, words) from None
        except OSError:
            raise self._dead() from None

    def _late(self, limit_s: float) -> Exception:
        if self._total.left_s(self.name) <= 0:
            words = f"not finished within {self._total.limit_s:g} s, the limit in total"
            is_over = time.monotonic() >= self._total.deadline
            name = self._total.spent_by() if is_over else self.name
            if name == REFERENCE:
                # A slow reference would otherwise make a kernel of a microsecond seem late.
                return HostError(f"{REFERENCE} took most of the time: {words}; use smaller cases")
            return self.blame(Outcome.TIMED_OUT, words, name)
        words = f"no answer within {limit_s:g} s, the limit of {self.phase}"
        return self.blame(Outcome.TIMED_OUT, words)

    def _dead(self) -> Exception:
        return self.blame(Outcome.CRASHED, f"the process died during {self.phase}")

    def blame(self, outcome: Outcome, reason: str, name: str = "") -> Exception:
        """The error to raise: CandidateError for a candidate, HostError for an incumbent.

        name: the arm at fault, where that is not this one. What cannot be judged here is no fault.
        """
        where, name = f"case {self.case}{self.detail}: " if self.case else "", name or self.name
        contends = name.startswith((CANDIDATE, RIVAL))
        if not contends and outcome is not Outcome.NOT_JUDGED:
            return HostError(f"the {name} failed: {where}{reason}")
        arm = name if contends else ""
        return CandidateError(outcome, self.phase, f"{where}{reason}", self.case, arm)
