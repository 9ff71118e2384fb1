"""What `run` has to know of a profiler; each has a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from campaigns.evaluator.sanitizers.run import Subject


@dataclass(frozen=True, slots=True)
class Profiler:
    """One profiler. calls: backend → how many calls it counts; it counts no other backend.

    device: kind that it counts on, "cuda" or "cpu". missing: why it cannot count this candidate
    here, or "". command: builds the program and gives the command that has it counted; raises
    BuildFailed, Unsupported and OSError. log: the file that it writes. refusal: why nothing is
    counted, by what it wrote and said, or "". then: what shortens `log` and writes `lines`, where
    it counted. opens_events: whether it needs perf_event_open.
    """

    tool: str
    device: str
    calls: Mapping[str, int]
    missing: Callable[[Subject], str]
    command: Callable[[Subject], list[str]]
    log: str
    refusal: Callable[[str], str]
    then: Callable[[Subject], list[str]] | None = None
    lines: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    opens_events: bool = False
