"""The tricks of this folder; what their headers may say is told in `devices/trust/trick.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from campaigns.devices.trust import trick
from campaigns.devices.trust.trick import Trick

HERE = Path(__file__).parent


def every(kind: str, backend: str) -> Iterator[Trick]:
    """All tricks of one kind ("cheats" or "honest") for one backend."""
    return trick.every(HERE, kind, backend)
