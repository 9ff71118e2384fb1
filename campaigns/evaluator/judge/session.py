"""One job's work, case by case: attach, load, check, time."""

from __future__ import annotations

import math
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from campaigns.evaluator import problem as problems
from campaigns.evaluator.backends import base
from campaigns.evaluator.contract import (
    Case,
    CaseReport,
    Job,
    Outcome,
    Phase,
    Timer,
    Timing,
)
from campaigns.evaluator.errors import CandidateError, HostError
from campaigns.evaluator.judge import surroundings
from campaigns.evaluator.judge.arena import Arena, Slots, slots_that_fit
from campaigns.evaluator.judge.burst import Bench, compare_slot, run_burst
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.compare import Comparison, Tolerance
from campaigns.evaluator.judge.fresh import Supply, any_poison, fill, inputs_intact, poison_outputs
from campaigns.evaluator.judge.reference import Reference
from campaigns.evaluator.judge.schedule import calibrate, choose_lengths, turns
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.wire import Ask, Reply

if TYPE_CHECKING:
    from campaigns.evaluator.judge.main import Progress

MIB = 1 << 20
# Below this many times the last-level cache a ring of slots may stay in it; then it is scrubbed.
COLD_RING = 4
# How often one sample is tried; a candidate gains nothing by it, since every try is proven.
RETAKES = 4


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
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self._reference = Reference(self._spec.folder)
        self._layouts = {c.name: self._reference.layout(c, job.device) for c in job.cases}
        total_s = job.protocol.limits.total_s
        self._channels = {
            n: Channel(n, s, spins=on_gpu, total_s=total_s) for n, s in channels.items()
        }
        self._arenas: dict[str, Arena] = {}
        self._cache_bytes = surroundings.last_level_cache_bytes(self._device)
        progress.environment.update(surroundings.describe(self._device))

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
        self._progress.enter(Phase.BUILD)
        for channel in self._channels.values():
            channel.phase = Phase.BUILD
            channel.ask(Ask.BUILD, first, limits.build_s)
        self._progress.enter(Phase.LOAD)
        for channel in self._channels.values():
            channel.phase = Phase.LOAD
            channel.ask(Ask.LOAD, None, limits.load_s)

    def check(self, case: Case) -> None:
        """Every trial on its own slot and its own secret seed, against a float64 reference."""
        layout = self._layouts[case.name]
        count = min(self._job.protocol.trials, self._most(layout))
        for name, channel in self._channels.items():
            slots = self._lay_slots(name, case)
            report = self._check_arm(channel, case, slots, count)
            if name == "candidate":
                self._progress.checked[case.name] = report
            if not report.correct:
                reason = f"case {case.name}: {report.message}"
                if name != "candidate":
                    raise HostError(f"the incumbent is wrong now: {reason}")
                raise CandidateError(Outcome.WRONG_RESULT, Phase.CHECK, reason, case.name)

    def _check_arm(self, channel: Channel, case: Case, slots: Slots, count: int) -> CaseReport:
        channel.phase = Phase.CHECK
        bench = self.bench(case, slots)
        errors: list[Comparison] = []
        for k in range(count):
            fresh = bench.supply.fresh(1, "setup")
            one = Slots(slots.rows[k : k + 1], slots.layout)
            fill(one, fresh)
            poison = poison_outputs(bench.supply, one)
            bench.wait()
            channel.ask(Ask.CALL, k, self._job.protocol.limits.call_s)
            found = compare_slot(bench, one, fresh, 0)
            errors.append(found)
            if not found.ok:
                message = found.message
                if any_poison(one, poison):
                    message += " (the output, or part of it, was never written)"
                return _checked(case, k + 1, errors, message)
            if changed := inputs_intact(one, fresh):
                return _checked(case, k + 1, errors, f"the call changed its input {changed!r}")
            if not one.gaps_intact():
                return _checked(case, k + 1, errors, "wrote outside its output")
        return _checked(case, count, errors, "")

    def time(self, case: Case) -> dict[str, Timing]:
        """A B B A over both arms; a sample is the slope between a short and a long burst."""
        self._progress.enter(Phase.PREPARE, case.name)
        layout = self._layouts[case.name]
        most = self._most(layout)
        arms = {}
        for name, channel in self._channels.items():
            arms[name] = Turn(self, channel, case, self._lay_slots(name, case), most)
        # Where one arm is a plain loop device time decides, so both arms need it.
        traced = any(arm.timer is Timer.LOOP for arm in arms.values())
        self._progress.enter(Phase.BURST, case.name)
        names = ["incumbent", "candidate"] if "incumbent" in arms else ["candidate"]
        for name in turns(self._job.protocol.blocks, names):
            arms[name].take(traced=traced)
        return {name: arm.timing() for name, arm in arms.items()}

    def stop(self) -> None:
        for channel in self._channels.values():
            channel.ask(Ask.STOP, None, self._job.protocol.limits.call_s)

    def prepare(self, channel: Channel, calls: int) -> Timer:
        channel.phase = Phase.PREPARE
        reply = channel.ask(Ask.PREPARE, calls, self._job.protocol.limits.prepare_s)
        possible = (Timer.CALLS,) if self._device.type == "cpu" else (Timer.GRAPH, Timer.LOOP)
        for timer in possible:
            if list(Timer).index(timer) == reply.a:
                return timer
        raise channel.blame(Outcome.CHEATED, f"no such way of timing here ({reply.a})")

    def note_retake(self, channel: Channel) -> None:
        self._progress.notes.append(
            f"case {channel.case}: a sample of the {channel.name} was taken again: on a busy host "
            "its long burst was over before its short one"
        )

    def profile(self, channel: Channel, calls: int) -> Reply:
        return channel.ask(Ask.PROFILE, calls, self._job.protocol.limits.prepare_s)

    @property
    def burst_ms(self) -> float:
        return self._job.protocol.burst_ms

    def bench(self, case: Case, slots: Slots) -> Bench:
        ring = slots.rows.numel()
        scrub = None
        if ring < COLD_RING * self._cache_bytes:
            scrub = torch.zeros(2 * self._cache_bytes, dtype=torch.uint8, device=self._device)
        return Bench(
            reference=self._reference,
            supply=Supply(self._reference, case, slots.layout, self._job.device),
            tolerance=Tolerance(self._spec.atol, self._spec.rtol),
            refresh=self._spec.refresh,
            device=self._device,
            scrub=scrub,
            limit_s=self._job.protocol.limits.call_s,
        )

    def _lay_slots(self, name: str, case: Case) -> Slots:
        layout = self._layouts[case.name]
        channel = self._channels[name]
        channel.case = case.name
        slots = self._arenas[name].slots(layout, self._most(layout))
        slots.fill_gaps()
        channel.ask(Ask.CASE, (layout, slots.count), self._job.protocol.limits.load_s)
        return slots

    def _most(self, layout: Layout) -> int:
        size = next(iter(self._arenas.values())).size
        return slots_that_fit(size, layout, self._job.protocol.max_slots)

    def _arena_bytes(self) -> int:
        protocol = self._job.protocol
        strides = [layout.stride for layout in self._layouts.values()]
        wanted = max(strides) * max(protocol.max_slots, 2)
        free = surroundings.free_bytes(self._device)
        size = min(wanted, protocol.arena_mib * MIB, free // 6)
        if size < 2 * max(strides):
            raise HostError(
                f"a case needs 2 × {max(strides) / MIB:.1f} MiB for its slots, "
                f"{size / MIB:.1f} MiB can be had; choose smaller cases"
            )
        return size


class Turn:
    """One arm on one case: its burst lengths and its samples."""

    def __init__(
        self, session: Session, channel: Channel, case: Case, slots: Slots, most: int
    ) -> None:
        self._session = session
        self._channel = channel
        self._slots = slots
        self._bench = session.bench(case, slots)
        call_s = calibrate(self._prepared_burst, most)
        self._lengths = choose_lengths(call_s, session.burst_ms, most)
        self.timer = Timer.CALLS
        for calls in (self._lengths.short, self._lengths.long):
            self.timer = session.prepare(channel, calls)
        self._channel.phase = Phase.BURST
        self._samples_us: list[float] = []
        self._device_us: list[float] = []

    def take(self, *, traced: bool) -> None:
        """Measure one sample; one that is no time (something else held the cores) is retaken."""
        for _ in range(RETAKES):
            short_s = self._burst(self._lengths.short)
            slope_us = self._lengths.slope_us(short_s, self._burst(self._lengths.long))
            if slope_us > 0:
                break
            self._session.note_retake(self._channel)
        self._samples_us.append(slope_us)
        if traced:
            device_us, _ = self._profile()
            self._device_us.append(device_us or 0.0)

    def timing(self) -> Timing:
        device_us, event_us = self._profile()
        return Timing(
            samples_us=tuple(self._samples_us),
            long_calls=self._lengths.long,
            short_calls=self._lengths.short,
            timer=self.timer,
            device_us=device_us,
            device_samples_us=tuple(self._device_us),
            event_us=event_us,
        )

    def _profile(self) -> tuple[float | None, float | None]:
        """(device µs, event µs) per call as the runner's driver says; it informs, no more."""
        if self.timer not in (Timer.GRAPH, Timer.LOOP):
            return None, None
        reply = self._session.profile(self._channel, self._lengths.long)
        return _positive(reply.x), _positive(reply.y)

    def _prepared_burst(self, calls: int) -> float:
        self._session.prepare(self._channel, calls)
        self._channel.phase = Phase.BURST
        return self._burst(calls)

    def _burst(self, calls: int) -> float:
        part = Slots(self._slots.rows[:calls], self._slots.layout)
        return run_burst(self._bench, self._channel, part)


def _checked(case: Case, calls: int, found: list[Comparison], message: str) -> CaseReport:
    return CaseReport(
        case=case.name,
        correct=not message,
        checked_calls=calls,
        max_abs_error=max(e.max_abs_error for e in found),
        max_rel_error=max(e.max_rel_error for e in found),
        margin=max(e.margin for e in found),
        message=message,
    )


def _positive(value: float) -> float | None:
    return value if math.isfinite(value) and value > 0 else None
