"""Every shipped problem through a campaign of some minutes, beside what torch has for it.

Each campaign is what `campaign run --local` does, in a data folder of its own, and measures torch
eager, torch.compile and the library's call in one session with the kernel that it ended with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import geometric_mean
from tempfile import TemporaryDirectory
from typing import Any

from campaigns.benchmarks.harness import (
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    option,
    require,
)
from campaigns.devices.discover import this_device
from campaigns.models import EvaluationKind
from campaigns.problems.shipped import shipped_problems

BACKEND = {"cpu": "cpp", "gpu": "triton"}
MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
# What is measured beside the kernel, by its column.
OTHERS = {
    EvaluationKind.EAGER: "eager µs",
    EvaluationKind.COMPILE: "compile µs",
    EvaluationKind.COMPILE_MAX: "max-autotune µs",
    EvaluationKind.LIBRARY: "library µs",
}
BEST = "best other"
# Two sessions of one kernel may differ by this much.
LEVEL = 0.97
NOTES = (
    "Times are geometric means over a problem's cases, in µs a call; those of v0 and ours "
    "are of the campaign's final session. `of the limit` is the time that the device's ceilings "
    "allow over that of ours. `best other` is the time of torch's fastest over that of "
    "ours, in the session that measured both: above 1 ours is faster.",
)

# Runs `manage.py` with these words and gives what it printed as JSON. Raises BenchmarkError.
Manage = Callable[..., Any]


def measure_work(options: Namespace, progress: Progress) -> BenchReport:
    """One campaign after the other; no other work may share the device."""
    require(options, minutes=(1, 600))
    device = this_device()
    backend = options.backend or BACKEND[device.kind]
    names = [spec.name for spec in shipped_problems() if backend in spec.files]
    if not names:
        raise BenchmarkError(f"--backend {backend}: accepted: cpp, cuda, triton")
    if unknown := sorted({*(options.problem or ())} - {*names}):
        raise BenchmarkError(f"--problem {unknown[0]}: accepted in {backend}: {', '.join(names)}")
    rows: list[Row] = []
    with TemporaryDirectory(prefix="kopt-work-") as folder:
        manage = _manager(Path(folder))
        manage("migrate", "--verbosity", "0", answers=False)
        for name in options.problem or names:
            rows.append(row_of(name, _campaign(manage, name, backend, options.minutes)))
            progress(f"{name}: {rows[-1]['gain'] or 0:.2f}× v0. {rows[-1]['note']}")
    compared = [ratio for row in rows if isinstance(ratio := row[BEST], float)]
    level = sum(ratio >= LEVEL for ratio in compared)
    return BenchReport(
        title="Work: shipped problems through campaigns",
        question=f"How far does a campaign of {options.minutes} minutes come on each problem?",
        device=device,
        verdict=f"{level} of {len(compared)} at the level of the best of torch or ahead of it",
        tables=(ReportTable(f"{backend}, {options.minutes} minutes each", rows, NOTES),),
        packages=("torch", "triton"),
    )


WORK = Benchmark(
    "work",
    "every shipped problem through a campaign, beside torch",
    (
        option("--problem", action="append", help="a shipped problem; default: all"),
        option("--backend", help="default: triton on a GPU, else cpp"),
        option("--minutes", type=int, default=3, help="of each campaign"),
    ),
    measure_work,
)


def _manager(folder: Path) -> Manage:
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment["KOPT_DATA"] = str(folder)

    def manage(*words: str, answers: bool = True) -> Any:
        command = [sys.executable, str(MANAGE), *words, *(("--json",) if answers else ())]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        try:
            return json.loads(done.stdout) if answers else None
        except json.JSONDecodeError:
            said = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
            raise BenchmarkError(f"{' '.join(words)}: {said}") from None

    return manage


def _campaign(manage: Manage, problem: str, backend: str, minutes: int) -> Mapping[str, Any]:
    """What `campaign show` says at the end; a campaign that is refused says why."""
    wish = ("--problem", problem, "--backend", backend, "--hours", f"{minutes / 60:.4f}")
    try:
        begun = manage("campaign", "run", "--local", *wish)
        shown: Mapping[str, Any] = manage("campaign", "show", str(begun["campaign"]))
    except (BenchmarkError, KeyError, TypeError) as error:
        return {"stop_sentence": f"{error}"}
    return shown


def row_of(problem: str, found: Mapping[str, Any]) -> Row:
    """One row; None for what was not measured. found: as `campaign show --json` prints it."""
    cases = (found.get("result") or {}).get("cases") or []
    ours_us, v0_us = (_mean(cases, key) for key in ("time_us", "incumbent_us"))
    floors_us = found.get("floors_us") or {}
    floor_us = _mean_of([floors_us.get(case["case"]) for case in cases])
    others = {one["baseline"]: one for one in found.get("baselines", ()) if one["time_us"]}
    speeds = [one["time_us"] / one["kernel_us"] for one in others.values()]
    times = {column: others.get(kind, {}).get("time_us") for kind, column in OTHERS.items()}
    return {
        "problem": problem,
        "v0 µs": v0_us,
        "ours µs": ours_us,
        "gain": v0_us / ours_us if v0_us and ours_us else None,
        "of the limit": floor_us / ours_us if floor_us and ours_us else None,
        **times,
        BEST: min(speeds, default=None),
        "rounds": found.get("rounds"),
        "seconds": _seconds(found),
        "note": found.get("stop_sentence") or "",
    }


def _mean(cases: Sequence[Mapping[str, Any]], key: str) -> float | None:
    return _mean_of([(case.get(key) or {}).get("median") for case in cases])


def _mean_of(times_us: Sequence[float | None]) -> float | None:
    """None where there is none, or one of them was not measured."""
    known = [time_us for time_us in times_us if time_us]
    return geometric_mean(known) if known and len(known) == len(times_us) else None


def _seconds(found: Mapping[str, Any]) -> int | None:
    ends = [found.get(key) for key in ("created_at", "finished_at")]
    if not all(ends):
        return None
    begun, ended = (datetime.fromisoformat(str(end)) for end in ends)
    return round((ended - begun).total_seconds())
