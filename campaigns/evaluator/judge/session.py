"""One job's work, case by case: attach, load, check, time."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial

import torch

from campaigns.evaluator.contract import (
    Case,
    Outcome,
    Phase,
    Timer,
    Timing,
    backends,
)
from campaigns.evaluator.contract.errors import CandidateError, HostError
from campaigns.evaluator.contract.layout import BUILT_ONLY
from campaigns.evaluator.judge.arena_layout import ArenaLayout
from campaigns.evaluator.judge.correctness.arena import Slots
from campaigns.evaluator.judge.correctness.case_check import CaseCheck
from campaigns.evaluator.judge.correctness.case_context import CaseContext
from campaigns.evaluator.judge.correctness.reference_client import served_reference
from campaigns.evaluator.judge.correctness.trial import SharedSets
from campaigns.evaluator.judge.integrity import host_watch
from campaigns.evaluator.judge.integrity.channel import RunnerChannel, TimeBudget
from campaigns.evaluator.judge.integrity.device_quiescence import DeviceQuiescence, TimedWork
from campaigns.evaluator.judge.integrity.host_watch import HostWatch
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold
from campaigns.evaluator.judge.progress import JudgeTask
from campaigns.evaluator.judge.timing.arm_timer import Arm, ArmTimer
from campaigns.evaluator.judge.timing.comparison import Comparison, rehearse
from campaigns.evaluator.judge.timing.overhead import Overhead, measure, measure_growth
from campaigns.evaluator.judge.timing.repeat_bursts import with_repeats
from campaigns.evaluator.judge.timing.schedule import agree, forecast_s, forecast_words
from campaigns.evaluator.wire import Ask

# By case and arm.
Timers = Mapping[str, Mapping[str, ArmTimer]]


class MeasuringSession:
    """Holds the reference, the arenas and the runners' channels."""

    def __init__(self, task: JudgeTask) -> None:
        job, channels, progress = task.job, task.channels, task.progress
        self._job = job
        self._progress = progress
        self._spec = task.read_problem(job.problem)
        self._device = torch.device(job.device)
        on_gpu = self._device.type == "cuda"
        if on_gpu:
            torch.cuda.set_device(self._device)
        limits, hold = job.protocol.limits, ProcessHold()
        self._reference = served_reference(job, channels, hold, progress.notes.append)
        self._watch = HostWatch(self._device)
        # Before the candidate's first byte, so that the usual time of the judge's work is measured
        # alone.
        quiescence = (
            DeviceQuiescence(TimedWork(self._device).stretched, self._watch.neighbours)
            if on_gpu
            else None
        )
        self._arenas = ArenaLayout(job, self._spec, self._reference, quiescence)
        # One random case of each evaluation: it takes a while, and a cache does not depend on the
        # case.
        self._repeated = random.SystemRandom().choice(job.cases)
        total = TimeBudget(
            limits.total_s,
            lambda: self._reference.spent_s,
            limits.lost_s,
            self._watch.others_share,
        )
        # In random order: otherwise an incumbent could recognise itself by its turn and hold back.
        names = random.SystemRandom().sample(list(job.arms), len(job.arms))
        self._channels = {
            n: RunnerChannel(n, channels[n], hold, spins=on_gpu, total=total) for n in names
        }
        self._sets = SharedSets(self._spec.check)
        # By arm and case.
        self._checks: dict[tuple[str, str], CaseCheck] = {}
        self._overheads: dict[tuple[str, str], Overhead] = {}
        progress.environment.update(host_watch.describe(self._device))

    @property
    def can_be_timed(self) -> bool:
        """Whether the times of all arms mean anything on this device."""
        return not any(map(self._is_interpreted, self._job.arms))

    def _is_interpreted(self, arm: str) -> bool:
        backend, _ = self._job.arms[arm]
        return ("cpu" if self._device.type == "cpu" else "gpu") not in backends.get(backend).kinds

    def build_notes(self) -> list[str]:
        """What the backend says of how the sources are built, each once."""
        notes = (backends.get(backend).note(source) for backend, source in self._job.arms.values())
        return list(dict.fromkeys(filter(None, notes)))

    def attach(self) -> None:
        """Share one arena with each runner; the runner locks itself down after this."""
        self._arenas.share(self._channels)

    def build(self) -> None:
        """Build every arm; nothing of the candidate's runs here."""
        limits = self._job.protocol.limits
        first = self._arenas.layouts[self._job.cases[0].name]
        refused = self._refusals()

        def build(channel: RunnerChannel) -> None:
            channel.finish(limits.build_s)

        self._progress.enter(Phase.BUILD)
        for channel in self._channels.values():
            # Both at once: a compiler takes seconds, and only the clock needs a quiet host.
            channel.phase = Phase.BUILD
            channel.interpreted = self._is_interpreted(channel.name)
            channel.begin(Ask.BUILD, first)
        if not any(refused):
            self._make_sets()
        self._have_each(build)
        for why in filter(None, refused):
            raise CandidateError(Outcome.NOT_JUDGED, Phase.BUILD, why)

    def _refusals(self) -> list[str]:
        """Why the sources cannot be judged on this device, each "" or a reason."""
        layouts = self._arenas.layouts.values()
        refused = [
            backends.get(backend).refuses(layouts, source.text, self._job.device)
            for backend, source in self._job.arms.values()
        ]
        if short := {arg.dtype for each in layouts for arg in each.tensors} & set(BUILT_ONLY):
            refused.append(f"{min(short)} is judged on no device yet")
        return refused

    def load(self) -> None:
        """Load every arm behind its closed lock; the candidate's code first runs here."""
        limits = self._job.protocol.limits

        def start(channel: RunnerChannel) -> None:
            channel.phase = Phase.LOAD
            channel.ask(Ask.SEAL, None, limits.load_s)
            channel.ask(Ask.LOAD, None, limits.load_s)

        self._progress.enter(Phase.LOAD)
        self._have_each(start)

    def _make_sets(self) -> None:
        """Make inputs and answers of the checks until the compilers have ended."""
        channels = self._channels.values()
        for case in self._job.cases:
            slots = self._arenas.slots(next(iter(channels)), self._arenas.layouts[case.name], 1)
            context = self._arenas.context(case, slots)
            self._sets.prepare(context, lambda: all(one.has_answered() for one in channels))

    def _have_each(self, do: Callable[[RunnerChannel], None]) -> None:
        """Do something with every arm; a fault of the candidate counts first.

        So the result does not depend on the order: of a kernel compared with itself, both arms
        fail.
        """
        failed = None
        for channel in self._channels.values():
            try:
                do(channel)
            except HostError as error:
                if channel.name == "candidate":
                    raise
                failed = error
        if failed is not None:
            raise failed

    def measure_overheads(self) -> None:
        """Measure what bursts take besides calls, before a runner has loaded anything."""

        def of(channel: RunnerChannel, case: Case) -> tuple[CaseContext, RunnerChannel, Slots]:
            slots = self._arenas.slots(channel, self._arenas.layouts[case.name])
            return self._arenas.context(case, slots), channel, slots

        cases, channels = self._job.cases, self._channels
        arms = {(n, case.name): of(c, case) for n, c in channels.items() for case in cases}
        # The growth does not depend on the case.
        growth = measure_growth([arms[name, cases[0].name] for name in channels])
        self._overheads = {key: measure(*arm, growth) for key, arm in arms.items()}

    def check(self) -> None:
        """Every call on fresh secret inputs, against a float64 reference.

        One call of every case comes first: a wrong kernel is hardly ever right in all of them. The
        candidate also has to be right on inputs unlike the declared ones and on hidden sizes.
        An incumbent once was, and only has to be right on the declared case; but it is asked the
        same, or by what it is not asked it would know that it is the incumbent.
        """
        forecast = self._forecast()
        for case in self._job.cases:
            self._progress.enter(Phase.CHECK, case.name + forecast)
            forecast = ""
            self._have_each(partial(self._check_once, case))
        for case in self._job.cases:
            self._progress.enter(Phase.CHECK, case.name)
            self._have_each(partial(self._check_all, case))
            self._sets.drop(case.name)

    def _forecast(self) -> str:
        """What to expect of an evaluation that will take minutes, in brackets, or ""."""
        channel = next(iter(self._channels.values()))
        proofs = {}
        for case in self._job.cases:
            slots = self._arenas.slots(channel, self._arenas.layouts[case.name], 1)
            proofs[case.name] = self._arenas.proof(self._arenas.context(case, slots))
        protocol = self._job.protocol if self._job.timed and self.can_be_timed else None
        seconds = forecast_s(list(proofs.values()), len(self._channels), protocol)
        longest_s = max(proof_s for proof_s, _ in proofs.values())
        words = forecast_words(seconds, longest_s, self._spec.refresh)
        return words and f" ({words})"

    def _check_once(self, case: Case, channel: RunnerChannel) -> None:
        channel.phase = Phase.CHECK
        context, slots = self._arenas.lay(channel, case, self._arenas.layouts[case.name])
        checked = self._checks[channel.name, case.name] = CaseCheck(channel, context, slots)
        if not checked.once():
            self._conclude(checked, case, channel, right=False)

    def _check_all(self, case: Case, channel: RunnerChannel) -> None:
        checked, extra = self._checks[channel.name, case.name], self._spec.check
        self._arenas.tell(channel, case, checked.slots)
        lay = partial(self._arenas.lay_near, channel)
        right = checked.plain(self._job.protocol.trials)
        _ = (
            right
            and checked.unlike(extra, lay, self._sets.of(checked.context))
            and checked.hidden(extra, lay)
        )
        self._conclude(checked, case, channel, right=right)

    def _conclude(
        self, checked: CaseCheck, case: Case, channel: RunnerChannel, *, right: bool
    ) -> None:
        """Note what was found. right: whether it is, on the case as declared."""
        told = self._progress.notes
        told += [note for note in checked.notes if note not in told]
        report = checked.report()
        reason = f"case {case.name}: {report.message}"
        if channel.name == "candidate":
            self._progress.checked[case.name] = report
            if not report.correct:
                raise CandidateError(Outcome.WRONG_RESULT, Phase.CHECK, reason, case.name)
        elif not right:
            raise HostError(f"the incumbent is wrong now: {reason}")
        elif not report.correct:
            self._progress.notes.append(f"the incumbent is wrong beyond its case: {reason}")

    def settle(self) -> Timers:
        """Both arms of every case with bursts of lengths that suit them, probed; by case and arm.

        Raises what `RunnerChannel.blame` makes of a wrong call, and so do the next steps.
        """
        timers = {}
        for number, case in enumerate(self._job.cases):
            self._progress.enter(Phase.PREPARE, case.name)
            timers[case.name] = self._settled(case)
            for channel in self._channels.values():
                channel.ask(Ask.KEEP, number, self._job.protocol.limits.prepare_s)
        return timers

    def compare(self, timers: Timers) -> None:
        """A B B A over both arms of every case; a sample is the slope of two bursts."""

        def turn_to(case: Case) -> None:
            self._turn_to(case, timers[case.name])

        compared = Comparison(self._job, timers, turn_to, self._note_surroundings)
        compared.run()
        self._progress.looks = compared.looks

    def close(self, timers: Timers) -> None:
        """After the last sample: check whether the samples can be believed."""
        for case in self._job.cases:
            self._turn_to(case, timers[case.name])
            for arm in timers[case.name].values():
                arm.close()

    def _turn_to(self, case: Case, arms: Mapping[str, ArmTimer]) -> None:
        """Have both runners work on a case that they have kept."""
        self._progress.enter(Phase.BURST, case.name)
        for arm in arms.values():
            channel = arm.arm.channel
            if channel.case != case.name:
                channel.case = case.name
                arm.resume()
                number = self._job.cases.index(case)
                channel.ask(Ask.TURN, number, self._job.protocol.limits.prepare_s)

    def explain(self, timers: Timers) -> dict[str, dict[str, Timing]]:
        """The measured times by case and arm, and what explains them.

        Called after all cases are timed: once a tracer is attached to a process, all its launches
        take longer.
        """
        return {case.name: self._explained(case, timers[case.name]) for case in self._job.cases}

    def _explained(self, case: Case, arms: Mapping[str, ArmTimer]) -> dict[str, Timing]:
        self._turn_to(case, arms)
        explained = len(arms) > 1
        timings = {name: arm.timing(explained=explained) for name, arm in arms.items()}
        asked = explained and case is self._repeated
        return with_repeats(arms, timings, self._spec.weights) if asked else timings

    def _settled(self, case: Case) -> dict[str, ArmTimer]:
        """Both arms with bursts of lengths that suit them."""
        arms: dict[str, ArmTimer] = {}

        def begin(channel: RunnerChannel) -> None:
            arms[channel.name] = ArmTimer(self._arm(channel, case))

        def settle(channel: RunnerChannel) -> None:
            arms[channel.name].settle(agreed[channel.name])

        self._have_each(begin)
        agreed = agree({name: arm.call_s for name, arm in arms.items()})
        self._have_each(settle)
        loops = [arm.lengths for arm in arms.values() if arm.timer is Timer.LOOP]
        if loops:
            # A graph on the other side would only be another way to launch kernels.
            lengths = max(loops, key=lambda found: found.long)
            for arm in arms.values():
                if arm.timer is Timer.GRAPH or arm.lengths != lengths:
                    arm.as_loop(lengths)
        return arms

    def rehearse(self) -> None:
        """Make bursts that are proven but not timed."""
        for case in self._job.cases:
            self._progress.enter(Phase.BURST, case.name)
            rehearse(self._arm(self._channels["candidate"], case))

    def _arm(self, channel: RunnerChannel, case: Case) -> Arm:
        layout = self._arenas.layouts[case.name]
        context, slots = self._arenas.lay(channel, case, layout)
        most, why_most = self._arenas.most_proven(context)
        return Arm(
            job=self._job,
            channel=channel,
            context=context,
            slots=slots,
            most=most,
            why_most=why_most,
            warm=self._arenas.most_warm(layout),
            overhead=self._overheads[channel.name, case.name],
            check=self._spec.check,
            notes=self._progress.notes,
        )

    def stop(self) -> None:
        for channel in self._channels.values():
            channel.ask(Ask.STOP, None, self._job.protocol.limits.call_s)

    def _note_surroundings(self, case: Case, block: int) -> None:
        """Between two bursts, with the runners stopped, so that looking disturbs no time."""
        self._progress.surroundings.append(self._watch.look(case.name, block))
