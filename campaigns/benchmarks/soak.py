"""Many evaluations in a row by one service: what do they leave behind, does it become slower?"""

from __future__ import annotations

import os
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from campaigns.benchmarks.census import Census, descendants, left_behind, take
from campaigns.benchmarks.harness import (
    DEVICE,
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    option,
    require,
)
from campaigns.benchmarks.trick import TRICKS, Trick, chosen, job_of
from campaigns.devices.discover import Device, this_device
from campaigns.devices.hold import hold
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.looks import Pair
from campaigns.evaluator.contract.sandbox import adopt_orphans
from campaigns.rules.noise.gain import Gain, interval

EVALUATIONS, HOSTILE_EVERY = 1000, 5
TIMED_BACKENDS = {"cpu": "cpp", "gpu": "cuda"}
# How much throughput may be lost.
LOST = 0.05
# When the worn service is compared with a fresh one: on so many kinds, those whose evaluations took
# most nearly the same time again and again; so many pairs of each at a time, and how often, until
# the interval lies on one side of what may be lost.
FRESH_KINDS, FRESH_PAIRS, TIMES = 3, 8, 8
SEED = 1
# Few kinds, so that each is evaluated many times.
HONEST_KINDS = 8
# What ended is gone at once, also a crew in reserve that is told to; a driver may take a while.
SETTLE_S = 75.0
PROGRESS_EVERY = 25
SHOWN = 20


@dataclass(frozen=True, slots=True)
class SoakRun:
    """One evaluation. expected: it ended as the candidate's file says."""

    kind: str
    outcome: str
    expected: bool
    wall_s: float


def soak(options: Namespace, progress: Progress) -> BenchReport:
    """Honest and hostile candidates in turn, each list over and over; then the comparison."""
    count, every = options.evaluations, options.hostile_every
    require(options, hostile_every=(2, count))
    device = this_device(options.device)
    backends = options.backend or [TIMED_BACKENDS[device.kind]]
    tricks = chosen(device, options.tricks, backends)
    hostile = [trick for trick in tricks if not trick.honest]
    honest = [trick for trick in tricks if trick.honest]
    # Few of them, taken evenly over the list.
    step = max(1.0, len(honest) / HONEST_KINDS)
    honest = [honest[int(i * step)] for i in range(min(HONEST_KINDS, len(honest)))]
    if not honest or not hostile:
        raise BenchmarkError(f"--tricks {options.tricks}: honest and dishonest ones are needed")
    order = list(_order(honest, hostile, count, every))
    with hold(device):
        return _soaked(device, honest, order, progress)


SOAK = Benchmark(
    "soak",
    "many evaluations in a row: leaks and slowness",
    (
        DEVICE,
        option("--evaluations", type=int, default=EVALUATIONS),
        option("--hostile-every", type=int, default=HOSTILE_EVERY),
        option("--tricks", type=Path, default=TRICKS, help="folder; default: kopt's own"),
        option("--backend", action="append", help="default: the one that is timed"),
    ),
    soak,
)


def is_held(change: Gain) -> bool | None:
    """Whether at most LOST of throughput is lost; None where the interval cannot tell."""
    if change.low >= -LOST:
        return True
    return False if change.high < -LOST else None


def report_of(
    device: Device,
    runs: Sequence[SoakRun],
    counted: tuple[Census, Census],
    leaks: Mapping[str, str],
    against_fresh: Gain,
) -> BenchReport:
    """What was left behind, and the worn service against a fresh one.

    counted: before and after. leaks: by kind, in words, also what was left at the very end.
    """
    level = is_held(against_fresh)
    held = level is True and not leaks
    answer = "held" if held else "not held" if leaks or level is False else "not known"
    outcomes = Counter(run.outcome for run in runs)
    unexpected = [f"{run.kind}: {run.outcome}" for run in runs if not run.expected]
    pairs = f"at least {against_fresh.pairs} pairs of each kind"
    loss = f"{against_fresh.gain:+.1%} ({against_fresh.low:+.1%} to {against_fresh.high:+.1%}"
    said = "; ".join(f"{kind}: {words}" for kind, words in leaks.items())
    before, after = (census.counts() for census in counted)
    return BenchReport(
        title=f"{len(runs)} evaluations in a row",
        question="Does anything leak or become slower over many evaluations, some hostile?",
        device=device,
        verdict=f"No leak, and at most {LOST:.0%} of throughput lost: {answer}."
        + (f" Left behind: {said}." if said else ""),
        held=held,
        notes=[
            f"Throughput of the same service after all of them against a fresh one: {loss}, "
            f"{against_fresh.kind}, {pairs}). Both are asked in alternation, on the {FRESH_KINDS} "
            "kinds whose evaluations took most nearly the same time."
        ],
        tables=[
            ReportTable(
                "Outcomes", [{"outcome": o, "evaluations": n} for o, n in outcomes.items()]
            ),
            ReportTable(
                "Ended otherwise than the candidate's file says",
                [{"evaluation": each} for each in unexpected[:SHOWN]],
            ),
            ReportTable(
                "Left behind",
                [{"what": n, "before": before[n], "after": after[n]} for n in before],
                ["After a first evaluation of each honest kind, and again after the last one."],
            ),
        ],
        packages=("torch",),
    )


