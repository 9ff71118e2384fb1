"""Screens variants: one load, one check, and a few short bursts each, all on the same slots.

The order of variants is what this is for. Nothing that it says accepts a kernel: the runner is not
stopped between calls, sees its inputs ahead of the clock and has seen other variants before. What
comes first here is evaluated in full elsewhere.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace

from campaigns.evaluator.builds import memory_files
from campaigns.evaluator.contract import Outcome, Phase, backends
from campaigns.evaluator.contract.errors import CandidateError, EvaluationError, HostError, one_line
from campaigns.evaluator.contract.stream import ScreenResult, VariantOrder
from campaigns.evaluator.judge.progress import JudgeTask
from campaigns.evaluator.screen.screened_case import ScreenedCase
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask

# A variant this many times slower than the best is not timed on.
FAR_BEHIND = 1.5
# One whose single call says so is not given longer bursts, which last as many calls as the best's:
# it is so many times slower than the best, and by more than a single call is wrong by.
HOPELESS = 2.0
ROUGHLY_US = 50.0
NEAR, MORE = 1.1, 6  # what may be among the best is timed more often
ALIVE_S = 5.0


class ScreenBench:
    """One runner, and the slots of every case."""

    def __init__(self, task: JudgeTask) -> None:
        job = self._job = task.job
        self.runner = StreamRunner(task)
        self._best_us: dict[str, float] = {}
        self._names = backends.get(job.backend).artefacts
        self.runner.channel.ask(Ask.SEAL, None, job.protocol.limits.load_s)
        self._cases = [ScreenedCase(job, case, self.runner) for case in job.cases]

    def take(self, order: VariantOrder) -> tuple[ScreenResult, EvaluationError | None]:
        """Screen one variant; with the error where it has broken its runner."""
        said = memory_files.empty()
        try:
            return self._screened(order, said), None
        except CandidateError as error:
            words = one_line(memory_files.held(said, 4096).decode("utf-8", "replace"))
            reason = f"{error.reason}: {words}" if words else error.reason
            broken = None
            try:
                self.runner.look_alive(ALIVE_S)
            except CandidateError:
                # The runner, or its device, does nothing any more.
                broken = error
            return ScreenResult(order.number, error.outcome, reason[:500]), broken
        finally:
            os.close(said)

    def _screened(self, order: VariantOrder, said: int) -> ScreenResult:
        self._load(order, said)
        result = ScreenResult(order.number, Outcome.PASSED)
        for case in self._cases:
            case.lay()
            if wrong := case.check():
                return replace(result, outcome=Outcome.WRONG_RESULT, reason=wrong[:500])
            best_us = self._best(case, order)
            most_us = HOPELESS * best_us + ROUGHLY_US
            if best_us and (rough_us := case.rough_us(most_us)) > most_us:
                return replace(result, times_us={case.case.name: rough_us}, ended_early=True)
        times_us: dict[str, float] = {}
        for case in self._cases:
            name = case.case.name
            most_us = FAR_BEHIND * self._best(case, order) or math.inf
            case.prepare(again=len(self._cases) > 1)
            times_us[name] = case.time_us(most_us)
            if times_us[name] > most_us:
                return replace(result, times_us=times_us, ended_early=True)
            more = MORE if times_us[name] <= NEAR * self._best(case, order) else 1
            times_us[name] = min(times_us[name], *(case.burst_us() for _ in range(more)))
        for name, time_us in times_us.items():
            self._best_us[name] = min(time_us, self._best_us.get(name, time_us))
        return replace(result, times_us=times_us)

    def _best(self, case: ScreenedCase, order: VariantOrder) -> float:
        """The least time known of a case in µs, 0 for none.

        Orders are sent ahead, so that one may not know of the last result.
        """
        known = (best_us.get(case.case.name) for best_us in (self._best_us, order.best_us))
        return min(filter(None, known), default=0.0)

    def _load(self, order: VariantOrder, said: int) -> None:
        channel = self.runner.channel
        channel.phase, channel.case = Phase.LOAD, ""
        try:
            files = [memory_files.sealed(order.artefact / name) for name in self._names]
        except OSError as error:
            raise HostError(f"{error.strerror}: {error.filename}") from None
        try:
            body = (order.source, self._cases[0].layout)
            channel.ask(Ask.TAKE_VARIANT, body, self._job.protocol.limits.load_s, [*files, said])
        finally:
            for fd in files:
                os.close(fd)
        channel.phase = Phase.CHECK

    def stop(self) -> None:
        self.runner.stop()
