"""The judge's side of one runner: questions with deadlines, and the go word for bursts."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from campaigns.evaluator import wire
from campaigns.evaluator.contract import Outcome, Phase
from campaigns.evaluator.errors import CandidateError, HostError
from campaigns.evaluator.judge.hold import Hold, Restless
from campaigns.evaluator.wire import Ask, Reply, ReplyStatus

SPINS_BETWEEN_LOOKS = 20_000
# Questions are numbered from a secret start in secret steps, so no answer can be sent ahead.
FIRST_BITS, STEP = 61, 1 << 20
# How many bursts of one arm are made again because somebody did not stay stopped: so many, and that
# share of all. Whoever could have it done without end would choose those that seem fastest.
MOST_FORGIVEN, SHARE_FORGIVEN = 8, 1 / 16

# What the runner's own code says went wrong.
FAILED = {
    ReplyStatus.BUILD_FAILED: (Outcome.BUILD_FAILED, "the build failed"),
    ReplyStatus.UNSUPPORTED: (Outcome.BROKEN_HOST, "this host can not run it"),
}
# Once the candidate is there it may be the one who answers: that a question failed is all that
# counts, so no candidate has the host blamed, or is measured again, by its own word.
LOAD_FAILED = Outcome.BUILD_FAILED, "the candidate could not be loaded"
CALL_FAILED = Outcome.CRASHED, "a call raised an error"

# Who has spent the time when it is the problem itself.
REFERENCE = "ref.py"


class Gate:
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
        """Spin a while for the runner's word; IDLE when it has not come."""
        word = self._word
        for _ in range(SPINS_BETWEEN_LOOKS):
            if word[0] > 1:
                return word[0]
        return self.IDLE