def _soaked(
    device: Device, honest: Sequence[Trick], order: Sequence[Trick], progress: Progress
) -> BenchReport:
    known = set(descendants(os.getpid()))
    with _counted_here() as folder, EvaluatorService() as service:
        scratch = folder / "scratch"
        # The first of each kind is not counted: the service starts, compilers come into memory.
        for trick in honest:
            _evaluate(service, trick, device, scratch)
        pid = service.process_id
        if pid is None:
            raise BenchmarkError("the evaluator service does not run")
        known.add(pid)
        service.rest()
        before = _settled(device, pid, folder, known, None)
        runs = []
        for number, trick in enumerate(order, 1):
            runs.append(_evaluate(service, trick, device, scratch))
            if number % PROGRESS_EVERY == 0:
                progress(f"{number}/{len(order)}: {dict(Counter(one.outcome for one in runs))}")
        if service.process_id != pid:
            raise BenchmarkError("the evaluator service was started anew on the way")
        service.rest()
        after = _settled(device, pid, folder, known, before)
        progress("the same service against a fresh one")
        gain = _against_fresh(service, _steady(honest, runs), (device, scratch), progress)
        service.close()
        leaks = left_behind(before, after)
        for kind, names in (
            ("processes at the end", [str(child) for child in _left_running(known)]),
            ("files at the end", [str(path) for path in folder.rglob("*")]),
        ):
            if names:
                leaks[kind] = ", ".join(names[:5])
    return report_of(device, runs, (before, after), leaks, gain)


def _settled(
    device: Device, service: int, folder: Path, known: set[int], before: Census | None
) -> Census:
    """The census once what is ending has ended, or after SETTLE_S."""
    deadline = time.monotonic() + SETTLE_S
    while True:
        _left_running(known)
        found = take(device, service, folder)
        quiet = not left_behind(before, found) if before else not any(descendants(service))
        if quiet or time.monotonic() > deadline:
            return found
        time.sleep(0.5)


def _left_running(known: set[int]) -> list[int]:
    """The children that came to this process and still run; those that have ended are waited for.

    known: the service, and children that were here before it.
    """
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    adopted = [child for child in map(int, listed) if child not in known]
    return [child for child in adopted if os.waitpid(child, os.WNOHANG) == (0, 0)]


def _order(
    honest: Sequence[Trick], hostile: Sequence[Trick], evaluations: int, hostile_every: int
) -> Iterator[Trick]:
    """One in `hostile_every` is hostile; each list is gone through again and again."""
    for number in range(1, evaluations + 1):
        hostile_so_far = number // hostile_every
        if number % hostile_every == 0:
            yield hostile[(hostile_so_far - 1) % len(hostile)]
        else:
            yield honest[(number - hostile_so_far - 1) % len(honest)]


def _evaluate(service: EvaluatorService, trick: Trick, device: Device, scratch: Path) -> SoakRun:
    job = job_of(trick, scratch, device.device, device.target)
    begun = time.perf_counter()
    report = service.evaluate(job)
    wall_s = time.perf_counter() - begun
    fair = {Outcome.PASSED} if "no_gain" in trick.outcomes else set()
    expected = report.outcome in {*trick.outcomes, *fair}
    return SoakRun(trick.name, str(report.outcome), expected, wall_s)


def _against_fresh(
    worn: EvaluatorService, honest: Sequence[Trick], where: tuple[Device, Path], progress: Progress
) -> Gain:
    """Throughput of the worn service against a fresh one's; A B B A, so that drift meets both."""
    pairs: dict[str, list[Pair]] = {trick.name: [] for trick in honest}
    with EvaluatorService() as fresh:
        _evaluate(fresh, honest[0], *where)
        for number in range(TIMES * FRESH_PAIRS):
            for trick in honest:
                order = (fresh, worn) if number % 2 else (worn, fresh)
                took = {one: _evaluate(one, trick, *where).wall_s for one in order}
                pairs[trick.name].append((took[fresh], took[worn]))
            if (number + 1) % FRESH_PAIRS:
                continue
            change = interval(pairs, SEED)
            progress(f"{number + 1} pairs of each kind: {change.brief}")
            if is_held(change) is not None:
                break
    return change


def _steady(honest: Sequence[Trick], runs: Sequence[SoakRun]) -> list[Trick]:
    """Pick kinds that took the same time again and again, the steadiest first."""

    def strays(trick: Trick) -> float:
        walls = [run.wall_s for run in runs if run.kind == trick.name]
        if len(walls) < 2:
            raise BenchmarkError(f"{len(runs)} evaluations: too few to compare the end with")
        low, _, high = quantiles(walls, n=4)
        return (high - low) / median(walls)

    return sorted(honest, key=strays)[:FRESH_KINDS]


@contextmanager
def _counted_here() -> Iterator[Path]:
    """Whatever the service loses becomes a child of this process, where it is counted.

    Temporary files of this process and of what it starts go to the folder, which is theirs alone.
    """
    with tempfile.TemporaryDirectory(prefix="kopt-soak-") as place:
        old = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = tempfile.tempdir = place
        adopt_orphans()
        try:
            yield Path(place)
        finally:
            adopt_orphans(adopt=False)
            tempfile.tempdir = None
            os.environ.pop("TMPDIR")
            if old is not None:
                os.environ["TMPDIR"] = old
