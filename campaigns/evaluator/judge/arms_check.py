"""Are the arms right? All of them on one case, and what they compile is compiled at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from campaigns.evaluator.contract import Case, Outcome, Phase
from campaigns.evaluator.contract.errors import CandidateError, HostError
from campaigns.evaluator.contract.job import INCUMBENT
from campaigns.evaluator.judge.arena_layout import ArenaLayout
from campaigns.evaluator.judge.correctness.case_check import BATCH, CaseCheck
from campaigns.evaluator.judge.correctness.trial import SharedSets
from campaigns.evaluator.judge.integrity.channel import RunnerChannel
from campaigns.evaluator.judge.progress import JudgeTask

HaveEach = Callable[[Callable[[RunnerChannel], object]], None]


class ArmsCheck:
    """The checks of all arms. channels: of the arms that are left, by name; have_each: does
    something with each of them, see `MeasuringSession`.
    """

    def __init__(
        self,
        task: JudgeTask,
        arenas: ArenaLayout,
        sets: SharedSets,
        channels: Mapping[str, RunnerChannel],
        have_each: HaveEach,
    ) -> None:
        self._job, self._progress = task.job, task.progress
        self._on_gpu = task.job.device.startswith("cuda")
        self._arenas, self._sets = arenas, sets
        self._channels, self._have_each = channels, have_each
        # By arm and case.
        self._checks: dict[tuple[str, str], CaseCheck] = {}

    def once(self, case: Case) -> None:
        """One call of every arm: most wrong kernels are refuted by that."""
        self._have_each(partial(self._lay_out, case))
        self._compile(case, set(self._channels))
        self._have_each(partial(self._check_once, case))

    def _lay_out(self, case: Case, channel: RunnerChannel) -> None:
        channel.phase = Phase.CHECK
        layout = self._arenas.layouts[case.name]
        context, slots = self._arenas.lay(channel, case, layout, BATCH)
        self._checks[channel.name, case.name] = CaseCheck(channel, context, slots)

    def _compile(self, case: Case, arms: Collection[str]) -> None:
        """Have these arms make a call that is not looked at, all at once.

        Compilers take seconds; all else is checked one arm after the other.
        """
        if not self._on_gpu or len(arms) < 2:
            return
        begun: set[str] = set()

        def begin(channel: RunnerChannel) -> None:
            if channel.name in arms and self._checks[channel.name, case.name].begin():
                begun.add(channel.name)

        def finish(channel: RunnerChannel) -> None:
            if channel.name in begun:
                channel.finish(self._arenas.call_s)

        self._have_each(begin)
        self._have_each(finish)

    def _check_once(self, case: Case, channel: RunnerChannel) -> None:
        if not self._checks[channel.name, case.name].once():
            self._conclude(case, channel, right=False)

    def every_call(self, case: Case) -> None:
        """All that a candidate has to be right on, of a case that each arm was called on once."""
        extra, right, hidden = self._sets.check, set[str](), dict[str, Iterator[None]]()

        def declared(channel: RunnerChannel) -> None:
            checked = self._checks[channel.name, case.name]
            self._arenas.tell(channel, case, checked.slots)
            lay = partial(self._arenas.lay_near, channel)
            if checked.plain(self._job.protocol.trials):
                right.add(channel.name)
                if checked.unlike(extra, lay, self._sets.of(checked.context)):
                    hidden[channel.name] = checked.hidden(extra, lay)

        def go_on(channel: RunnerChannel) -> None:
            # Up to the next hidden size, or to the end of them.
            if channel.name in hidden and next(hidden[channel.name], ...) is ...:
                del hidden[channel.name]

        self._have_each(declared)
        while hidden.keys() & self._channels.keys():
            self._have_each(go_on)
            self._compile(case, set(hidden))
        self._have_each(lambda one: self._conclude(case, one, right=one.name in right))
        # They hold inputs and answers.
        for name in self._channels:
            del self._checks[name, case.name]

    def _conclude(self, case: Case, channel: RunnerChannel, *, right: bool) -> None:
        """Note what was found. right: whether it is, on the case as declared."""
        checked, arm = self._checks[channel.name, case.name], channel.name
        told = self._progress.notes
        told += [note for note in checked.notes if note not in told]
        report = checked.report()
        reason = f"case {case.name}: {report.message}"
        if arm != INCUMBENT:
            self._progress.checked[arm][case.name] = report
            if not report.correct:
                raise CandidateError(Outcome.WRONG_RESULT, Phase.CHECK, reason, case.name, arm)
        elif not right:
            raise HostError(f"the incumbent is wrong now: {reason}")
        elif not report.correct:
            told.append(f"the incumbent is wrong beyond its case: {reason}")
