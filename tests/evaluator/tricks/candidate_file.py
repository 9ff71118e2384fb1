"""The tricks that come with kopt; `benchmarks/trust/trick.py` says what their headers hold."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.benchmarks.trust import trick
from campaigns.benchmarks.trust.trick import TRICKS, Trick


def every(kind: str, backend: str) -> Iterator[Trick]:
    """All tricks of one kind ("cheats" or "honest") for one backend."""
    return trick.every(TRICKS, kind, backend)