class Total:
    """The time that an evaluation may take, and how long each arm has been waited for in it.

    reference_s: how long the problem's `ref.py` has taken, which no arm can help.
    """

    def __init__(
        self, limit_s: float = math.inf, reference_s: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.limit_s = limit_s
        self.deadline = time.monotonic() + limit_s
        self._waited_s: dict[str, float] = {}
        self._reference_s, self._before_s = reference_s, reference_s()

    @contextlib.contextmanager
    def waiting_for(self, name: str) -> Iterator[None]:
        since = time.monotonic()
        try:
            yield
        finally:
            passed_s = time.monotonic() - since
            self._waited_s[name] = self._waited_s.get(name, 0.0) + passed_s

    def spent_by(self) -> str:
        """The arm, or `REFERENCE`, that took most of it, whoever was asked when it was over."""
        spent_s = {**self._waited_s, REFERENCE: self._reference_s() - self._before_s}
        return max(spent_s, key=spent_s.__getitem__)


class Channel:
    """One runner. A candidate that fails raises CandidateError, an incumbent HostError."""

    def __init__(
        self,
        name: str,
        sock: socket.socket,
        hold: Hold,
        *,
        spins: bool,
        total: Total | None = None,
    ) -> None:
        wire.name_senders(sock)
        self.name = name
        self._total = total or Total()
        self.phase = Phase.START
        self.case = ""
        # What a check does beyond the case as declared, for messages: "", "hidden sizes", …
        self.detail = ""
        self.gate = Gate() if spins else None
        self._sock = sock
        self._bursts = self._forgiven = 0
        # Whether it may have run some of the candidate's code.
        self._hostile = False
        self._sequence = secrets.randbits(FIRST_BITS)
        # The process that answered first, before it had read a byte of the candidate.
        self._runner = 0
        # That and what it has started, as it was before a burst.
        self._family: set[int] = set()
        self._hold = hold

    @property
    def process(self) -> int:
        """The runner's process, as this one sees it; 0 before its first answer."""
        return self._runner

    def ask(self, ask: Ask, body: Any, limit_s: float, fds: list[int] | None = None) -> Reply:
        """Ask one question and wait for its answer, at most `limit_s` seconds."""
        self.begin(ask, body, fds)
        return self.finish(limit_s)

    def begin(self, ask: Ask, body: Any, fds: list[int] | None = None) -> None:
        """Ask one question, and nothing else until `finish`: others may be asked meanwhile."""
        self._hostile = self._hostile or ask is Ask.LOAD
        self._send(ask, body, fds or [])

    def finish(self, limit_s: float) -> Reply:
        """Wait for the answer, at most `limit_s` seconds from now."""
        left_s = self._total.deadline - time.monotonic()
        self._sock.settimeout(max(1e-3, min(limit_s, left_s)))
        try:
            with self._total.waiting_for(self.name):
                received = wire.receive_reply(self._sock, self._sequence)
        except TimeoutError:
            raise self._late(limit_s) from None
        except wire.WireError as error:
            raise self.blame(Outcome.CHEATED, f"forged message: {error}") from None
        except ConnectionError:
            raise self._dead() from None
        if received is None:
            raise self._dead()
        reply, sender = received
        if not self._runner:
            self._runner = sender
            self._hold.know(self.name, sender)
        if sender != self._runner:
            raise self.blame(Outcome.CHEATED, "forged message: from another process than its own")
        if reply.answer is not ReplyStatus.OK:
            self._fail(reply.answer)
        return reply

    def freeze(self) -> None:
        """Stop every runner, this one as well as the other arm's; they wait until asked again."""
        try:
            with self._total.waiting_for(self.name):
                self._hold.freeze()
            if time.monotonic() >= self._total.deadline:
                # Who makes each stop last could otherwise make the judge late without being asked.
                raise self._late(self._total.limit_s)
        except Restless as error:
            name = self._hold.whose(error.pid)
            raise self.blame(Outcome.CHEATED, str(error), name) from None

    def halt(self) -> None:
        """Stop every runner, this one first: `freeze` looks around before it stops anybody."""
        self._hold.halt(self._family)
        self.freeze()

    def restless(self) -> Exception | None:
        """The error that fits when a process has gone on since it was stopped, by itself."""
        pid = self._hold.moved()
        if not pid:
            return None
        return self.blame(Outcome.CHEATED, "it went on while it was stopped", self._hold.whose(pid))

    def forgive(self, restless: Exception) -> None:
        """A burst is made again for this; raises it when that has happened too often."""
        self._forgiven += 1
        if self._forgiven > MOST_FORGIVEN + SHARE_FORGIVEN * self._bursts:
            raise restless

    def thaw(self) -> None:
        """Let this runner go on; the other arm's stays as it is."""
        self._hold.thaw(self._runner)

    def kill(self) -> None:
        """End this runner and what it started; nothing can be asked of it any more."""
        self._hold.kill(self._runner)

    def pose(self, calls: int, limit_s: float) -> None:
        """Before anything is refreshed: have a runner with a gate take the question and spin."""
        if self.gate is not None:
            self.gate.reset()
            self.ask(Ask.BURST, calls, limit_s)

    def start_burst(self, calls: int) -> None:
        """With the runner stopped: one without a gate has its question waiting when it goes on."""
        self._bursts += 1
        if self.gate is None:
            self._put(Ask.BURST, calls, [])
        self._family = self._hold.with_children(self._runner)

    @staticmethod
    def rest(seconds: float) -> None:
        """Spin, as in `done`: what the judge does after it is then as long ago as with a wait."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            pass

    def go(self) -> None:
        """Start the burst. The caller's clock runs from here until `done`.

        The runner is stopped until now. Were it awake any earlier, it would have its work done
        before the clock starts, however late the judge comes to start it.
        """
        if self.gate is not None:
            self.gate.go()
        self._hold.thaw(self._runner, self._family)

    def done(self, limit_s: float) -> None:
        """Wait until the runner says that its burst is done."""
        if self.gate is None:
            self.finish(limit_s)
            return
        with self._total.waiting_for(self.name):
            word = self._spin(self.gate, limit_s)
        if word == Gate.IDLE:
            raise self._late(limit_s)
        if word != Gate.DONE:
            raise self.blame(*CALL_FAILED)

    def _spin(self, gate: Gate, limit_s: float) -> int:
        """The runner's word; IDLE when it has not come in time."""
        deadline = min(time.monotonic() + limit_s, self._total.deadline)
        while (word := gate.answer()) == Gate.IDLE and time.monotonic() <= deadline:
            self._look_alive()
        return word

    def _look_alive(self) -> None:
        self._sock.setblocking(False)
        try:
            if not self._sock.recv(wire.REPLY.size, socket.MSG_PEEK):
                raise self._dead()
        except BlockingIOError:
            return
        except ConnectionError:
            raise self._dead() from None

    def _send(self, ask: Ask, body: Any, fds: list[int]) -> None:
        self.thaw()
        self._put(ask, body, fds)

    def _put(self, ask: Ask, body: Any, fds: list[int]) -> None:
        self._sequence += 1 + secrets.randbelow(STEP)
        self._sock.setblocking(False)
        try:
            if self._has_spoken():
                raise self.blame(Outcome.CHEATED, "forged message: an answer before the question")
            # Without waiting: who has answered every question has read it, so there is room.
            wire.send_ask(self._sock, ask, self._sequence, body, fds)
        except BlockingIOError:
            words = "answered questions that it had not taken off the socket"
            raise self.blame(Outcome.CHEATED, words) from None
        except OSError:
            raise self._dead() from None

    def _has_spoken(self) -> bool:
        """Whether a message waits that nobody has asked for."""
        try:
            return bool(self._sock.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return False

    def _fail(self, answer: ReplyStatus) -> None:
        failed = LOAD_FAILED if self.phase is Phase.LOAD else CALL_FAILED
        outcome, words = failed if self._hostile else FAILED.get(answer, CALL_FAILED)
        if outcome is Outcome.BROKEN_HOST:
            raise HostError(f"{self.name}: {words}, see the log")
        raise self.blame(outcome, words)

    def _late(self, limit_s: float) -> Exception:
        if time.monotonic() >= self._total.deadline:
            words = f"not finished within {self._total.limit_s:g} s, the limit in total"
            name = self._total.spent_by()
            if name == REFERENCE:
                # Of a slow reference a kernel of a microsecond would be said to be late.
                return HostError(f"{REFERENCE} took most of the time: {words}; use smaller cases")
            return self.blame(Outcome.TIMED_OUT, words, name)
        words = f"no answer within {limit_s:g} s, the limit of {self.phase}"
        return self.blame(Outcome.TIMED_OUT, words)

    def _dead(self) -> Exception:
        return self.blame(Outcome.CRASHED, f"the process died during {self.phase}")

    def blame(self, outcome: Outcome, reason: str, name: str = "") -> Exception:
        """The error that says so: the candidate's own, or the host's when an incumbent fails.

        name: of the arm to blame, when it is the one that does not have its turn.
        """
        where = f"case {self.case}{self.detail}: " if self.case else ""
        if (name or self.name) != "candidate":
            return HostError(f"the {name or self.name} failed: {where}{reason}")
        return CandidateError(outcome, self.phase, f"{where}{reason}", self.case)
