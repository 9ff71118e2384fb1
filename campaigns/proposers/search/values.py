"""Which other values of a tunable are worth a try."""

from __future__ import annotations

from campaigns.syntax.tunables import Tunable

MOST_CANDIDATES = 4
MOST_THREADS = 1024
DEFAULT_WARPS = 4
DEFAULT_STAGES = 3


def values_to_try(tunable: Tunable, backend: str) -> tuple[int, ...]:
    """Up to four values, nearest first and the present one left out."""
    if tunable.name == "num_warps":
        return _near((1, 2, 4, 8, 16), tunable.value or DEFAULT_WARPS)
    if tunable.name == "num_stages":
        return _near((1, 2, 3, 4, 5), tunable.value or DEFAULT_STAGES)
    value = tunable.value
    if value is None or value < 1:
        return ()
    steps = (value * 2, value // 2, value * 4, value // 4)
    return tuple(v for v in steps if may_have(tunable, v, backend))[:MOST_CANDIDATES]


def may_have(tunable: Tunable, value: int, backend: str) -> bool:
    """Whether this is another value than the present one, within the limits of a device."""
    return 1 <= value <= _limit(tunable, backend) and value != tunable.value


def _near(ladder: tuple[int, ...], value: int) -> tuple[int, ...]:
    rest = (step for step in ladder if step != value)
    return tuple(sorted(rest, key=lambda step: abs(step.bit_length() - value.bit_length())))[
        :MOST_CANDIDATES
    ]


def _limit(tunable: Tunable, backend: str) -> int:
    """No more threads than a block may have, where the name or the use says it counts threads."""
    if backend not in ("cuda", "hip"):
        return 1 << 20
    if tunable.square:
        return 32
    return MOST_THREADS
