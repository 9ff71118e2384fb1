"""How soon is a fast variant found, and how many are tried a minute?

A part of each space is screened whole, so that its best is known. Then it is searched as a campaign
does, from nothing and in the whole space, and by a plain loop over the part. Last, screen and trial
are compared on variants of the first space.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Timer

from campaigns.benchmarks.harness import (
    DEVICE,
    Benchmark,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    held,
    option,
    require,
)
from campaigns.benchmarks.search.replay import BATCH, BUDGET, SEEDS, measure_replay
from campaigns.benchmarks.search.searched import (
    SPACES,
    VERSIONS,
    PointKey,
    PointLog,
    SearchedSpace,
    chip_facts,
    searched_space,
)
from campaigns.benchmarks.search.trials import ranking
from campaigns.devices.discover import Device, this_device
from campaigns.devices.launch import EvaluatorService, clean_environment
from campaigns.devices.sweep.build_cache import BuildCache
from campaigns.devices.sweep.loop import SweepLoop
from campaigns.devices.sweep.search_work import SearchWork, TriedPoint
from campaigns.evaluator.contract import Job
from campaigns.evaluator.contract.programs import CPP_BUILD, CUDA_BUILD, cpp_compiler, nvcc
from campaigns.problems.shipped import is_shipped
from campaigns.proposers.search.ideas import MOST_POINTS, MOST_S
from campaigns.spaces.render import render
from campaigns.steps.measuring.sweep import screening_protocol
from campaigns.strategies.base import SearchStrategy, StopRule
from campaigns.strategies.registry import DEFAULT, RandomSampling, strategy_named

POINTS, TRIALS = 300, 100
LIMIT_S = 450.0
# Of the time: the trials count as so many spaces; of a space's own every point takes this part at
# most, and the search this one of the rest.
TRIAL_SPACES, WHOLE_SHARE, SEARCH_SHARE = 1.5, 0.5, 0.5
PLAIN_BACKENDS = {"cpu": {"cpp"}, "gpu": {"triton", "cuda"}}
# A plain loop that was there is heard for so many variants, so that its rate is known.
HEARD = 10
SEED = 27
COLD, WARM = "every point, builds cold", "every point, builds warm"
SEARCHED, PLAIN = f"search by {DEFAULT}, builds cold", "plain loop"


def measure_screens(options: Namespace, progress: Progress) -> BenchReport:
    """Screen a part of each space whole, search the space, and go through the part by a plain loop.

    With `--replay` search recorded landscapes instead. Raises BenchmarkError.
    """
    if options.replay:
        return measure_replay(options, progress)
    require(options, points=(1, None), trials=(0, None), limit_s=(1, None))
    device, until = this_device(options.device), time.monotonic() + options.limit_s
    facts, names = chip_facts(device), options.space or SPACES[device.kind]
    found: list[Comparison] = []
    ranks, spearman = None, None
    with held(device) as folder, EvaluatorService() as service:
        for number, name in enumerate(names):
            place = folder / str(number)
            place.mkdir()
            searched = searched_space(name, device, facts, place)
            parts = len(names) - number + TRIAL_SPACES * bool(options.trials)
            share_s = max(1.0, (until - time.monotonic()) / parts)
            progress(f"{name}: {share_s:.0f} s …")
            one = compared(service, searched, options.points, place, share_s)
            found.append(one)
            for row in one.rows:
                progress(" · ".join(f"{key} {value}" for key, value in row.items()))
            if options.keep:
                file = f"{searched.job.problem.name}-{searched.job.backend}-{name.split(':')[2]}"
                options.keep.mkdir(parents=True, exist_ok=True)
                one.whole.landscape(searched.job, device).save(options.keep / f"{file}.csv.gz")
        if options.trials:
            first = found[0]
            progress(f"{first.searched.name}: trials …")
            screened = [tried for tried, _ in first.whole.done if tried.time_us]
            ranks, spearman = ranking(service, first.searched, screened, options.trials, until)
    return _report(device, found, ranks, spearman)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One space. rows: what each way came to. whole: all points of its part, as screened."""

    searched: SearchedSpace
    whole: PointLog
    search: PointLog
    plain: PointLog | None
    rows: tuple[Row, ...]

    def row(self) -> Row:
        """How soon each way was near the best of the part."""
        known = self.whole.known()
        best = min(self.whole.timed(), key=lambda one: one[1], default=None)
        ours = self.search.reached(known)
        loop = self.plain.reached(known) if self.plain else None
        spent_s = self.plain.done[-1][1] if self.plain and self.plain.done else None
        return {
            "space": self.searched.name,
            "points": f"{len(self.whole.done):,} of {len(self.whole.points):,}; "
            f"{self.searched.space.size:,} in all",
            "best µs": best and best[1],
            "at": " ".join(map(str, best[0].point.values())) if best else "–",
            "search s": ours and ours[0],
            "tried": ours and ours[1],
            "search's best µs": self.search.best_us() if self.search.timed() else None,
            "loop s": loop[0] if loop else spent_s and f"> {spent_s:.0f}",
            "loop tried": loop[1] if loop else self.plain and f"> {len(self.plain.done)}",
            "times sooner": loop[0] / ours[0] if loop and ours else None,
        }


