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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

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
from campaigns.devices.sweep.loop import SweepLoop, SweepOptions
from campaigns.devices.sweep.search_work import FAILURES, SearchWork, TriedPoint
from campaigns.evaluator.contract import (
    BuildFacts,
    BuildResult,
    Case,
    Job,
    Outcome,
    Protocol,
    ScreenResult,
    Source,
)
from campaigns.evaluator.problem import load_problem
from campaigns.landscapes.landscape import Landscape, LandscapeHeader, LandscapeRow, RecordedKnob
from campaigns.problems.shipped import is_shipped, problem_folder
from campaigns.records.target.device_limits import device_limits
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import ELEMENT_BYTES, space_of
from campaigns.spaces.render import render
from campaigns.spaces.space import Point, Space
from campaigns.steps.measuring.sweep import screening_protocol
from campaigns.strategies.base import SearchTrial, TrialFailure
from campaigns.strategies.registry import DEFAULT, strategy_named
from campaigns.strategies.stop import StopRule
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
WARM = "screen, builds warm"
BACKENDS = {"triton"}  # of the plain loop


@dataclass
class Drawn:
    """Points of one space as work, in a fixed order.

    seen: of each that was timed its number, its time in µs, and how many seconds had passed. rows:
    of each that was tried, also those that failed or ended early.
    """

    base: Source
    space: Space
    points: Sequence[Point]
    outcomes: Counter[str] = field(default_factory=Counter)
    seen: list[tuple[int, float, float]] = field(default_factory=list)
    rows: list[LandscapeRow] = field(default_factory=list)
    facts: dict[int, BuildFacts] = field(default_factory=dict)
    at: int = 0
    begun: float = field(default_factory=time.monotonic)

    def sources(self) -> list[Source]:
        return [render(self.base, self.space, point) for point in self.points]

    def ask(self, most: int) -> list[tuple[int, Source]]:
        asked = list(islice(enumerate(self.sources()), self.at, self.at + most))
        self.at += len(asked)
        return asked

    def built(self, result: BuildResult) -> bool:
        if result.outcome is not Outcome.PASSED:
            self.outcomes[result.outcome] += 1
            self._keep(result, None)
        elif result.facts is not None:
            self.facts[result.number] = result.facts
        return True

    def screened(self, result: ScreenResult) -> None:
        self.outcomes["ended early" if result.ended_early else result.outcome] += 1
        time_us = next(iter(result.times_us.values()), None)
        self._keep(result, time_us)
        if time_us is not None and not result.ended_early:
            self.note(result.number, time_us)

    def _keep(self, result: BuildResult | ScreenResult, time_us: float | None) -> None:
        failure = FAILURES.get(result.outcome, TrialFailure.CRASHED) if time_us is None else None
        point, facts = self.points[result.number], self.facts.get(result.number)
        listed = asdict(facts) if facts else {}
        known = {name: float(value) for name, value in listed.items() if value is not None}
        values = tuple(point[knob.name] for knob in self.space.knobs)
        self.rows.append(LandscapeRow(values, SearchTrial(time_us, failure), known))

    def landscape(self, job: Job, device: Device) -> Landscape:
        """What was tried, as a file that `--replay` reads."""
        knobs = tuple(RecordedKnob(knob.name, knob.values) for knob in self.space.knobs)
        header = LandscapeHeader(
            kernel=job.problem.name,
            knobs=knobs,
            backend=job.backend,
            device=device.name,
            versions=versions(device, *VERSIONS),
            cases=tuple(case.name for case in job.cases),
            made="by `bench search`: each point checked once and timed in short bursts, "
            "one that is far behind only roughly",
        )
        return Landscape.of(header, self.rows)

    def note(self, number: int, time_us: float) -> None:
        self.seen.append((number, time_us, time.monotonic() - self.begun))

    def again(self) -> Drawn:
        return Drawn(self.base, self.space, self.points)

    def best_us(self) -> float:
        return min((time_us for _, time_us, _ in self.seen), default=math.inf)


def measure_screens(options: Namespace, progress: Progress) -> BenchReport:
    """Screen the same points cold and warm, and beside it by the plain loop where there is one."""
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
            job, drawn = _asked(name, device, limits, options.points, place)
            file = f"{job.problem.name}-{job.backend}-{job.cases[0].name}.csv.gz"
            keep = options.keep and partial(_save, options.keep / file, job, device)
            for row in _rows(service, job, drawn, place, keep):
                rows.append(row)
                progress(" · ".join(f"{key} {value}" for key, value in row.items()))
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


