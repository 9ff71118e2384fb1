"""Which other values a tunable may have."""

from __future__ import annotations

from campaigns.syntax.tunables import Tunable

MOST_THREADS = 1024


def may_have(tunable: Tunable, value: int, backend: str) -> bool:
    """Whether this is another value than the present one, within the limits of a device."""
    return 1 <= value <= _limit(tunable, backend) and value != tunable.value


def _limit(tunable: Tunable, backend: str) -> int:
    """No more threads than a block may have, where the name or the use says it counts threads."""
    if backend not in ("cuda", "hip"):
        return 1 << 20
    if tunable.square:
        return 32
    return MOST_THREADS
