"""What starting a candidate costs: a fork of the evaluator's zygote against a fresh interpreter.

Both end with torch ready, on a GPU also with CUDA started. The fresh interpreter is one process
that loads nothing else; the fork is a whole judge and a whole runner with the problem's cases laid
out, so the comparison leans against the fork.
"""

from __future__ import annotations

import subprocess
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from statistics import median

from campaigns.benchmarks.harness import (
    DEVICE,
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    held,
    option,
    times_as_long,
    versions,
)
from campaigns.devices.discover import Device, this_device
from campaigns.devices.launch import EvaluatorService, InterpreterFailed, ask_interpreter
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Job, Outcome, Phase, Protocol
from campaigns.evaluator.problem import ProblemSpec, load_problem
from campaigns.problems.shipped import problem_folder
from campaigns.rules.noise.gain import LEAST_PAIRS, interval

BACKENDS = {"cpu": "cpp", "gpu": "triton"}
PROTOCOL = Protocol(trials=1, arena_mib=1024)
REPEATS = 10
LIMIT_S = 120
SEED = 20


def compare_starts(options: Namespace, progress: Progress) -> BenchReport:
    """Alternate both kinds of start `repeats` times."""
    repeats = options.repeats
    if repeats < LEAST_PAIRS:
        raise BenchmarkError(f"--repeats {repeats}: at least {LEAST_PAIRS} are accepted")
    found, spec = this_device(options.device), load_problem(problem_folder(options.problem))
    fresh_s, start_s, whole_s = [], [], []
    with held(found) as scratch, EvaluatorService() as service:
        # The first evaluation starts the zygote; every later one only forks it.
        zygote_s, _ = _evaluate(service, _job(found, spec, scratch / "first"))
        for number in range(1, repeats + 1):
            fresh_s.append(_fresh(found))
            start, whole = _evaluate(service, _job(found, spec, scratch / str(number)))
            start_s.append(start)
            whole_s.append(whole)
            progress(f"{number}/{repeats}: fresh {fresh_s[-1]:.3f} s, fork {start:.3f} s")
    gain = interval({"start": list(zip(fresh_s, start_s, strict=True))}, SEED)
    timed = {
        "a fresh interpreter imports torch": fresh_s,
        "a fork of the zygote: judge and runner ready": start_s,
        "the same evaluation to its end: build and check, untimed": whole_s,
        "the zygote itself, once: to its first ready candidate": [zygote_s],
    }
    return BenchReport(
        title=f"Cost of starting a candidate ({spec.name}, {BACKENDS[found.kind]})",
        device=found.name,
        verdict=f"A fresh interpreter takes {times_as_long(gain)}; the baseline is the fork.",
        tables=[
            ReportTable(
                "Starts",
                [
                    {"what": what, "median s": median(times), "samples s": times}
                    for what, times in timed.items()
                ],
            )
        ],
        versions=versions(found, "torch", "triton"),
    )


START = Benchmark(
    "evaluator",
    "what starting a candidate costs, against a fresh interpreter",
    (
        DEVICE,
        option("--problem", default="vector_add", help="shipped name or folder"),
        option("--repeats", type=int, default=REPEATS, help=f"default: {REPEATS}"),
    ),
    compare_starts,
)


def _job(device: Device, spec: ProblemSpec, scratch: Path) -> Job:
    job = v0_job(device, spec, BACKENDS[device.kind], scratch, PROTOCOL)
    return replace(job, cases=job.cases[:1], incumbent=None, timed=False)


def _evaluate(service: EvaluatorService, job: Job) -> tuple[float, float]:
    """Seconds until judge and runner were ready, and until the report was there."""
    ready_s: list[float] = []
    begun = time.perf_counter()

    def beat(phase: str) -> None:
        if phase.split()[0] != Phase.START and not ready_s:
            ready_s.append(time.perf_counter() - begun)

    report = service.evaluate(job, beat)
    whole_s = time.perf_counter() - begun
    if report.outcome is not Outcome.PASSED or not ready_s:
        raise BenchmarkError(f"evaluation {job.job_id}: {report.outcome}: {report.reason}")
    return ready_s[0], whole_s


def _fresh(device: Device) -> float:
    """Seconds until a new interpreter has torch, on a GPU also CUDA."""
    work = "import torch"
    if device.kind == "gpu":
        work += f"; torch.zeros(1, device='{device.device}'); torch.cuda.synchronize()"
    begun = time.perf_counter()
    try:
        ask_interpreter(["-c", work], LIMIT_S)
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"fresh interpreter: not ready within {LIMIT_S} s") from None
    except InterpreterFailed as error:
        raise BenchmarkError(f"fresh interpreter: {error}") from None
    return time.perf_counter() - begun
