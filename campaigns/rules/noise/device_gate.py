"""Whether this device may be used for measuring now (R8), and how long to wait if not.

Idle means: no other process computes on it, at most 5 % busy in each of three samples, and no
memory used by others. If a host hides a fact (containers hide process ids), the state is unknown:
the sentence says so, and the measurement may proceed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from campaigns.evaluator.contract.report import CROWDED

BUSY_PERCENT = 5.0  # R8: at most this is idle
SAMPLES = 3
MIB = 1 << 20
# Drivers reserve less than this without reporting it; any model server uses more.
HELD_BYTES = 512 * MIB
# A minute's mean holds our own last measurement; more than this is other work as well, and a noise
# passport taken under it would be of no use later.
MINUTE_PERCENT = 50.0
# R8: checked again every 10 minutes; after 60 the campaign is paused.
LOOK_EVERY_S = 600.0
# A host that others keep busy is looked at more often: their work on a CPU often takes a minute.
HOST_EVERY_S = 20.0
# What such a wait is for, in the place of a device.
QUIET = "a quiet host"
MOST_WAIT_S = 3600.0
SHOWN_PROCESSES = 3


class DeviceState(StrEnum):
    """The conclusion from three samples of a device."""

    IDLE = "idle"
    BUSY = "busy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Activity:
    """One sample of a device. None means that this host hides the fact.

    others: processes of others that compute on it; always empty for a CPU, where only the load is
    meaningful. memory_used_bytes: without the memory that the driver and the display reserve.
    """

    others: tuple[int, ...] | None
    busy_percent: float | None
    memory_used_bytes: int | None

    @property
    def idle(self) -> bool | None:
        """True or False if known; None if nothing can be read."""
        if self.others or (self.busy_percent or 0) > BUSY_PERCENT:
            return False
        return None if self.others is None or self.busy_percent is None else True


UNKNOWN_ACTIVITY = Activity(None, None, None)


@dataclass(frozen=True, slots=True)
class IdleLimits:
    """What counts as idle on one kind of device. memory: whether it has its own."""

    busy_percent: float
    samples: int
    memory: bool


GPU = IdleLimits(BUSY_PERCENT, SAMPLES, memory=True)
CPU = IdleLimits(100 * CROWDED, SAMPLES, memory=False)
# The operating system's mean over a minute is one sample that stands for many.
CPU_MINUTE = IdleLimits(MINUTE_PERCENT, 1, memory=False)


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """The state, one sentence without a full stop, and the newest sample."""

    gate: DeviceState
    why: str
    newest: Activity = UNKNOWN_ACTIVITY

    def __str__(self) -> str:
        return f"{self.gate}: {self.why}"

    @property
    def rank(self) -> tuple[int, float, int]:
        """Sort key: lower is more idle; unknown lies between idle and busy."""
        order = (DeviceState.IDLE, DeviceState.UNKNOWN, DeviceState.BUSY).index(self.gate)
        return order, self.newest.busy_percent or 0.0, self.newest.memory_used_bytes or 0


def judge(samples: Sequence[Activity], limits: IdleLimits) -> DeviceCheck:
    """Decide: idle, busy or unknown. Any sign of activity means busy, whatever else is hidden.

    `samples` are the newest samples in order; fewer than `limits.samples` decide nothing.
    """
    if len(samples) < limits.samples:
        return DeviceCheck(DeviceState.UNKNOWN, f"{len(samples)} of {limits.samples} samples taken")
    if against := "; ".join(_against(samples, limits)):
        return DeviceCheck(DeviceState.BUSY, against, samples[-1])
    facts = {"which processes compute on it": "others", "how busy it is": "busy_percent"}
    if limits.memory:
        facts["how much of its memory is in use"] = "memory_used_bytes"
    hidden = [
        what
        for what, name in facts.items()
        if any(getattr(sample, name) is None for sample in samples)
    ]
    if hidden:
        why = f"this host does not show {' nor '.join(hidden)}"
        return DeviceCheck(DeviceState.UNKNOWN, why, samples[-1])
    most = max(sample.busy_percent or 0.0 for sample in samples)
    alone = "no other process computes on it, " if limits.memory else ""
    count = "one sample" if len(samples) == 1 else f"{len(samples)} samples"
    why = f"{alone}at most {most:.0f} % busy in {count}"
    return DeviceCheck(DeviceState.IDLE, why, samples[-1])


def _against(samples: Sequence[Activity], limits: IdleLimits) -> Iterator[str]:
    """Each sign that others use the device."""
    others = sorted({process for sample in samples for process in sample.others or ()})
    named = ", ".join(map(str, others[:SHOWN_PROCESSES]))
    if len(others) > SHOWN_PROCESSES:
        named += f" and {len(others) - SHOWN_PROCESSES} more"
    if others:
        yield (
            f"process {named} computes on it" if len(others) == 1 else f"processes {named} compute"
        )
    most = max((sample.busy_percent or 0.0 for sample in samples), default=0.0)
    if most > limits.busy_percent:
        yield f"{most:.0f} % busy, at most {limits.busy_percent:.0f} % is idle"
    used = [sample.memory_used_bytes for sample in samples if sample.memory_used_bytes is not None]
    if not used or not limits.memory:
        return
    # Changing memory use shows a running process; high constant use, one that may run soon.
    moved = max(used) - min(used)
    if moved >= MIB:
        yield f"its memory use changed by {moved / MIB:,.0f} MiB while kopt ran nothing"
    elif used[-1] > HELD_BYTES:
        yield f"{used[-1] / MIB:,.0f} MiB of its memory are used by other processes"


def waited_s(before_s: float, since_check_s: float, planned_s: float) -> float:
    """The total wait, `since_check_s` after a check that planned the next one in `planned_s`.

    Time without checks, as after a crash, does not count as waiting.
    """
    return before_s + min(max(since_check_s, 0.0), planned_s)


def is_over(waited: float) -> bool:
    """Whether a campaign has waited long enough to be paused."""
    return waited >= MOST_WAIT_S


def next_check_s(waited: float, *, bounded: bool, every_s: float = LOOK_EVERY_S) -> float:
    """Seconds until the next check. Checks of an unbounded wait become less frequent."""
    if bounded:
        return min(every_s, max(MOST_WAIT_S - waited, 0.0))
    return max(every_s, waited)
