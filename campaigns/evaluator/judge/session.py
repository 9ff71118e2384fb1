"""What the steps of an evaluation share: the reference, the arenas, the runners' channels."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from functools import partial

import torch

from campaigns.evaluator.contract import Case, Outcome, Phase, Timer, Timing
from campaigns.evaluator.contract.errors import CandidateError, HostError
from campaigns.evaluator.contract.job import CANDIDATE, INCUMBENT
from campaigns.evaluator.contract.layout import BUILT_ONLY
from campaigns.evaluator.contract.looks import ERROR, is_absent
from campaigns.evaluator.judge.arena_layout import ArenaLayout
from campaigns.evaluator.judge.arm_report import failure_of
from campaigns.evaluator.judge.arms_check import ArmsCheck
from campaigns.evaluator.judge.correctness.reference_client import served_reference
from campaigns.evaluator.judge.correctness.trial import SharedSets
from campaigns.evaluator.judge.integrity.channel import RunnerChannel
from campaigns.evaluator.judge.integrity.device_quiescence import DeviceQuiescence, TimedWork
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold
from campaigns.evaluator.judge.integrity.time_budget import TimeBudget
from campaigns.evaluator.judge.progress import JudgeTask
from campaigns.evaluator.judge.timing.arm_timer import Arm, ArmTimer
from campaigns.evaluator.judge.timing.comparison import compare_arms, pairs_of, rehearse
from campaigns.evaluator.judge.timing.overhead import Overhead, measure, measure_growth
from campaigns.evaluator.judge.timing.proof import Lane
from campaigns.evaluator.judge.timing.schedule import agree
from campaigns.evaluator.wire import Ask

# By case and arm.
Timers = Mapping[str, Mapping[str, ArmTimer]]


class MeasuringSession:
    """Holds the reference, the arenas and the runners' channels."""

    def __init__(self, task: JudgeTask) -> None:
        job, progress, aids = task.job, task.progress, task.aids
        self._task, self._job, self._progress = task, job, progress
        self._limits = limits = job.protocol.limits
        self._spec = aids.read_problem(job.problem)
        device = torch.device(job.device)
        self._kind = "gpu" if device.type == "cuda" else "cpu"
        on_gpu = device.type == "cuda"
        if on_gpu:
            torch.cuda.set_device(device)
        hold = self._hold = ProcessHold()
        self._reference = served_reference(job, task.channels, hold, progress.notes.append)
        self._watch = aids.watch(device)
        # Before the candidate's first byte, so that the usual time of the judge's work is measured
        # alone.
        quiescence = (
            DeviceQuiescence(
                TimedWork(device).stretched, self._watch.neighbours, rivals=bool(job.rivals)
            )
            if on_gpu
            else None
        )
        self._arenas = ArenaLayout(task, self._spec, self._reference, quiescence)
        # One random case of each evaluation: it takes a while, and a cache does not depend on the
        # case.
        self._repeated = random.SystemRandom().choice(job.cases) if job.repeats else None
        total = self._total = TimeBudget(
            limits.total_s,
            lambda: self._reference.spent_s,
            limits.lost_s * len(job.contenders),
            self._watch.others_share,
            contenders=len(job.contenders),
        )
        if not on_gpu:
            progress.is_crowded = total.is_crowded
        # In random order: otherwise an incumbent could recognise itself by its turn and hold back.
        names = random.SystemRandom().sample(list(job.arms), len(job.arms))
        self._channels = {
            n: RunnerChannel(n, task.channels[n], hold, spins=on_gpu, total=total) for n in names
        }
        for channel in self._channels.values():
            channel.leave = self._leave
        self._sets = SharedSets(self._spec.check)
        # By arm and case.
        self._overheads: dict[tuple[str, str], Overhead] = {}
        progress.environment.update(self._watch.environment)

    @property
    def can_be_timed(self) -> bool:
        """Whether the times of all arms mean anything on this device."""
        return not any(map(self._is_interpreted, self._job.arms))

    def _is_interpreted(self, arm: str) -> bool:
        backend, _ = self._job.arms[arm]
        return self._kind not in self._task.aids.backend(backend).kinds

    def _leave(self, error: CandidateError) -> None:
        """End a candidate that has failed; raises the error where no other is left to be judged."""
        contenders = self._channels.keys() - {INCUMBENT}
        if error.arm not in contenders or len(contenders) == 1:
            raise error
        self._progress.left[error.arm] = failure_of(self._job, self._progress, error.arm, error)
        self._channels.pop(error.arm).has_left = True
        self._hold.expel(error.arm)

    def _have_each(self, do: Callable[[RunnerChannel], object]) -> None:
        """Do something with every arm; a candidate that fails leaves, and its fault counts first.

        So the result does not depend on the order: of a kernel compared with itself, both arms
        fail.
        """
        failed = None
        for channel in list(self._channels.values()):
            try:
                with channel.turn():
                    if not channel.has_left:
                        do(channel)
            except HostError as error:
                if channel.name != INCUMBENT:
                    raise
                failed = error
        if failed is not None:
            raise failed

    def attach(self) -> None:
        """Share one arena with each runner; the runner locks itself down after this.

        Notes what the backends say of how the sources are built, each once.
        """
        self._arenas.share(self._channels)
        arms = self._job.arms.values()
        notes = (self._task.aids.backend(backend).note(source) for backend, source in arms)
        self._progress.notes += dict.fromkeys(filter(None, notes))

    def build(self) -> None:
        """Build every arm; nothing of the candidate's runs here.

        Until the compilers have ended, inputs and answers of the checks are made. Raises
        CandidateError where a source cannot be judged on this device.
        """
        layouts, find, device = self._arenas.layouts, self._task.aids.backend, self._job.device
        refused = {
            name: find(backend).refuses(layouts.values(), source.text, device)
            for name, (backend, source) in self._job.arms.items()
        }
        used = {arg.dtype for each in layouts.values() for arg in each.tensors}
        if short := used & set(BUILT_ONLY):
            refused[INCUMBENT] = f"{min(short)} is judged on no device yet"
        self._progress.enter(Phase.BUILD)

        def begin(channel: RunnerChannel) -> None:
            # All at once: a compiler takes seconds, and only the clock needs a quiet host.
            channel.phase = Phase.BUILD
            channel.interpreted = self._is_interpreted(channel.name)
            channel.begin(Ask.BUILD, layouts[self._job.cases[0].name])

        self._have_each(begin)
        channels = list(self._channels.values())
        for case in () if any(refused.values()) else self._job.cases:
            slots = self._arenas.slots(channels[0], layouts[case.name], 1)
            context = self._arenas.context(case, slots)
            self._sets.prepare(context, lambda: all(one.has_answered() for one in channels))
        self._have_each(lambda channel: channel.finish(self._limits.build_s))
        for name, why in refused.items():
            # What the incumbent cannot be judged in, nothing can be compared with.
            arm = "" if name == INCUMBENT else name
            if why and (not arm or arm in self._channels):
                self._leave(CandidateError(Outcome.NOT_JUDGED, Phase.BUILD, why, arm=arm))

    def measure_overheads(self) -> None:
        """Measure what bursts take besides calls, before a runner has loaded anything."""
        lanes = {}
        for name, channel in self._channels.items():
            for case in self._job.cases:
                slots = self._arenas.slots(channel, self._arenas.layouts[case.name])
                context = self._arenas.context(case, slots)
                lanes[name, case.name] = Lane(context, channel, slots)
        # The growth does not depend on the case.
        first = self._job.cases[0].name
        growth = measure_growth(
            [lanes[name, first] for name in self._channels], self._job.protocol.burst_ms
        )
        # On a GPU nor does the rest: caches are emptied whole, a fence reads as many positions.
        arms = self._channels if self._kind == "gpu" else ()
        same = {name: measure(lanes[name, first], growth) for name in arms}
        self._overheads = {
            key: same.get(key[0]) or measure(lane, growth) for key, lane in lanes.items()
        }

    def load(self) -> None:
        """Load every arm behind its closed lock; the candidate's code first runs here."""

        def start(channel: RunnerChannel) -> None:
            channel.phase = Phase.LOAD
            channel.ask(Ask.SEAL, None, self._limits.load_s)
            channel.ask(Ask.LOAD, None, self._limits.load_s)

        self._progress.enter(Phase.LOAD)
        self._have_each(start)

    def check(self) -> None:
        """Every call on fresh secret inputs, against a float64 reference.

        One call of every case comes first: a wrong kernel is hardly ever right in all of them. The
        candidate also has to be right on inputs unlike the declared ones and on hidden sizes.
        An incumbent once was, and only has to be right on the declared case; but it is asked the
        same, or by what it is not asked it would know that it is the incumbent.
        """
        proofs, channel = [], next(iter(self._channels.values()))
        for case in self._job.cases:
            slots = self._arenas.slots(channel, self._arenas.layouts[case.name], 1)
            proofs.append(self._arenas.proof(self._arenas.context(case, slots)))
        timed = self._job.protocol if self._job.timed and self.can_be_timed else None
        words = self._task.aids.forecast(proofs, len(self._channels), timed, self._spec.refresh)
        forecast = f" ({words})" if words else ""
        checks = ArmsCheck(self._task, self._arenas, self._sets, self._channels, self._have_each)
        for case in self._job.cases:
            self._progress.enter(Phase.CHECK, case.name + forecast)
            forecast = ""
            checks.once(case)
        for case in self._job.cases:
            self._progress.enter(Phase.CHECK, case.name)
            checks.every_call(case)
            self._sets.drop(case.name)

    def rehearse(self) -> None:
        """Make bursts that are proven but not timed."""
        for case in self._job.cases:
            self._progress.enter(Phase.BURST, case.name)
            for channel in list(self._channels.values()):
                with channel.turn():
                    if channel.role == CANDIDATE:
                        rehearse(self._arm(channel, case))

    def _arm(self, channel: RunnerChannel, case: Case) -> Arm:
        layout = self._arenas.layouts[case.name]
        context, slots = self._arenas.lay(channel, case, layout)
        most, why_most = self._arenas.most_proven(context)
        return Arm(
            job=self._job,
            lane=Lane(context, channel, slots),
            most=most,
            why_most=why_most,
            warm=self._arenas.most_warm(layout),
            overhead=self._overheads[channel.name, case.name],
            check=self._spec.check,
            notes=self._notes_of(channel),
        )

    def _notes_of(self, channel: RunnerChannel) -> list[str]:
        """Notes on an arm; those on the incumbent go to every candidate."""
        is_own = channel.role == CANDIDATE
        return self._progress.notes_of[channel.name] if is_own else self._progress.notes

    def settle(self) -> Timers:
        """The arms of every case with bursts of lengths that suit them; by case and arm.

        Raises what `RunnerChannel.blame` makes of a wrong call, and so do the next steps.
        """
        self._task.quiet()
        self._reference.release()
        timers = {}
        for number, case in enumerate(self._job.cases):
            self._progress.enter(Phase.PREPARE, case.name)
            timers[case.name] = self._settled(case)
            self._have_each(partial(self._keep, number))
        return timers

    def _keep(self, number: int, channel: RunnerChannel) -> None:
        channel.ask(Ask.KEEP, number, self._limits.prepare_s)

    def _settled(self, case: Case) -> dict[str, ArmTimer]:
        arms: dict[str, ArmTimer] = {}

        def begin(channel: RunnerChannel) -> None:
            arms[channel.name] = ArmTimer(self._arm(channel, case))

        self._have_each(begin)
        agreed = agree({name: arms[name].call_s for name in self._channels})
        self._have_each(lambda channel: arms[channel.name].settle(agreed[channel.name]))
        left = {name: arms[name] for name in self._channels}
        loops = [arm.lengths for arm in left.values() if arm.timer is Timer.LOOP]
        if loops:
            # A graph on another side would only be another way to launch kernels.
            lengths = max(loops, key=lambda found: found.long)

            def launch(channel: RunnerChannel) -> None:
                arm = left[channel.name]
                if arm.timer is Timer.GRAPH or arm.lengths != lengths:
                    arm.as_loop(lengths)

            self._have_each(launch)
        return left

    def _turn_to(self, timers: Timers, case: Case) -> None:
        """Have the runners work on a case that they have kept."""
        self._progress.enter(Phase.BURST, case.name)

        def turn(channel: RunnerChannel) -> None:
            if channel.case != case.name:
                channel.case = case.name
                timers[case.name][channel.name].resume()
                channel.ask(Ask.TURN, self._job.cases.index(case), self._limits.prepare_s)

        self._have_each(turn)

    def compare(self, timers: Timers) -> Collection[str]:
        """A B B A over the arms of every case; a sample is the slope of two bursts.

        The candidates that may be faster, or have nothing to be faster than.
        """

        def look_around(case: Case, block: int) -> None:
            # Between two bursts, with the runners stopped, so that looking disturbs no time.
            self._progress.surroundings.append(self._watch.look(case.name, block))

        turn_to = partial(self._turn_to, timers)
        looks = self._progress.looks = compare_arms(
            self._job, timers, turn_to, look_around, self._task.aids.may_end, self._left_s
        )
        if INCUMBENT not in self._channels:
            return tuple(self._channels)
        level, floor = looks[-1].level if looks else ERROR, self._job.noise_floor
        found = pairs_of(timers).items()
        return [arm for arm, pairs in found if not is_absent(pairs, level, floor)]

    def _left_s(self) -> float:
        """Seconds until the evaluation, or one of its arms, has taken too long."""
        return min(map(self._total.left_s, self._channels))

    def close(self, timers: Timers) -> None:
        """After the last sample: check whether the samples can be believed."""
        for case in self._job.cases:
            self._turn_to(timers, case)
            self._have_each(partial(self._close, timers[case.name]))

    def _close(self, arms: Mapping[str, ArmTimer], channel: RunnerChannel) -> None:
        arms[channel.name].close()

    def explain(self, timers: Timers, faster: Collection[str]) -> dict[str, Mapping[str, Timing]]:
        """The measured times by case and arm, and what explains them.

        faster: the candidates that may be; the others go without what only a gain has to be
        explained by.
        """
        found = {}
        for case in self._job.cases:
            self._turn_to(timers, case)
            found[case.name] = self._task.aids.explain(
                timers[case.name],
                self._spec.weights,
                repeated=case is self._repeated,
                faster=faster,
                look=partial(self._watch.look, case.name, self._job.protocol.blocks),
            )
        return found

    def stop(self) -> None:
        self._have_each(lambda channel: channel.ask(Ask.STOP, None, self._limits.call_s))
