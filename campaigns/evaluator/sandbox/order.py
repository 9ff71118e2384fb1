"""What a worker asks of `sandbox.program`, and what that tells."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

# Of what a command prints, the first and the end are kept.
TABLE_BYTES = 4 << 20
LOG_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Order:
    """folder: holds `tree`, where the command runs, and `home`. kind: of device, "cpu" or "cuda".

    extra: more folders to read, whose programs come first. total_s: how long it may take, and with
    every core busy. memory_bytes: what all its processes may take, its files among it; 0 for half
    of this host's. disk_bytes: of the folder.
    """

    folder: str
    command: str
    kind: str
    total_s: float
    memory_bytes: int
    disk_bytes: int
    require_all: bool
    extra: tuple[str, ...] = ()


@dataclass(slots=True)
class Told:
    """What is known of a command. locked: it was begun. broken: why this host cannot run it.

    late: it took too long. over: which limit it went over, as the rest of a sentence.
    """

    locked: bool = False
    broken: str = ""
    late: bool = False
    over: str = ""

    @classmethod
    def read(cls, lines: bytes) -> Self:
        found: dict[str, Any] = {}
        for line in lines.splitlines():
            found |= json.loads(line)
        return cls(**found)
