"""One case of a screen: its slots, a quick check of a loaded variant, and bursts."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil

import torch

from campaigns.evaluator.contract import Case, Job
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.judge.correctness.case_context import Answers, CaseContext
from campaigns.evaluator.judge.correctness.fresh_inputs import Poison, SeparateInputs, fill
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask

# So many variants are checked on the same inputs, which none of them has seen before.
USES = 8
IDLE_BURSTS = 9
# What disturbs a burst makes it longer, so the least of a few says most. One that seems far behind
# is made so often before that is believed: compilers may keep all CPUs busy.
LEAST, MOST = 2, 6


class ScreenedCase:
    """The same slots for every variant; as many calls a burst as its length asks for."""

    def __init__(self, job: Job, case: Case, runner: StreamRunner) -> None:
        self.case = case
        self.layout: Layout = runner.layouts[case.name]
        self._job = job
        self._runner = runner
        self._channel = runner.channel
        self._slots = runner.arenas.slots(runner.channel, self.layout)
        self._context: CaseContext = runner.arenas.context(case, self._slots)
        self._updates = any(arg.update for arg in self.layout.outputs)
        self._most = self._slots.count
        self._filled = 0
        self._calls = 0
        self._uses = 0
        self._given: SeparateInputs | None = None
        self._want: Answers = {}
        self._idle_s = 0.0

    def lay(self) -> None:
        """Have the runner work on this case."""
        slots = self._slots.part(0, max(self._calls, 1))
        self._runner.arenas.tell(self._channel, self.case, slots)

    def check(self) -> str:
        """What is wrong with one call, or ""."""
        context, one = self._context, self._slots.part(0, 1)
        # Now and then new inputs, for a reference takes time.
        if self._given is None or self._uses >= USES:
            self._given, self._uses = SeparateInputs([context.supply.example()]), 0
            self._want = context.expect(self._given, 0, torch.float64)
        self._uses += 1
        poison = Poison(one, context.supply.noise)
        fill(one, self._given)
        context.wait()
        self._channel.ask(Ask.CALL, 0, context.limit_s)
        context.wait()
        found = context.closer_look(one, self._want, 0)
        if found.ok:
            return ""
        never = " (the output, or part of it, was never written)" if poison.left_in(0, 1) else ""
        return f"case {self.case.name}: {found.message}{never}"

    def rough_us(self, near_us: float) -> float:
        """Microseconds of one call in bursts of its own, right to some ten of them.

        near_us: what is no longer than this is not tried again.
        """
        if not self._calls:
            self._set_calls(1)
        self._prepare(1)
        if self._updates:
            self._fill()
        return _least(lambda: (self._burst_s(1) - self._idle_s) * 1e6, near_us)

    def time_us(self, near_us: float) -> float:
        """Microseconds per call, the least of a few bursts; near_us: as of `rough_us`."""
        return _least(self.burst_us, near_us)

    def prepare(self, *, again: bool) -> None:
        """Get ready for bursts of a length that suits this variant, or is the last one's."""
        if again:
            self.lay()
        if not self._calls:
            self._set_calls(1)
        self._prepare(self._calls)
        wanted_s = self._job.protocol.burst_ms * 1e-3
        for _ in range(4):
            took_s = self._calls * self.burst_us() * 1e-6
            # A faster variant needs longer bursts; for a slower one they only get longer.
            if took_s > wanted_s / 3 or self._calls >= self._most:
                return
            more = ceil(self._calls * wanted_s / max(took_s, 1e-6))
            self._set_calls(min(self._most, more, 16 * self._calls))
            self._prepare(self._calls)

    def _set_calls(self, calls: int) -> None:
        self._calls = calls
        self.lay()
        self._fill()

    def _fill(self) -> None:
        """Give every slot of a burst something to work on, once."""
        if self._filled < self._calls or self._updates:
            part = self._slots.part(0, self._calls)
            fill(part, self._context.supply.fresh(part.count, self._context.refresh))
            self._filled = self._calls

    def _prepare(self, calls: int) -> None:
        limit_s = self._job.protocol.limits.prepare_s
        self._channel.ask(Ask.PREPARE, (calls, False), limit_s)
        if not self._idle_s:
            self._idle_s = min(self._burst_s(0) for _ in range(IDLE_BURSTS))

    def burst_us(self) -> float:
        """Microseconds per call of one burst, less what a burst of no calls takes."""
        if self._updates:
            self._fill()
        took_s = self._burst_s(self._calls) - self._idle_s
        return max(took_s, 1e-9) / self._calls * 1e6

    def _burst_s(self, calls: int) -> float:
        context, channel = self._context, self._channel
        touched = self._slots.part(0, calls or self._calls)
        context.cool(touched.rows, self._slots.rows.numel())
        if channel.gate is None:
            channel.ask(Ask.ORDER, tuple(range(calls)), context.limit_s)
            begun = time.perf_counter()
            channel.ask(Ask.BURST, calls, context.limit_s)
            return time.perf_counter() - begun
        channel.pose(calls, context.limit_s)
        context.wait()
        begun = time.perf_counter()
        channel.gate.go()
        channel.done(context.limit_s)
        return time.perf_counter() - begun


def _least(burst_us: Callable[[], float], near_us: float) -> float:
    """The least of LEAST bursts, or of up to MOST while none is as short as `near_us`."""
    least_us = min(burst_us() for _ in range(LEAST))
    for _ in range(LEAST, MOST):
        if least_us <= near_us:
            break
        least_us = min(least_us, burst_us())
    return least_us
