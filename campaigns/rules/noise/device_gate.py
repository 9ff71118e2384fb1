"""May this device be measured on now (R8)? And for how long somebody waits until it may.

Idle is: no other process computes on it, at most 5 % busy at each of three looks, and no memory in
use that is not ours. What a host does not tell (containers hide process ids) is neither idle nor
busy: it is said, and lets a measurement pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

BUSY_PERCENT = 5.0  # R8: at most this is idle
SAMPLES = 3
MIB = 1 << 20
# What drivers keep for themselves without saying so is less; what any model's server keeps is more.
HELD_BYTES = 512 * MIB
# More than this of a CPU host is somebody's work: a passport of that would be of no use later, and
# only where a setting asks for it a measurement waits.
CPU_BUSY_PERCENT = 50.0
# R8: looked at again every 10 minutes, and after 60 the campaign is paused.
LOOK_EVERY_S = 600.0
MOST_WAIT_S = 3600.0
SHOWN_PROCESSES = 3


class DeviceState(StrEnum):
    """What three looks at a device come to."""

    IDLE = "idle"
    BUSY = "busy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Activity:
    """One look at a device. None means that this host does not tell.

    others: processes that compute on it and are not ours; always empty for a CPU, where every
    process would count and only the load tells something. memory_used_bytes: without what the
    driver says that it keeps for itself and what draws the screen.
    """

    others: tuple[int, ...] | None
    busy_percent: float | None
    memory_used_bytes: int | None

    @property
    def idle(self) -> bool | None:
        """True or False where there is an answer; None where nothing can be read."""
        if self.others or (self.busy_percent or 0) > BUSY_PERCENT:
            return False
        return None if self.others is None or self.busy_percent is None else True


NOT_TOLD = Activity(None, None, None)


@dataclass(frozen=True, slots=True)
class IdleLimits:
    """What counts as idle on one kind of device. memory: whether it has its own."""

    busy_percent: float
    samples: int
    memory: bool


GPU = IdleLimits(BUSY_PERCENT, SAMPLES, memory=True)
CPU = IdleLimits(CPU_BUSY_PERCENT, SAMPLES, memory=False)
# The kernel's own mean over a minute is one look that stands for many.
CPU_MINUTE = IdleLimits(CPU_BUSY_PERCENT, 1, memory=False)


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """The answer with its one sentence, which has no full stop, and the newest look."""

    gate: DeviceState
    why: str
    newest: Activity = NOT_TOLD

    def __str__(self) -> str:
        return f"{self.gate}: {self.why}"

    @property
    def rank(self) -> tuple[int, float, int]:
        """The lower, the more idle; what is not told stands between idle and busy."""
        order = (DeviceState.IDLE, DeviceState.UNKNOWN, DeviceState.BUSY).index(self.gate)
        return order, self.newest.busy_percent or 0.0, self.newest.memory_used_bytes or 0


def judge(looks: Sequence[Activity], limits: IdleLimits) -> DeviceCheck:
    """Idle or busy, or not known; whatever speaks against it makes it busy, though more is hidden.

    `looks` are the newest ones in their order; fewer than `limits.samples` show nothing.
    """
    if len(looks) < limits.samples:
        return DeviceCheck(DeviceState.UNKNOWN, f"{len(looks)} of {limits.samples} looks are made")
    against = (_processes(looks), _busy(looks, limits), _memory(looks, limits))
    if any(against):
        return DeviceCheck(DeviceState.BUSY, "; ".join(filter(None, against)), looks[-1])
    hidden = _hidden(looks, limits)
    if hidden:
        return DeviceCheck(
            DeviceState.UNKNOWN, f"this host does not tell {' nor '.join(hidden)}", looks[-1]
        )
    most = max(look.busy_percent or 0.0 for look in looks)
    alone = "no other process computes on it, " if limits.memory else ""
    count = "one look" if len(looks) == 1 else f"{len(looks)} looks"
    return DeviceCheck(DeviceState.IDLE, f"{alone}at most {most:.0f} % busy at {count}", looks[-1])


def _processes(looks: Sequence[Activity]) -> str:
    others = sorted({process for look in looks for process in look.others or ()})
    if not others:
        return ""
    shown = ", ".join(map(str, others[:SHOWN_PROCESSES]))
    more = len(others) - SHOWN_PROCESSES
    named = f"{shown} and {more} more" if more > 0 else shown
    return f"process {named} computes on it" if len(others) == 1 else f"processes {named} compute"


def _busy(looks: Sequence[Activity], limits: IdleLimits) -> str:
    most = max((look.busy_percent for look in looks if look.busy_percent is not None), default=0.0)
    if most <= limits.busy_percent:
        return ""
    return f"{most:.0f} % busy, at most {limits.busy_percent:.0f} % is idle"


def _memory(looks: Sequence[Activity], limits: IdleLimits) -> str:
    """Memory that moves belongs to somebody who works; much that stays, to somebody who will."""
    used = [look.memory_used_bytes for look in looks if look.memory_used_bytes is not None]
    if not used or not limits.memory:
        return ""
    moved = max(used) - min(used)
    if moved >= MIB:
        return f"its memory in use moved by {moved / MIB:,.0f} MiB while nothing of ours ran"
    if used[-1] > HELD_BYTES:
        return f"{used[-1] / MIB:,.0f} MiB of its memory are in use, none of it by us"
    return ""


def _hidden(looks: Sequence[Activity], limits: IdleLimits) -> list[str]:
    told = {
        "which processes compute on it": all(look.others is not None for look in looks),
        "how busy it is": all(look.busy_percent is not None for look in looks),
        "how much of its memory is in use": not limits.memory
        or all(look.memory_used_bytes is not None for look in looks),
    }
    return [what for what, known in told.items() if not known]


def waited_s(before_s: float, since_look_s: float, planned_s: float) -> float:
    """How long was waited in all, `since_look_s` after a look that planned the next in `planned_s`.

    While nobody was there to look, as after a crash, nobody waited.
    """
    return before_s + min(max(since_look_s, 0.0), planned_s)


def is_over(waited: float) -> bool:
    """Whether a campaign has waited long enough to be paused."""
    return waited >= MOST_WAIT_S


def next_look_s(waited: float, *, bounded: bool) -> float:
    """In how many seconds to look again. Of a wait without a bound, ever more rarely."""
    if bounded:
        return min(LOOK_EVERY_S, max(MOST_WAIT_S - waited, 0.0))
    return max(LOOK_EVERY_S, waited)
