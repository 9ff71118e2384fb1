"""How many variants a minute does the screen try, from nothing and with warm builds?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random

from campaigns.benchmarks.harness import (
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    held,
    versions,
)
from campaigns.benchmarks.own_database import own_database
from campaigns.devices.discover import Device, ensure_platform, this_device
from campaigns.devices.launch import EvaluatorService, clean_environment
from campaigns.devices.sweep.build_cache import BuildCache
from campaigns.devices.sweep.loop import SweepLoop, SweepOptions
from campaigns.evaluator.contract import BuildResult, Case, Job, Protocol, ScreenResult, Source
from campaigns.evaluator.problem import load_problem
from campaigns.problems.shipped import problem_folder
from campaigns.records.target.device_limits import device_limits
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import space_of
from campaigns.spaces.render import render
from campaigns.spaces.space import Point, Space
from campaigns.steps.measuring.sweep import screening_protocol
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
PLAIN_LIMIT_S = 300.0
BACKENDS = {"triton"}  # of the plain loop


@dataclass
class Drawn:
    """Points of one space as work, in a fixed order."""

    base: Source
    space: Space
    points: Sequence[Point]
    outcomes: Counter[str] = field(default_factory=Counter)
    times_us: dict[int, float] = field(default_factory=dict)
    at: int = 0

    def sources(self) -> list[Source]:
        return [render(self.base, self.space, point) for point in self.points]

    def ask(self, most: int) -> list[tuple[int, Source]]:
        asked = list(islice(enumerate(self.sources()), self.at, self.at + most))
        self.at += len(asked)
        return asked

    def built(self, result: BuildResult) -> bool:
        self.outcomes[result.outcome] += result.outcome != "passed"
        return True

    def screened(self, result: ScreenResult) -> None:
        self.outcomes["ended early" if result.ended_early else result.outcome] += 1
        if result.times_us and not result.ended_early:
            self.times_us[result.number] = next(iter(result.times_us.values()))

    def again(self) -> Drawn:
        return Drawn(self.base, self.space, self.points)


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
            rows += _both(service, job, drawn, place)
            if job.backend in BACKENDS and device.kind == "gpu":
                rows.append(_plain(job, drawn))
            progress(" · ".join(f"{key} {value}" for key, value in rows[-1].items()))
    screened = [row for row in rows if row["by"] == "screen, builds warm"]
    least = min((float(str(row["a minute"])) for row in screened), default=0.0)
    return BenchReport(
        title="Search: what a minute tries",
        device=device.name,
        verdict=f"With warm builds the slowest space is screened at {least:.0f} variants a minute.",
        tables=(ReportTable("Variants", rows, (NOTE,)),),
        versions=versions(device, "torch", "triton", "numpy"),
    )


NOTE = (
    "Random legal points of each space, the same ones in every row of it. Cold: compilers run "
    "ahead in a locked-down pool while the screen works. Warm: the same once more, with builds "
    "from the cache. Plain loop: do_bench in one process, compiling as it goes, not locked down. "
    "The time includes the start of judge and runner."
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
    space = space_of(base, backend, limits)
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
    draw, found = Random(27), {tuple(space.defaults.values()): space.defaults}
    for _ in range(20 * most):
        point = space.sample(draw)
        if point is not None and len(found) < most:
            found.setdefault(tuple(point.values()), point)
    return list(found.values())


def _both(service: EvaluatorService, job: Job, drawn: Drawn, place: Path) -> list[Row]:
    cache = BuildCache(place / "builds", job)
    options = SweepOptions(place, max(1, (os.cpu_count() or 2) - (job.device != "cpu")))
    rows = []
    for by in ("screen, builds cold", "screen, builds warm"):
        work, begun = drawn.again(), time.monotonic()
        SweepLoop(service, job, cache, options).run(work)
        rows.append(_row(job, by, work, time.monotonic() - begun))
    return rows


def _plain(job: Job, drawn: Drawn) -> Row:
    """The same points, as many as the limit allows."""
    asked = {
        "folder": str(job.problem),
        "params": dict(job.cases[0].params),
        "sources": [source.text for source in drawn.sources()],
    }
    work, begun = drawn.again(), time.monotonic()
    program = Path(__file__).with_name("plain_loop.py")
    try:
        done = subprocess.run(
            [sys.executable, str(program)],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=PLAIN_LIMIT_S,
            env=clean_environment() | {"TRITON_CACHE_DIR": str(job.scratch.parent / "plain")},
            check=True,
        )
    except subprocess.SubprocessError as error:
        row = _row(job, "plain loop", work, time.monotonic() - begun)
        return {**row, "outcomes": type(error).__name__}
    for number, time_us in enumerate(json.loads(done.stdout)):
        work.outcomes["passed" if time_us else "failed"] += 1
        if time_us:
            work.times_us[number] = time_us
    return _row(job, "plain loop", work, time.monotonic() - begun)


def _row(job: Job, by: str, work: Drawn, took_s: float) -> Row:
    tried = sum(work.outcomes.values())
    best = min(work.times_us, key=work.times_us.__getitem__, default=None)
    base_us = work.times_us.get(0)
    return {
        "space": f"{job.problem.name} {job.backend} {job.cases[0].name}",
        "points": f"{len(work.points):,} of {work.space.size:,}",
        "by": by,
        "s": f"{took_s:.1f}",
        "a minute": f"{tried / took_s * 60:.0f}",
        "outcomes": ", ".join(f"{n} {what}" for what, n in work.outcomes.items() if n),
        "as it is µs": f"{base_us:.2f}" if base_us else "–",
        "best µs": "–" if best is None else f"{work.times_us[best]:.2f}",
    }
