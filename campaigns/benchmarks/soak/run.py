"""Evaluate so many times in a row with one service, and compare the end with the start."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from statistics import median, quantiles

from campaigns.benchmarks.soak.census import Census, counted, descendants, left_behind, take
from campaigns.benchmarks.trust.trick import Trick, job_of
from campaigns.devices.discover import Device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.processes import adopt_orphans
from campaigns.rules.noise import Gain, Pair, interval

# The first and the last part that are compared, and how much throughput may be lost.
SHARE, LOST = 0.1, 0.05
# When the worn service is compared with a fresh one: on so many kinds, those whose evaluations took
# most nearly the same time again and again (others take now 2 s, now 4, as looks into their bursts
# happen to say something or not); so many pairs of each at a time, and how often, until the
# interval lies on one side of what may be lost.
FRESH_KINDS, FRESH_PAIRS, TIMES = 3, 8, 8
SEED = 1
# Few kinds, so that both parts hold each kind several times.
HONEST_KINDS = 8
# What ended is gone at once, also a crew in reserve that is told to; a driver may take a while.
SETTLE_S = 75.0
PROGRESS_EVERY = 25


class SoakError(RuntimeError):
    """The service does not run, or there are too few evaluations to compare."""


class Verdict(StrEnum):
    HELD = "held"
    NOT_HELD = "not held"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Turn:
    """One evaluation. expected: it ended as the candidate's file says."""

    kind: str
    honest: bool
    outcome: str
    expected: bool
    wall_s: float


@dataclass(frozen=True, slots=True)
class Soak:
    """before, after: the counts. leaks: by kind, in words, also what was left when it had ended.

    change: throughput of honest evaluations in the last part against the first, a fraction; pairs
    are evaluations of the same kind, so much time apart that a host which becomes faster or slower
    meanwhile may hide a loss, or look like one. against_fresh: of the worn service against a new
    one, in alternation.
    """

    device: str
    measured_at: str
    seconds: float
    evaluations: int
    hostile_every: int
    outcomes: dict[str, int]
    unexpected: tuple[str, ...]
    before: dict[str, int]
    after: dict[str, int]
    leaks: dict[str, str]
    first_s: float
    last_s: float
    change: Gain
    against_fresh: Gain
    load: tuple[float, float]
    environment: dict[str, str]
    turns: tuple[Turn, ...]

    @property
    def verdict(self) -> Verdict:
        """What the comparison in alternation says: `change` holds what the host did, too."""
        return Verdict.NOT_HELD if self.leaks else kept(self.against_fresh)


def kept(change: Gain) -> Verdict:
    """Whether at most LOST of throughput is lost, as far as the interval can tell."""
    if change.low >= -LOST:
        return Verdict.HELD
    return Verdict.NOT_HELD if change.high < -LOST else Verdict.NOT_KNOWN


def soak(
    device: Device,
    honest: Sequence[Trick],
    hostile: Sequence[Trick],
    evaluations: int,
    hostile_every: int,
    progress: Callable[[str], None],
) -> Soak:
    """Honest and hostile candidates in turn, each list over and over. Raises SoakError."""
    begun = time.monotonic()
    known = frozenset(descendants(os.getpid()))
    honest = _spread(honest, HONEST_KINDS)
    with _own_temporary_folder() as folder, _orphans_come_here(), EvaluatorService() as service:
        scratch = folder / "scratch"
        # The first of each kind is not counted: the service starts, compilers come into memory.
        for trick in honest:
            _turn(service, trick, device, scratch)
        pid = _process(service)
        watch = _Watch(device, pid, folder, known)
        service.rest()
        before = watch.settled(None)
        load_before = os.getloadavg()[0]
        turns = []
        for number, trick in enumerate(_order(honest, hostile, evaluations, hostile_every), 1):
            turns.append(_turn(service, trick, device, scratch))
            if number % PROGRESS_EVERY == 0:
                progress(f"{number}/{evaluations}: {dict(Counter(t.outcome for t in turns))}")
        if _process(service) != pid:
            raise SoakError("the evaluator service was started anew on the way")
        service.rest()
        after = watch.settled(before)
        load_after = os.getloadavg()[0]
        first, last = _parts(turns)
        change = interval(_paired(first, last), SEED)
        progress(f"throughput {change.gain:+.1%}, load {load_before:.1f} and {load_after:.1f}")
        progress("the same service against a fresh one")
        fresh = _against_fresh(service, _steady(honest, turns), device, scratch, progress)
        service.close()
        leaks = left_behind(before, after) | watch.when_ended()
    return Soak(
        device=device.name,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=time.monotonic() - begun,
        evaluations=len(turns),
        hostile_every=hostile_every,
        outcomes=dict(Counter(turn.outcome for turn in turns)),
        unexpected=tuple(f"{t.kind}: {t.outcome}" for t in turns if not t.expected),
        before=counted(before),
        after=counted(after),
        leaks=leaks,
        first_s=median(turn.wall_s for turn in first),
        last_s=median(turn.wall_s for turn in last),
        change=change,
        against_fresh=fresh,
        load=(load_before, load_after),
        environment=_environment(),
        turns=tuple(turns),
    )


def _process(service: EvaluatorService) -> int:
    if service.process_id is None:
        raise SoakError("the evaluator service does not run")
    return service.process_id


def _environment() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "kernel": platform.release(),
    }