def _report(
    device: Device,
    found: Sequence[Comparison],
    ranks: ReportTable | None,
    spearman: float | None,
) -> BenchReport:
    sooner = [one.row() for one in found]
    reached = [row for row in sooner if row["search s"]]
    verdict = f"On {len(reached)} of {len(found)} spaces the search comes within 2 % of the best"
    if reached:
        times = sorted(float(str(row["search s"])) for row in reached)
        verdict += f" in {times[0]:.1f} to {times[-1]:.1f} s"
    ahead = [row for row in reached if isinstance(row["loop s"], str) or _is_ahead(row)]
    verdict += f", before a plain loop on {len(ahead)}."
    partly = sum(len(one.whole.done) < len(one.whole.points) for one in found)
    if partly:
        verdict += f" Of {partly} there was no time for every point of the part."
    if spearman is not None:
        verdict += f" Screen and trial rank variants alike to {spearman:.3f} (Spearman)."
    tables = [
        ReportTable("Time to within 2 % of the best", sooner, (NEAR_NOTE,)),
        ReportTable("Variants", [row for one in found for row in one.rows], (NOTE,)),
    ]
    return BenchReport(
        title="Search: how soon it is near the best",
        question="How soon is a search within 2 % of the best, beside a plain loop?",
        device=device,
        verdict=verdict,
        tables=(*tables, ranks) if ranks else tables,
        packages=VERSIONS,
    )


def _is_ahead(row: Row) -> bool:
    return row["times sooner"] is not None and float(str(row["times sooner"])) > 1


NEAR_NOTE = (
    "The best is that of a part of the space that is screened whole. The search begins with no "
    "build and is given the whole space, the plain loop only the part, in an order of chance. Both "
    "are near once they have tried a point whose time in the screen is within 2 % of the best."
)
NOTE = (
    "Cold: compilers run ahead in a locked-down pool while the screen works. Warm: the same once "
    "more, with builds from the cache, where time is left. Search: its own choice. Plain loop: one "
    "process that compiles as it goes, not locked down, and ends once it is near the best. The "
    "time includes the start of judge and runner, and of the loop's process."
)


def compared(
    service: EvaluatorService, searched: SearchedSpace, points: int, place: Path, share_s: float
) -> Comparison:
    """Every point of the part, the search, the plain loop; then, if there is time, warm builds.

    points: of the part, at most. share_s: for all of it.
    """
    until = time.monotonic() + share_s
    kind = "cpu" if searched.job.device == "cpu" else "gpu"
    # The source as it is, and the others by chance.
    chosen = RandomSampling(searched.part, SEED, (searched.part.defaults,)).ask(points)
    whole = PointLog(searched.job.candidate, searched.part, chosen)
    every = StopRule(len(chosen), WHOLE_SHARE * share_s, least_gain=0.0)
    in_order = RandomSampling(searched.part, SEED, chosen)
    _screen(service, searched, whole, in_order, every, place / "builds")
    rows = [_row(searched, COLD, whole)]
    search = whole.again(searched.space)
    left_s = until - time.monotonic()
    stop = StopRule(MOST_POINTS[kind], min(MOST_S[kind], SEARCH_SHARE * left_s))
    strategy = strategy_named(DEFAULT)(searched.space, SEED, searched.seeds)
    _screen(service, searched, search, strategy, stop, place / "found")
    rows.append(_row(searched, SEARCHED, search))
    plain = None
    # The plain loop has no locks, so it runs no reference but ours.
    if is_shipped(searched.job.problem) and searched.job.backend in PLAIN_BACKENDS[kind]:
        plain = whole.again()
        _plain(searched.job, plain, whole.known(), until)
        rows.append(_row(searched, PLAIN, plain))
    if whole.done and until - time.monotonic() > whole.done[-1][1]:
        warm, again = whole.again(), RandomSampling(searched.part, SEED, chosen)
        _screen(service, searched, warm, again, every, place / "builds")
        rows.append(_row(searched, WARM, warm))
    return Comparison(searched, whole, search, plain, tuple(rows))


