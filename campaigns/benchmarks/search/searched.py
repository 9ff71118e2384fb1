"""What `bench search` searches, and what became of each point.

Shipped kernels, and of each a part that is tried whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from campaigns.benchmarks.harness import BenchmarkError, own_database, versions
from campaigns.benchmarks.landscapes.landscape import (
    Landscape,
    LandscapeHeader,
    LandscapeRow,
    RecordedKnob,
)
from campaigns.devices.discover import Device, ensure_platform
from campaigns.devices.passport import PROTOCOLS
from campaigns.devices.sweep.search_work import FAILURES, TriedPoint
from campaigns.evaluator.contract import Case, Job, Outcome, Param, Source
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.shipped import problem_folder
from campaigns.records.target.device_limits import OP, SIDES, device_limits, matmul_device
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import ELEMENT_BYTES, space_of
from campaigns.spaces.matmul_model import MatmulDevice, MatmulShape, MatmulTask, library_grid
from campaigns.spaces.space import Point, Space
from campaigns.steps.rounds.propose import GRID
from campaigns.strategies.base import SearchTrial, TrialFailure
from knowledge.exchange.importer import import_wiki
from knowledge.lookup.value import bandwidth_ceilings, compute_ceilings

# So near the best is near enough.
NEAR = 1.02
VERSIONS = ("torch", "triton", "numpy")
# problem:backend:case, each a shipped kernel with a space of its own.
SPACES = {
    "cpu": (
        "softmax:cpp:512x1024",
        "layernorm:cpp:512x1024",
        "softmax:cpp:2048x256",
        "layernorm:cpp:2048x256",
    ),
    "gpu": (
        "matmul:triton:1024x1024x1024",
        "matmul:cuda:1024x1024x1024",
        "layernorm:triton:4096x4096",
        "linear:triton:1024x1024x1024-forward",
    ),
}
UNROLLS = (0, 1, 4, 16)
LOOPS = {"unroll_j": UNROLLS, "unroll_j_2": UNROLLS, "unroll_j_3": (0, 4, 16)}
# What is tried whole of a space that is too large for it: by kernel, the values of its knobs. The
# product's are 243 points, 18 of which the space refuses: for their registers, or minutes of build.
PARTS: Mapping[str, Mapping[str, tuple[Param, ...]]] = {
    "softmax:cpp": LOOPS,
    "layernorm:cpp": LOOPS,
    "matmul:triton": {
        "BLOCK_M": (32, 64, 128),
        "BLOCK_N": (32, 64, 128),
        "BLOCK_K": (16, 32, 64),
        "num_warps": (2, 4, 8),
        "num_stages": (2, 3, 4),
    },
    "layernorm:triton": {"num_stages": (1, 2, 3, 4), "maxnreg": (0,)},
    "linear:triton": {"num_warps": (1, 2, 4, 8, 16), "num_stages": (2, 3, 4)},
}


@dataclass(frozen=True, slots=True)
class ChipFacts:
    """What the wiki says of the device that is searched on. product: by the dtype of a product."""

    limits: DeviceLimits
    product: Mapping[str, MatmulDevice | None]


def chip_facts(device: Device) -> ChipFacts:
    """Read from a database of its own."""
    with own_database():
        import_wiki()
        platform = ensure_platform(device)
        bandwidths = bandwidth_ceilings(platform)
        product = {
            dtype: matmul_device(platform, bandwidths, compute_ceilings(platform, dtype))
            for dtype in ("float32", "float16", "bfloat16")
        }
        return ChipFacts(device_limits(platform), product)


@dataclass(frozen=True, slots=True)
class SearchedSpace:
    """One kernel on one case. job: its candidate is the source as it is, under a trial's rules.

    part: what is tried whole, of the space's knobs. seeds: what a campaign's search begins with.
    """

    name: str
    job: Job
    space: Space
    part: Space
    seeds: tuple[Point, ...]


def searched_space(name: str, device: Device, facts: ChipFacts, place: Path) -> SearchedSpace:
    """name: problem:backend:case. place: a folder to work in. Raises BenchmarkError."""
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
    element_bytes = ELEMENT_BYTES[spec.dtype]
    space = space_of(base, backend, facts.limits, element_bytes=element_bytes)
    task, chip = None, facts.product.get(spec.dtype)
    if spec.op == OP and chip is not None:
        m, n, k = (int(found[0].params[side]) for side in SIDES)
        task = MatmulTask(MatmulShape(m, n, k, element_bytes), chip)
    job = Job(
        job_id="search",
        problem=folder,
        backend=backend,
        device=device.device,
        target=device.target,
        cases=tuple(found),
        candidate=base,
        scratch=place / "scratch",
        protocol=PROTOCOLS[device.kind],
    )
    seeds = (space.defaults, *library_grid(space, task)[:GRID])
    return SearchedSpace(name, job, space, part_of(space, f"{problem}:{backend}"), seeds)


def part_of(space: Space, kernel: str) -> Space:
    """The space with the values of `PARTS`; the rest of its knobs whole."""
    only = PARTS.get(kernel, {})
    knobs = (
        replace(knob, values=tuple(v for v in knob.values if v in only[knob.name]))
        if knob.name in only
        else knob
        for knob in space.knobs
    )
    return Space(tuple(knobs), space.constraints)


PointKey = frozenset[tuple[str, Param]]


def key_of(point: Point) -> PointKey:
    return frozenset(point.items())


@dataclass
class PointLog:
    """What became of points of one space. done: each with how many seconds had passed."""

    base: Source
    space: Space
    points: Sequence[Point]
    done: list[tuple[TriedPoint, float]] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)
    took_s: float = 0.0

    def note(self, point: TriedPoint) -> None:
        self.done.append((point, time.monotonic() - self.begun))

    def again(self, space: Space | None = None) -> PointLog:
        return PointLog(self.base, space or self.space, self.points)

    def timed(self) -> list[tuple[TriedPoint, float, float]]:
        """Points that were timed to the end, with their time in µs and the seconds passed."""
        return [(p, p.time_us, s) for p, s in self.done if p.time_us and not p.ended_early]

    def best_us(self) -> float:
        return min((time_us for _, time_us, _ in self.timed()), default=math.inf)

    def known(self) -> dict[PointKey, float]:
        """The times in µs by point, rough ones among them."""
        return {key_of(one.point): one.time_us for one, _ in self.done if one.time_us}

    def reached(self, known: Mapping[PointKey, float]) -> tuple[float, int] | None:
        """After how many seconds and points one was tried that is near the best of the known ones.

        By its known time; one that is not known counts by its own, of the same screen.
        """
        enough_us = NEAR * min(known.values(), default=0.0)
        for number, (one, seconds) in enumerate(self.done, 1):
            time_us = known.get(key_of(one.point)) or one.time_us
            if one.time_us and time_us and time_us <= enough_us:
                return seconds, number
        return None

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
