"""How long each phase of a campaign may take, and what follows when it takes longer (R16, R59)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

MINUTE = 60.0


class Overrun(StrEnum):
    """The effect of a timeout: an event, a pause until a person resumes, or a declined offer."""

    TELL = "tell"
    PAUSE = "pause"
    DECLINE = "decline"


@dataclass(frozen=True, slots=True)
class Limit:
    """idle_s: the time without a heartbeat until an event is recorded. wall_s: the total time until
    `overrun` applies.

    In a measuring phase only the time spent measuring counts, not time in a queue, waiting for a
    device or on a machine that was switched off.
    """

    idle_s: float
    wall_s: float
    overrun: Overrun = Overrun.TELL


# State → its limit. A pause, and waiting for the first worker or for what is handed in, has none.
LIMITS: Mapping[str, Limit] = {
    "prepare": Limit(15 * MINUTE, 90 * MINUTE),
    "baseline": Limit(25 * MINUTE, 120 * MINUTE, Overrun.PAUSE),
    "profile": Limit(10 * MINUTE, 40 * MINUTE),
    "analyze": Limit(7 * MINUTE, 40 * MINUTE),
    "implement": Limit(10 * MINUTE, 60 * MINUTE),
    "validate": Limit(25 * MINUTE, 120 * MINUTE, Overrun.PAUSE),
    # Of what was handed in, a person or an agent has this long to mend it.
    "repair": Limit(60 * MINUTE, 60 * MINUTE, Overrun.DECLINE),
    "decide": Limit(5 * MINUTE, 15 * MINUTE),
    "stagnation": Limit(5 * MINUTE, 20 * MINUTE),
    "restart": Limit(60 * MINUTE, 60 * MINUTE, Overrun.DECLINE),
    "report": Limit(25 * MINUTE, 120 * MINUTE, Overrun.PAUSE),
}
MEASURING = frozenset(name for name, limit in LIMITS.items() if limit.overrun is Overrun.PAUSE)


@dataclass(frozen=True, slots=True)
class Clock:
    """The duration of a phase. silent_s: since its last heartbeat. spent_s: counted time."""

    state: str
    spent_s: float
    silent_s: float


def overrun(clock: Clock) -> Overrun | None:
    """The effect of its wall limit; None while there is time."""
    limit = LIMITS.get(clock.state)
    return limit.overrun if limit and clock.spent_s >= limit.wall_s else None


def is_idle(clock: Clock) -> bool:
    """Whether its last heartbeat is too old."""
    limit = LIMITS.get(clock.state)
    return limit is not None and clock.silent_s >= limit.idle_s