def _screen(
    service: EvaluatorService,
    searched: SearchedSpace,
    log: PointLog,
    strategy: SearchStrategy,
    stop: StopRule,
    builds: Path,
) -> None:
    job, place = searched.job, builds.parent
    kind = "cpu" if job.device == "cpu" else "gpu"
    screening = replace(job, protocol=screening_protocol(job.protocol, kind, stop.most_s))
    work = SearchWork(log.base, log.space, strategy, stop, log.note)
    log.begun = time.monotonic()
    SweepLoop(service, screening, BuildCache(builds, screening), place).run(work)
    log.took_s = time.monotonic() - log.begun


def _plain(job: Job, log: PointLog, known: Mapping[PointKey, float], until: float) -> None:
    """The points of the log, until one is near the best of the known ones, or time is up."""
    compiler: list[str] = []
    if job.backend == "cpp":
        compiler = [cpp_compiler(), *CPP_BUILD]
    elif job.backend == "cuda":
        compiler = [nvcc(), f"-arch={job.target}", *CUDA_BUILD]
    sources = (render(log.base, log.space, point) for point in log.points)
    task = {
        "folder": str(job.problem),
        "device": job.device,
        "params": dict(job.cases[0].params),
        "compiler": compiler,
        "sources": [asdict(source) for source in sources],
    }
    program = Path(__file__).with_name("plain_loop.py")
    log.begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=clean_environment() | {"TRITON_CACHE_DIR": str(job.scratch.parent / "plain")},
    ) as loop:
        # A variant may compile for longer than there is time.
        end = Timer(max(0.0, until - time.monotonic()), loop.kill)
        end.start()
        assert loop.stdin is not None  # both are pipes, as asked for above
        assert loop.stdout is not None
        with suppress(BrokenPipeError):  # time was up at once
            loop.stdin.write(json.dumps(task))
            loop.stdin.close()
        for number, (point, line) in enumerate(zip(log.points, loop.stdout, strict=False), 1):
            time_us = json.loads(line)
            outcome = "passed" if time_us else "failed"
            log.note(TriedPoint(number, point, outcome, time_us=time_us))
            if number >= HEARD and log.reached(known):
                break
        end.cancel()
        loop.kill()
    log.took_s = time.monotonic() - log.begun


def _row(searched: SearchedSpace, by: str, log: PointLog) -> Row:
    base_us = next((us for one, us, _ in log.timed() if one.point == log.space.defaults), None)
    outcomes = Counter("ended early" if p.ended_early else p.outcome for p, _ in log.done)
    return {
        "space": searched.name,
        "by": by,
        "tried": len(log.done),
        "s": round(log.took_s, 1),
        "a minute": round(60 * len(log.done) / log.took_s),
        "outcomes": ", ".join(f"{n} {what}" for what, n in outcomes.items()),
        "as it is µs": base_us and round(base_us, 2),
        "best µs": round(log.best_us(), 2) if log.timed() else None,
    }


SEARCH = Benchmark(
    "search",
    "how soon is a fast variant found, how many does a search need?",
    (
        DEVICE,
        option("--space", action="append", help="problem:backend:case; default: some shipped ones"),
        option("--points", type=int, default=POINTS, help="of each space's part, at most"),
        option("--trials", type=int, default=TRIALS, help="of variants of the first space"),
        option("--limit-s", type=float, default=LIMIT_S, help="for all of it"),
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
