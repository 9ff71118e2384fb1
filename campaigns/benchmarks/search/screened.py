"""How many variants a minute does the screen try, from nothing and with warm builds?"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from campaigns.benchmarks.harness import (
    DEVICE,
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    held,
    option,
    own_database,
    versions,
)
from campaigns.benchmarks.search.replay import BATCH, BUDGET, SEEDS, measure_replay
from campaigns.devices.discover import Device, ensure_platform, this_device
from campaigns.devices.launch import EvaluatorService, clean_environment
from campaigns.devices.sweep.build_cache import BuildCache
from campaigns.devices.sweep.loop import SweepLoop
from campaigns.devices.sweep.search_work import FAILURES, SearchWork, TriedPoint
from campaigns.evaluator.contract import Case, Job, Outcome, Protocol, Source
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.landscapes.landscape import Landscape, LandscapeHeader, LandscapeRow, RecordedKnob
from campaigns.problems.shipped import is_shipped, problem_folder
from campaigns.records.target.device_limits import device_limits
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import ELEMENT_BYTES, space_of
from campaigns.spaces.render import render
from campaigns.spaces.space import Point, Space
from campaigns.steps.measuring.sweep import screening_protocol
from campaigns.strategies.base import SearchTrial, StopRule, TrialFailure
from campaigns.strategies.registry import DEFAULT, RandomSampling, strategy_named
from knowledge.exchange.importer import import_wiki

# problem:backend:case, each a shipped kernel with a space of its own.
SPACES = {
    "cpu": ("softmax:cpp:512x1024", "layernorm:cpp:512x1024"),
    "gpu": (
        "softmax:triton:4096x4096",
        "layernorm:triton:4096x4096",
        "matmul:cuda:1024x1024x1024",
        "matmul:triton:1024x1024x1024",
    ),
}
POINTS = 60
PLAIN_LIMIT_S = 60.0
SEED = 27
NEAR = 1.02
VERSIONS = ("torch", "triton", "numpy")
COLD, WARM = "screen, builds cold", "screen, builds warm"
BACKENDS = {"triton"}  # of the plain loop


@dataclass
class PointLog:
    """What became of points of one space. done: each with how many seconds had passed."""

    base: Source
    space: Space
    points: Sequence[Point]
    done: list[tuple[TriedPoint, float]] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def note(self, point: TriedPoint) -> None:
        self.done.append((point, time.monotonic() - self.begun))

    def again(self) -> PointLog:
        return PointLog(self.base, self.space, self.points)

    def timed(self) -> list[tuple[TriedPoint, float, float]]:
        """Points that were timed to the end, with their time in µs and the seconds passed."""
        return [(p, p.time_us, s) for p, s in self.done if p.time_us and not p.ended_early]

    def best_us(self) -> float:
        return min((time_us for _, time_us, _ in self.timed()), default=math.inf)

    def landscape(self, job: Job, device: Device) -> Landscape:
        """What was tried, as a file that `--replay` reads."""
        header = LandscapeHeader(
            kernel=job.problem.name,
            knobs=tuple(RecordedKnob(knob.name, knob.values) for knob in self.space.knobs),
            backend=job.backend,
            device=device.name,
            versions=versions(device, *VERSIONS),
            cases=tuple(case.name for case in job.cases),
            made="by `bench search`: each point checked once and timed in short bursts, "
            "one that is far behind only roughly",
        )
        rows = []
        for tried, _ in self.done:
            values = tuple(tried.point[knob.name] for knob in self.space.knobs)
            listed = asdict(tried.facts) if tried.facts else {}
            known = {name: float(value) for name, value in listed.items() if value is not None}
            if tried.time_us is not None:
                trial = SearchTrial(tried.time_us)
            else:
                failure = FAILURES.get(Outcome(tried.outcome), TrialFailure.CRASHED)
                trial = SearchTrial(failure=failure)
            rows.append(LandscapeRow(values, trial, known))
        return Landscape.of(header, rows)


def measure_screens(options: Namespace, progress: Progress) -> BenchReport:
    """Screen the same points cold and warm, and beside it by the plain loop where there is one.

    With `--replay` search recorded landscapes instead.
    """
    if options.replay:
        return measure_replay(options, progress)
    device = this_device(options.device)
    with own_database():
        import_wiki()
        limits = device_limits(ensure_platform(device))
    rows: list[Row] = []
    with held(device) as folder, EvaluatorService() as service:
        for number, name in enumerate(options.space or SPACES[device.kind]):
            progress(f"{name} …")
            place = folder / str(number)
            place.mkdir()
            job, drawn = _job_and_points(name, device, limits, options.points, place)
            cold = drawn.again()
            for row in _rows(service, job, drawn, cold, place):
                rows.append(row)
                progress(" · ".join(f"{key} {value}" for key, value in row.items()))
                if options.keep and row["by"] == COLD:
                    file = f"{job.problem.name}-{job.backend}-{job.cases[0].name}.csv.gz"
                    options.keep.mkdir(parents=True, exist_ok=True)
                    cold.landscape(job, device).save(options.keep / file)
    screened = [row for row in rows if row["by"] == WARM]
    least = min((float(str(row["a minute"])) for row in screened), default=0.0)
    return BenchReport(
        title="Search: what a minute tries",
        question="How many variants are tried in a minute, beside a plain loop with do_bench?",
        device=device,
        verdict=f"With warm builds the slowest space is screened at {least:.0f} variants a minute.",
        tables=(ReportTable("Variants", rows, (NOTE,)),),
        packages=VERSIONS,
    )


NOTE = (
    "Random legal points of each space, the same ones in every row of it. Cold: compilers run "
    "ahead in a locked-down pool while the screen works. Warm: the same once more, with builds "
    "from the cache. Search: points of its choice, from nothing. Plain loop: do_bench in one "
    "process, compiling as it goes, not locked down. The time includes the start of judge and "
    "runner. Within 2 %: of the best time of the cold row; for the plain loop of its own best."
)


def _job_and_points(
    name: str, device: Device, limits: DeviceLimits, points: int, place: Path
) -> tuple[Job, PointLog]:
    try:
        problem, backend, case = name.split(":")
    except ValueError:
        raise BenchmarkError(f"--space {name}: problem:backend:case is accepted") from None
    folder = problem_folder(problem)
    spec = load_problem(folder)
    found = [Case(c.name, dict(c.params)) for c in spec.cases if c.name == case]
    if not found or backend not in spec.files:
        listed = ", ".join(c.name for c in spec.cases)
        raise BenchmarkError(f"--space {name}: backends {', '.join(spec.files)}; cases {listed}")
    base = Source(spec.files[backend], (folder / spec.files[backend]).read_text())
    space = space_of(base, backend, limits, element_bytes=ELEMENT_BYTES[spec.dtype])
    job = Job(
        job_id="search",
        problem=folder,
        backend=backend,
        device=device.device,
        target=device.target,
        cases=tuple(found),
        candidate=base,
        scratch=place / "scratch",
        protocol=screening_protocol(Protocol(), device.kind, PLAIN_LIMIT_S),
    )
    # The source as it is, and others by chance.
    chosen = RandomSampling(space, SEED, (space.defaults,)).ask(points)
    return job, PointLog(base, space, chosen)


def _rows(
    service: EvaluatorService, job: Job, drawn: PointLog, cold: PointLog, place: Path
) -> Iterator[Row]:
    """Screened from nothing, again with the builds, by a search from nothing, by the plain loop.

    cold: for what becomes of the points from nothing.
    """
    builders = max(1, (os.cpu_count() or 2) - (job.device != "cpu"))
    most = len(drawn.points)
    by_search = f"search by {DEFAULT}, builds cold"
    for log, by, builds in (
        (cold, COLD, "builds"),
        (drawn.again(), WARM, "builds"),
        (drawn.again(), by_search, "found"),
    ):
        if by == by_search:
            strategy = strategy_named(DEFAULT)(drawn.space, SEED, (drawn.space.defaults,))
            stop = StopRule(most_trials=most, most_s=PLAIN_LIMIT_S)
        else:
            strategy = RandomSampling(drawn.space, SEED, drawn.points)
            stop = StopRule(most_trials=most, least_trials=most)
        work = SearchWork(drawn.base, drawn.space, strategy, stop, log.note)
        log.begun = time.monotonic()
        SweepLoop(service, job, BuildCache(place / builds, job), place, builders).run(work)
        yield _row(job, by, log, cold.best_us())
    # The plain loop has no locks, so it runs no reference but ours.
    if job.backend in BACKENDS and job.device != "cpu" and is_shipped(job.problem):
        yield _plain(job, drawn, cold.best_us())


def _plain(job: Job, drawn: PointLog, best_us: float) -> Row:
    """The same points, as many as the limit allows."""
    task = {
        "folder": str(job.problem),
        "params": dict(job.cases[0].params),
        "sources": [render(drawn.base, drawn.space, point).text for point in drawn.points],
    }
    program = Path(__file__).with_name("plain_loop.py")
    log = drawn.again()
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=clean_environment() | {"TRITON_CACHE_DIR": str(job.scratch.parent / "plain")},
    ) as loop:
        assert loop.stdin is not None  # both are pipes, as asked for above
        assert loop.stdout is not None
        loop.stdin.write(json.dumps(task))
        loop.stdin.close()
        for number, (point, line) in enumerate(zip(drawn.points, loop.stdout, strict=False), 1):
            time_us = json.loads(line)
            outcome = "passed" if time_us else "failed"
            log.note(TriedPoint(number, point, outcome, time_us=time_us))
            if time.monotonic() - log.begun > PLAIN_LIMIT_S:
                loop.kill()
                break
    return _row(job, "plain loop", log, best_us)


def _row(job: Job, by: str, log: PointLog, best_us: float) -> Row:
    """best_us: of all points in the screen. The plain loop uses its own clock; only its points
    within 2 % of its own best count."""
    took_s = time.monotonic() - log.begun
    timed = log.timed()
    base_us = next((us for one, us, _ in timed if one.point == log.space.defaults), None)
    near_us = NEAR * (log.best_us() if by == "plain loop" else best_us)
    near_s = next((s for _, us, s in timed if us <= near_us), None)
    outcomes = Counter("ended early" if p.ended_early else p.outcome for p, _ in log.done)
    return {
        "space": f"{job.problem.name} {job.backend} {job.cases[0].name}",
        "points": f"{len(log.points):,} of {log.space.size:,}",
        "by": by,
        "s": f"{took_s:.1f}",
        "a minute": f"{len(log.done) / took_s * 60:.0f}",
        "outcomes": ", ".join(f"{n} {what}" for what, n in outcomes.items()),
        "as it is µs": f"{base_us:.2f}" if base_us else "–",
        "best µs": f"{log.best_us():.2f}",
        "s to within 2 %": f"{near_s:.1f}" if near_s else "–",
    }


SEARCH = Benchmark(
    "search",
    "how many variants are tried a minute, how many does a search need?",
    (
        DEVICE,
        option("--space", action="append", help="problem:backend:case; default: some shipped ones"),
        option("--points", type=int, default=POINTS, help="of each space"),
        option("--keep", type=Path, help="a folder for what was screened, as landscapes"),
        option(
            "--replay", action="store_true", help="search recorded landscapes, without a device"
        ),
        option(
            "--landscape", type=Path, action="append", help="a landscape; default: shipped ones"
        ),
        option("--seeds", type=int, default=SEEDS, help="searches of each strategy"),
        option("--budget", type=int, default=BUDGET, help="evaluations of one search"),
        option("--batch", type=int, default=BATCH, help="points that ours ask at a time"),
    ),
    measure_screens,
)
