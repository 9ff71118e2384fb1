"""One job's work, case by case: attach, load, check, time."""

from __future__ import annotations

import random
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy
import torch

from campaigns.evaluator import problem as problems
from campaigns.evaluator.backends import base
from campaigns.evaluator.contract import (
    Case,
    Job,
    Outcome,
    Param,
    Phase,
    Timer,
    Timing,
)
from campaigns.evaluator.errors import CandidateError, HostError
from campaigns.evaluator.judge import surroundings
from campaigns.evaluator.judge.arena import Arena, Slots, slots_that_fit
from campaigns.evaluator.judge.bench import Answers, Bench
from campaigns.evaluator.judge.channel import Channel, Total
from campaigns.evaluator.judge.check import CaseCheck
from campaigns.evaluator.judge.compare import Tolerance
from campaigns.evaluator.judge.fresh import EXAMPLE_BITS, SEED_BITS, Supply
from campaigns.evaluator.judge.hold import Hold
from campaigns.evaluator.judge.overhead import Overhead, measure, measure_growth
from campaigns.evaluator.judge.reference import Reference
from campaigns.evaluator.judge.rehearsal import rehearse
from campaigns.evaluator.judge.repeats import with_repeats
from campaigns.evaluator.judge.schedule import agree, calls_to_prove, turns
from campaigns.evaluator.judge.stillness import Chain, Stillness
from campaigns.evaluator.judge.tolerance import of_usual_size, tolerances
from campaigns.evaluator.judge.turn import Arm, Turn
from campaigns.evaluator.judge.watch import Watch
from campaigns.evaluator.layout import Layout, Shift
from campaigns.evaluator.wire import Ask

if TYPE_CHECKING:
    from campaigns.evaluator.judge.main import Progress

MIB = 1 << 20
NUMPY_SEED_BITS = 32
# Below this many times the last-level cache a ring of slots may stay in it; then it is scrubbed.
COLD_RING = 4
# The most of the free memory that one arm's slots take. The judge may hold the inputs of all slots
# once more; on a CPU others live in that memory, too.
ARENA_SHARE = {"cuda": 1 / 4, "cpu": 1 / 6}
# The share of the last-level cache that a warm burst's slots may take: the rest is everybody's.
WARM_SHARE = 0.25