def _order(
    honest: Sequence[Trick], hostile: Sequence[Trick], evaluations: int, hostile_every: int
) -> Iterator[Trick]:
    """Every so-manieth is hostile; each list is gone through from its start, again and again."""
    for number in range(1, evaluations + 1):
        hostile_so_far = number // hostile_every
        if number % hostile_every == 0:
            yield hostile[(hostile_so_far - 1) % len(hostile)]
        else:
            yield honest[(number - hostile_so_far - 1) % len(honest)]


def _turn(service: EvaluatorService, trick: Trick, device: Device, scratch: Path) -> Turn:
    begun = time.perf_counter()
    report = service.evaluate(job_of(trick, scratch, device.device, device.target))
    wall_s = time.perf_counter() - begun
    passed_fairly = report.outcome is Outcome.PASSED and "no_gain" in trick.outcomes
    expected = passed_fairly or report.outcome in trick.outcomes
    return Turn(trick.name, trick.honest, str(report.outcome), expected, wall_s)


@dataclass(frozen=True, slots=True)
class _Watch:
    """What to look at. service: its process id. known: children that were here before it."""

    device: Device
    service: int
    folder: Path
    known: frozenset[int]

    def settled(self, before: Census | None) -> Census:
        """The census once what is ending has ended, or after SETTLE_S."""
        deadline = time.monotonic() + SETTLE_S
        while True:
            self._reap()
            found = take(self.device, self.service, (self.folder,))
            quiet = not left_behind(before, found) if before else not any(descendants(self.service))
            if quiet or time.monotonic() > deadline:
                return found
            time.sleep(0.5)

    def when_ended(self) -> dict[str, str]:
        """What is there after the service was closed."""
        self._reap()
        children = [str(child) for child in self._adopted()]
        files = [str(path) for path in self.folder.rglob("*")]
        found = {"processes at the end": children, "files at the end": files}
        return {kind: ", ".join(names[:5]) for kind, names in found.items() if names}

    def _adopted(self) -> list[int]:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        return [child for child in map(int, listed) if child not in {self.service, *self.known}]

    def _reap(self) -> None:
        """Wait for adopted ones that have ended; only those that still run are left behind."""
        for child in self._adopted():
            os.waitpid(child, os.WNOHANG)


def _parts(turns: Sequence[Turn]) -> tuple[list[Turn], list[Turn]]:
    """The honest ones of the first and the last part, each long enough to hold every kind.

    Raises SoakError when the parts would overlap.
    """
    kinds = {turn.kind for turn in turns if turn.honest}
    for length in range(max(1, round(len(turns) * SHARE)), len(turns) // 2 + 1):
        parts = turns[:length], turns[-length:]
        first, last = ([turn for turn in part if turn.honest] for part in parts)
        if all({turn.kind for turn in part} == kinds for part in (first, last)):
            return first, last
    raise SoakError(f"{len(turns)} evaluations: too few to compare the end with the start")


def _paired(first: Sequence[Turn], last: Sequence[Turn]) -> dict[str, list[Pair]]:
    """Seconds of equal kinds in the order they were taken; what one part has more is left out."""
    pairs: dict[str, list[Pair]] = {}
    for kind in {turn.kind for turn in first}:
        old, new = ([turn.wall_s for turn in part if turn.kind == kind] for part in (first, last))
        pairs[kind] = list(zip(old, new, strict=False))
    return pairs


def _against_fresh(
    worn: EvaluatorService,
    honest: Sequence[Trick],
    device: Device,
    scratch: Path,
    progress: Callable[[str], None],
) -> Gain:
    """Throughput of the worn service against a fresh one's; A B B A, so that drift meets both."""
    pairs: dict[str, list[Pair]] = {trick.name: [] for trick in honest}
    with EvaluatorService() as fresh:
        _turn(fresh, honest[0], device, scratch)
        for number in range(TIMES * FRESH_PAIRS):
            for trick in honest:
                order = (fresh, worn) if number % 2 else (worn, fresh)
                took = {one: _turn(one, trick, device, scratch).wall_s for one in order}
                pairs[trick.name].append((took[fresh], took[worn]))
            if (number + 1) % FRESH_PAIRS:
                continue
            change = interval(pairs, SEED)
            progress(f"{number + 1} pairs of each kind: {change.brief}")
            if kept(change) is not Verdict.NOT_KNOWN:
                break
    return change


def _steady(honest: Sequence[Trick], turns: Sequence[Turn]) -> list[Trick]:
    """Of the kinds some that took the same time again and again, the steadiest first."""

    def strays(trick: Trick) -> float:
        low, middle, high = quantiles((t.wall_s for t in turns if t.kind == trick.name), n=4)
        return (high - low) / middle

    return sorted(honest, key=strays)[:FRESH_KINDS]


def _spread(tricks: Sequence[Trick], most: int) -> list[Trick]:
    """So many of them, taken evenly over the list."""
    step = max(1.0, len(tricks) / most)
    return [tricks[int(i * step)] for i in range(min(most, len(tricks)))]


@contextmanager
def _orphans_come_here() -> Iterator[None]:
    """Whatever the service loses becomes a child of this process, where it is counted."""
    adopt_orphans()
    try:
        yield
    finally:
        adopt_orphans(adopt=False)


@contextmanager
def _own_temporary_folder() -> Iterator[Path]:
    """Let this process and what it starts keep their temporary files in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="kopt-soak-") as place:
        old = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = tempfile.tempdir = place
        try:
            yield Path(place)
        finally:
            tempfile.tempdir = None
            os.environ.pop("TMPDIR")
            if old is not None:
                os.environ["TMPDIR"] = old
