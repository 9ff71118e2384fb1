"""A candidate before a profiler that a script stands in for; no GPU and no counters are needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from campaigns.evaluator.contract import Job, Profile, Source
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out
from campaigns.evaluator.profile.run import count
from campaigns.evaluator.sandbox.workplace import Workplace
from campaigns.evaluator.sanitizers.run import Subject

LAYOUT = lay_out(
    [
        Plain("x", "float32", (4,), False),
        Plain("y", "float32", (4,), True),
        ScalarArg("N", 4),
    ]
)


class Open:
    """A lock that closes nothing. opened: whether events were asked for, program by program."""

    no_watching = ""

    def __init__(self) -> None:
        self.opened: list[bool] = []

    def compiler(self, seconds):
        return lambda: None

    def watched(self, seconds, *, opens_events=False):
        self.opened.append(opens_events)
        return lambda: None


class Memory:
    def tensor(self, layout, slot, arg):
        return torch.full(arg.shape, 1.5)


@contextmanager
def workplace(folder: Path, lock: Open) -> Iterator[Workplace]:
    log = os.memfd_create("log")
    yield Workplace(folder, lock, log, 60.0)
    os.close(log)


def counted(place: Workplace, backend: str, device: str, source: Source, *counters) -> Profile:
    """What is told of the source; a runner knows no case."""
    target = "sm_90a" if device.startswith("cuda") else "native"
    job = Job("1", Path(), backend, device, target, (), source, place.folder, counters=counters)
    return count(Subject(job, place, LAYOUT), Memory())


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return str(path)