class Session:
    """Holds the reference, one arena per arm, and the runners' channels."""

    def __init__(self, job: Job, channels: Mapping[str, socket.socket], progress: Progress) -> None:
        self._job = job
        self._progress = progress
        self._spec = problems.load_problem(job.problem)
        self._device = torch.device(job.device)
        on_gpu = self._device.type == "cuda"
        if on_gpu:
            torch.cuda.set_device(self._device)
        # Judge and runner are forks of one process. What a problem draws without its seed must not
        # be what the runner can draw as well.
        torch.manual_seed(secrets.randbits(SEED_BITS))
        random.seed(secrets.randbits(SEED_BITS))
        numpy.random.seed(secrets.randbits(NUMPY_SEED_BITS))
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self._reference = Reference(self._spec.folder, progress.notes.append)
        self._layouts = {c.name: self._reference.layout(c, job.device) for c in job.cases}
        self._require_weights()
        # On one case of each evaluation, drawn: it takes a while, and a cache knows no cases.
        self._repeated = random.SystemRandom().choice(job.cases)
        total = Total(job.protocol.limits.total_s)
        hold = Hold()
        # In an order that is not known: nobody can tell by turns whether it is the incumbent, which
        # might then hold itself back.
        names = random.SystemRandom().sample(list(channels), len(channels))
        self._channels = {
            n: Channel(n, channels[n], hold, spins=on_gpu, total=total) for n in names
        }
        self._arenas: dict[str, Arena] = {}
        self._tolerances: dict[tuple[tuple[str, Param], ...], Mapping[str, Tolerance]] = {}
        # By arm and case.
        self._overheads: dict[tuple[str, str], Overhead] = {}
        # By case: what inputs and reference of a call take.
        self._proofs_s: dict[str, float] = {}
        self._cache_bytes = surroundings.last_level_cache_bytes(self._device)
        self._scrub = torch.zeros(2 * self._cache_bytes, dtype=torch.uint8, device=self._device)
        progress.environment.update(surroundings.describe(self._device))
        self._watch = Watch(self._device)
        # Before the candidate's first byte, so that it hears what silence is.
        self._stillness = (
            Stillness(Chain(self._device).stretched, self._watch.neighbours) if on_gpu else None
        )

    def _require_weights(self) -> None:
        """Raises ProblemError where problem.toml calls something a weight that is no input."""
        inputs = {arg.name for layout in self._layouts.values() for arg in layout.inputs}
        for name in self._spec.weights:
            if name not in inputs:
                where, listed = f"{self._spec.folder.name}/problem.toml", ", ".join(sorted(inputs))
                words = f"weights: {name!r} is no tensor that is only read; accepted: {listed}"
                raise problems.ProblemError(f"{where}: {words}")

    @property
    def can_be_timed(self) -> bool:
        """Whether this backend's times mean anything on this device."""
        kind = "cpu" if self._device.type == "cpu" else "gpu"
        return kind in base.get(self._job.backend).kinds

    def attach(self) -> None:
        """Share one arena with each runner; after this it locks itself down."""
        size = self._arena_bytes()
        for name, channel in self._channels.items():
            arena = self._arenas[name] = Arena(size, self._device)
            gate = [channel.gate.fd] if channel.gate else []
            limit_s = self._job.protocol.limits.load_s
            channel.ask(Ask.ATTACH, arena.handle, limit_s, [*arena.fds, *gate])

    def load(self) -> None:
        """Build and load every arm; the candidate's first byte runs in here."""
        limits = self._job.protocol.limits
        first = self._layouts[self._job.cases[0].name]
        backend = base.get(self._job.backend)
        for layout in self._layouts.values():
            if why := backend.refuses(layout, self._job.device):
                raise HostError(f"this host can not run it: {why}")

        def build(channel: Channel) -> None:
            channel.finish(limits.build_s)

        def start(channel: Channel) -> None:
            channel.phase = Phase.LOAD
            channel.ask(Ask.SEAL, None, limits.load_s)
            channel.ask(Ask.LOAD, None, limits.load_s)

        self._progress.enter(Phase.BUILD)
        for channel in self._channels.values():
            # Both at once: a compiler takes seconds, and only the clock needs a quiet host.
            channel.phase = Phase.BUILD
            channel.begin(Ask.BUILD, first)
        self._have_each(build)
        if self._job.timed:
            self._measure_overheads()
        self._progress.enter(Phase.LOAD)
        self._have_each(start)

    def _have_each(self, do: Callable[[Channel], None]) -> None:
        """Have something done with every arm; what the candidate does wrong counts first.

        Whichever comes first by chance: of a kernel held against itself both fail.
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

    def _measure_overheads(self) -> None:
        """What bursts take besides calls, while a runner is still as we have made it."""

        def of(channel: Channel, case: Case) -> tuple[Bench, Channel, Slots]:
            slots = self._slots(channel, self._layouts[case.name])
            return self._bench(case, slots), channel, slots

        cases, channels = self._job.cases, self._channels
        arms = {(n, case.name): of(c, case) for n, c in channels.items() for case in cases}
        # Whatever the case is.
        growth = measure_growth([arms[name, cases[0].name] for name in channels])
        self._overheads = {key: measure(*arm, growth) for key, arm in arms.items()}

    def sanitize(self) -> None:
        """Have the candidate run under sanitizers on fresh inputs of its smallest case."""
        case = min(self._job.cases, key=lambda each: self._layouts[each.name].stride)
        layout, channel = self._layouts[case.name], self._channels["candidate"]
        channel.case, channel.phase = case.name, Phase.CHECK
        slot = self._arenas["candidate"].slots(layout, 1)
        seed = secrets.randbits(EXAMPLE_BITS)
        given = self._reference.example(case, seed, self._job.device).inputs
        for arg in layout.tensors:
            slot.one(arg, 0).copy_(given[arg.name])
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        channel.ask(Ask.SANITIZE, layout, self._job.protocol.limits.total_s)

    def read_code(self) -> None:
        """Have the candidate's machine code read, built for its first case."""
        channel, case = self._channels["candidate"], self._job.cases[0]
        channel.case, channel.phase = case.name, Phase.BUILD
        limits = self._job.protocol.limits
        channel.ask(Ask.READ_CODE, self._layouts[case.name], limits.total_s)

    def check(self, case: Case) -> None:
        """Every call on fresh secret inputs, against a float64 reference.

        The candidate also has to be right on inputs unlike the declared ones and on hidden sizes.
        An incumbent once was, and only has to be right on the declared case; but it is asked the
        same, or by what it is not asked it would know that it is the incumbent.
        """
        self._have_each(partial(self._check_one, case))

    def _check_one(self, case: Case, channel: Channel) -> None:
        channel.phase = Phase.CHECK
        bench, slots = self._lay_slots(channel, case, self._layouts[case.name])
        checked, extra = CaseCheck(channel, bench, slots), self._spec.check
        lay = partial(self._lay_near, channel)
        right = checked.plain(self._job.protocol.trials)
        _ = right and checked.unlike(extra, lay) and checked.hidden(extra, lay)
        self._progress.notes += checked.notes
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

    def time(self, case: Case) -> dict[str, Turn]:
        """A B B A over both arms; a sample is the slope between a short and a long burst."""
        self._progress.enter(Phase.PREPARE, case.name)
        arms = self._settled(case)
        # Where one arm is a plain loop device time decides, so both arms need it; and a graph on
        # the other side would be another way to start kernels, not a faster or slower kernel.
        traced = any(arm.timer is Timer.LOOP for arm in arms.values())
        for arm in arms.values():
            if traced and arm.timer is Timer.GRAPH:
                arm.as_loop()
        self._progress.enter(Phase.BURST, case.name)
        order = list(turns(self._job.protocol.blocks, list(arms)))
        self._note_surroundings(case, 0)
        for taken, name in enumerate(order, 1):
            arms[name].take(traced=traced)
            block, inside = divmod(taken * self._job.protocol.blocks, len(order))
            if not inside:
                self._note_surroundings(case, block)
        for arm in arms.values():
            arm.close()
        return arms

    def explain(self, case: Case, arms: Mapping[str, Turn]) -> dict[str, Timing]:
        """What `time` has measured, and why it takes so long.

        Not before all cases are timed: once a tracer has been attached to a process, all that it
        launches takes longer.
        """
        self._progress.enter(Phase.BURST, case.name)
        if len(self._job.cases) > 1:
            for arm in arms.values():
                self._lay_slots(arm.arm.channel, case, arm.arm.slots.layout)
                arm.resume()
        explained = len(arms) > 1
        timings = {name: arm.timing(explained=explained) for name, arm in arms.items()}
        asked = explained and case is self._repeated
        return with_repeats(arms, timings, self._spec.weights) if asked else timings

    def _settled(self, case: Case) -> dict[str, Turn]:
        """Both arms with bursts of lengths that suit them."""
        arms: dict[str, Turn] = {}

        def begin(channel: Channel) -> None:
            arms[channel.name] = Turn(self._arm(channel, case))

        def settle(channel: Channel) -> None:
            arms[channel.name].settle(agreed[channel.name])

        self._have_each(begin)
        agreed = agree({name: arm.call_s for name, arm in arms.items()})
        self._have_each(settle)
        return arms

    def rehearse(self, case: Case) -> None:
        """Bursts as they are timed, where the times of this backend mean nothing."""
        self._progress.enter(Phase.BURST, case.name)
        rehearse(self._arm(self._channels["candidate"], case))

    def _arm(self, channel: Channel, case: Case) -> Arm:
        layout = self._layouts[case.name]
        bench, slots = self._lay_slots(channel, case, layout)
        warm = int(WARM_SHARE * self._cache_bytes) // layout.stride
        most, why_most = self._most_proven(bench, self._most(layout))
        return Arm(
            job=self._job,
            channel=channel,
            bench=bench,
            slots=slots,
            most=most,
            why_most=why_most,
            warm=warm,
            overhead=self._overheads[channel.name, case.name],
            check=self._spec.check,
            notes=self._progress.notes,
        )

    def _most_proven(self, bench: Bench, most: int) -> tuple[int, str]:
        """Of `most` calls how many can be proven in time, the same for both arms; and why fewer."""
        name = bench.case.name
        if name not in self._proofs_s:
            self._proofs_s[name] = min(bench.proof_s() for _ in range(2))
        proof_s = self._proofs_s[name]
        fewer = calls_to_prove(most, proof_s)
        why = f"{proof_s:.2g} s of inputs and reference for each" if fewer < most else ""
        return fewer, why

    def stop(self) -> None:
        for channel in self._channels.values():
            channel.ask(Ask.STOP, None, self._job.protocol.limits.call_s)

    def _note_surroundings(self, case: Case, block: int) -> None:
        """Between two bursts, with the runners stopped, so that looking disturbs no time."""
        self._progress.surroundings.append(self._watch.look(case.name, block))

    def _bench(self, case: Case, slots: Slots) -> Bench:
        ring = slots.rows.numel()
        scrub = self._scrub if ring < COLD_RING * self._cache_bytes else None
        bench = Bench(
            case=case,
            layout=slots.layout,
            reference=self._reference,
            supply=Supply(self._reference, case, slots.layout, self._job.device),
            tolerances=tolerances(self._spec, slots.layout),
            refresh=self._spec.refresh,
            device=self._device,
            scrub=scrub,
            limit_s=self._job.protocol.limits.call_s,
            stillness=self._stillness,
        )
        return replace(bench, tolerances=self._of_usual_size(bench))

    def _of_usual_size(self, bench: Bench) -> Mapping[str, Tolerance]:
        """The tolerances of a case, which are the same wherever its slots lie."""
        params = tuple(sorted(bench.case.params.items()))
        if params not in self._tolerances:

            def draw(count: int) -> list[Answers]:
                truth = bench.supply.fresh(count, "setup")
                return [bench.expect(truth, k, None) for k in range(count)]

            self._tolerances[params] = of_usual_size(bench.tolerances, bench.layout, draw)
        return self._tolerances[params]

    def _lay_slots(self, channel: Channel, case: Case, layout: Layout) -> tuple[Bench, Slots]:
        channel.case = case.name
        slots = self._slots(channel, layout)
        channel.ask(Ask.CASE, (layout, slots.count), self._job.protocol.limits.load_s)
        return self._bench(case, slots), slots

    def _slots(self, channel: Channel, layout: Layout) -> Slots:
        return self._arenas[channel.name].slots(layout, self._most(layout))

    def _lay_near(
        self, channel: Channel, case: Case, shift: Shift | None
    ) -> tuple[Bench, Slots] | None:
        """A declared case with its addresses shifted, or a hidden one near it.

        None where its slots do not fit. Raises BadReference where the problem refuses it.
        """
        layout = self._reference.layout(case, self._job.device, shift)
        if case not in self._job.cases:
            self._reference.takes(case, self._job.device)
        if self._most(layout) < 1:
            return None
        return self._lay_slots(channel, case, layout)

    def _most(self, layout: Layout) -> int:
        size = next(iter(self._arenas.values())).size
        return slots_that_fit(size, layout, self._job.protocol.max_slots)

    def _arena_bytes(self) -> int:
        protocol = self._job.protocol
        strides = [layout.stride for layout in self._layouts.values()]
        wanted = max(strides) * max(protocol.max_slots, 2)
        free = surroundings.free_bytes(self._device)
        size = min(wanted, protocol.arena_mib * MIB, int(free * ARENA_SHARE[self._device.type]))
        if size < 2 * max(strides):
            raise HostError(
                f"a case needs 2 × {max(strides) / MIB:.1f} MiB for its slots, "
                f"{size / MIB:.1f} MiB can be had; choose smaller cases"
            )
        return size
