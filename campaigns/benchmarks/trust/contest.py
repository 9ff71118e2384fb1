"""Run every candidate through every evaluator, in one go, within a time limit.

This project's evaluator comes first: candidates that are compared with another kernel alone on
their device, the others a few at once. Then the others, several at once in processes of their own:
checks may overlap, times are taken one at a time on each device.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from campaigns.benchmarks.spread import Place, name_of, open_places, spread
from campaigns.benchmarks.trust import ours, peers
from campaigns.benchmarks.trust.peers import Peer
from campaigns.benchmarks.trust.told import Answer, Told
from campaigns.benchmarks.trust.trick import Trick
from campaigns.devices.discover import Device
from campaigns.evaluator.contract import Outcome

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """One candidate and what each evaluator said, by the evaluator's name.

    aimed: it fools nobody but this project's evaluator, and does its work in any other.
    """

    name: str
    words: str
    honest: bool
    aimed: bool
    told: dict[str, Told]


@dataclass(frozen=True, slots=True)
class Contest:
    """commits: of each evaluator's code, by name."""

    device: str
    measured_at: str
    seconds: float
    commits: dict[str, str]
    environment: dict[str, str]
    entries: tuple[Entry, ...]


@dataclass(slots=True)
class Clock:
    """The time that is left, and what has been said so far."""

    limit_s: float
    progress: Progress
    begun: float = field(default_factory=time.monotonic)
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def over(self) -> bool:
        return time.monotonic() - self.begun > self.limit_s

    def guard(self, name: str, trick: Trick, work: Callable[[], Told]) -> Told:
        """`work`, unless the time is over."""
        if self.over:
            return Told(Answer.NOT_RUN, "the time limit was reached")
        begun = time.monotonic()
        found = work()
        with self.lock:
            self.done += 1
            took = f"{time.monotonic() - begun:.1f} s"
            self.progress(
                f"{self.done} {name} {trick.name}: {found.answer} {found.reason} ({took})"
            )
        return found


def hold_contest(
    devices: Sequence[Device],
    tricks: Sequence[Trick],
    others: Sequence[Peer],
    jobs: int,
    clock: Clock,
) -> Contest:
    """devices: of one kind; every candidate is asked about on one of them, whichever is free.

    jobs: how many of the other evaluators run at once; on a CPU a quarter as many of this one do.
    On a GPU only one does: it refuses to time on a device that somebody else uses.
    """
    tricks, device = _mixed(tricks), devices[0]
    found: dict[str, dict[str, Told]] = {trick.name: {} for trick in tricks}
    with TemporaryDirectory(prefix="kopt-bench-") as place:
        folder = Path(place)
        few = max(1, jobs // 4) if device.kind == "cpu" else 1
        alone = [trick for trick in tricks if trick.against]
        rest = [trick for trick in tricks if not trick.against]
        for some, at_once in ((alone, 1), (rest, few)):
            told = _ask_us(devices, some, at_once, folder, clock)
            for trick, answer in zip(some, told, strict=True):
                found[trick.name][ours.NAME] = answer
        pairs = [(trick, peer) for trick in tricks for peer in others]
        for (trick, peer), answer in zip(
            pairs, _ask_them(devices, pairs, jobs, folder, clock), strict=True
        ):
            found[trick.name][peer.name] = answer
    return Contest(
        device=name_of(devices),
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=time.monotonic() - clock.begun,
        commits={peer.name: peer.commit() for peer in others},
        environment=_environment(device, others),
        entries=tuple(
            Entry(
                trick.name,
                trick.words["trick"],
                trick.honest,
                trick.words.get("aims") == ours.NAME,
                found[trick.name],
            )
            for trick in sorted(tricks, key=lambda trick: trick.name)
        ),
    )


def _mixed(tricks: Sequence[Trick]) -> list[Trick]:
    """Honest and dishonest ones of every backend spread evenly, so that any part is like the whole.

    Those that hang come last: one that spins on the device slows down what is timed beside it.
    """
    groups: dict[tuple[str, bool], list[Trick]] = {}
    for trick in tricks:
        groups.setdefault((trick.backend, trick.honest), []).append(trick)
    place = {
        trick.name: number / len(group)
        for group in groups.values()
        for number, trick in enumerate(group)
    }
    return sorted(tricks, key=lambda t: (Outcome.TIMED_OUT in t.outcomes, place[t.name]))


def _ask_us(
    devices: Sequence[Device], tricks: list[Trick], at_once: int, folder: Path, clock: Clock
) -> list[Told]:
    """A service answers one question at a time, so there are `at_once` for every device."""

    def one(trick: Trick, place: Place) -> Told:
        return clock.guard(ours.NAME, trick, lambda: ours.ask(trick, place))

    with open_places([*devices] * at_once, folder) as places:
        return spread(one, tricks, places)


def _ask_them(
    devices: Sequence[Device],
    pairs: list[tuple[Trick, Peer]],
    jobs: int,
    folder: Path,
    clock: Clock,
) -> list[Told]:
    def one(pair: tuple[Trick, Peer], device: Device) -> Told:
        trick, peer = pair
        turn = folder / f"turn-{devices.index(device)}"
        return clock.guard(peer.name, trick, lambda: peers.ask(peer, trick, device, turn))

    return spread(one, pairs, [devices[number % len(devices)] for number in range(jobs)])


def _environment(device: Device, others: Sequence[Peer]) -> dict[str, str]:
    known = {
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "load at the end": f"{os.getloadavg()[0]:.1f}",
    }
    for package in ("torch", "triton", *(name for peer in others for name in peer.packages)):
        known[package] = _version(package)
    return known | {name: str(value) for name, value in device.detail.items()}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