def _asked(
    name: str, device: Device, limits: DeviceLimits, points: int, place: Path
) -> tuple[Job, Drawn]:
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
    return job, Drawn(base, space, _points(space, points))


def _points(space: Space, most: int) -> list[Point]:
    """The source as it is, and others by chance."""
    draw, found = Random(SEED), {tuple(space.defaults.values()): space.defaults}
    for _ in range(20 * most):
        point = space.sample(draw)
        if point is not None and len(found) < most:
            found.setdefault(tuple(point.values()), point)
    return list(found.values())


def _save(file: Path, job: Job, device: Device, work: Drawn) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    work.landscape(job, device).save(file)


def _rows(
    service: EvaluatorService,
    job: Job,
    drawn: Drawn,
    place: Path,
    keep: Callable[[Drawn], None] | None,
) -> Iterator[Row]:
    """Screened from nothing, again with the builds, by a search from nothing, by the plain loop."""
    options = SweepOptions(place, max(1, (os.cpu_count() or 2) - (job.device != "cpu")))
    cold, warm, found = drawn.again(), drawn.again(), drawn.again()
    for work, by in ((cold, "screen, builds cold"), (warm, WARM)):
        work.begun = time.monotonic()
        SweepLoop(service, job, BuildCache(place / "builds", job), options).run(work)
        if keep and work is cold:
            keep(cold)
        yield _row(job, by, work, cold.best_us())
    stop = StopRule(most_trials=len(drawn.points), most_s=PLAIN_LIMIT_S)
    strategy = strategy_named(DEFAULT)(drawn.space, SEED, (drawn.space.defaults,))
    search = SearchWork(drawn.base, drawn.space, strategy, stop, partial(_note, found))
    found.begun = time.monotonic()
    SweepLoop(service, job, BuildCache(place / "found", job), options).run(search)
    yield _row(job, f"search by {DEFAULT}, builds cold", found, cold.best_us())
    # The plain loop has no locks, so it runs no reference but ours.
    if job.backend in BACKENDS and job.device != "cpu" and is_shipped(job.problem):
        yield _plain(job, drawn, cold.best_us())


def _note(work: Drawn, point: TriedPoint) -> None:
    work.outcomes["ended early" if point.ended_early else point.outcome] += 1
    if point.time_us is not None and not point.ended_early:
        work.note(point.number - 1, point.time_us)


def _plain(job: Job, drawn: Drawn, best_us: float) -> Row:
    """The same points, as many as the limit allows."""
    asked = {
        "folder": str(job.problem),
        "params": dict(job.cases[0].params),
        "sources": [source.text for source in drawn.sources()],
    }
    program = Path(__file__).with_name("plain_loop.py")
    work = drawn.again()
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
        loop.stdin.write(json.dumps(asked))
        loop.stdin.close()
        for number, line in enumerate(loop.stdout):
            time_us = json.loads(line)
            work.outcomes["passed" if time_us else "failed"] += 1
            if time_us:
                work.note(number, time_us)
            if time.monotonic() - work.begun > PLAIN_LIMIT_S:
                loop.kill()
                break
    return _row(job, "plain loop", work, best_us)


def _row(job: Job, by: str, work: Drawn, best_us: float) -> Row:
    """best_us: of all points in the screen. The plain loop uses its own clock; only its points
    within 2 % of its own best count."""
    took_s = time.monotonic() - work.begun
    tried = sum(work.outcomes.values())
    base_us = next((us for number, us, _ in work.seen if number == 0), None)
    near_us = NEAR * (work.best_us() if by == "plain loop" else best_us)
    near_s = next((s for _, us, s in work.seen if us <= near_us), None)
    return {
        "space": f"{job.problem.name} {job.backend} {job.cases[0].name}",
        "points": f"{len(work.points):,} of {work.space.size:,}",
        "by": by,
        "s": f"{took_s:.1f}",
        "a minute": f"{tried / took_s * 60:.0f}",
        "outcomes": ", ".join(f"{n} {what}" for what, n in work.outcomes.items() if n),
        "as it is µs": f"{base_us:.2f}" if base_us else "–",
        "best µs": f"{work.best_us():.2f}",
        "s to within 2 %": f"{near_s:.1f}" if near_s else "–",
    }


def _run(options: Namespace, progress: Progress) -> BenchReport:
    return (measure_replay if options.replay else measure_screens)(options, progress)


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
    _run,
)
