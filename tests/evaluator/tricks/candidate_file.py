"""The tricks that come with kopt; `benchmarks/trick.py` says what their headers hold."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.benchmarks import trick
from campaigns.benchmarks.trick import TRICKS, Trick


def every(kind: str, backend: str) -> Iterator[Trick]:
    """All tricks of one kind ("cheats" or "honest") for one backend."""
    return trick.every(TRICKS, kind, backend)
