"""What starting a candidate costs: a fork of the evaluator's zygote against a fresh interpreter.

Both end with torch ready, on a GPU also with CUDA started. The fresh interpreter is one process
that loads nothing else; the fork is a whole judge and a whole runner with the problem's cases laid
out, so the comparison leans against the fork.
"""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from campaigns.devices.discover import Device
from campaigns.devices.launch import EvaluatorService, InterpreterFailed, ask_interpreter
from campaigns.devices.v0 import v0_job
from campaigns.evaluator.contract import Job, Outcome, Phase, Protocol
from campaigns.evaluator.problem import ProblemSpec, load_problem
from campaigns.rules.noise import Gain, interval

BACKENDS = {"cpu": "cpp", "gpu": "triton"}
PROTOCOL = Protocol(trials=1, arena_mib=1024)
LIMIT_S = 120
SEED = 20


class StartCostError(RuntimeError):
    """A start that failed; the message says what it said."""


@dataclass(frozen=True, slots=True)
class StartCosts:
    """Wall times in seconds; equal indices were measured one after the other.

    fresh_s: a fresh interpreter imports torch (and starts CUDA). start_s: asked for an evaluation,
    the service has judge and runner ready to build the candidate. checked_s: the same evaluation
    to its end, with the build and the correctness check but no timing. zygote_s: the first
    start, which also starts the zygote that all later ones fork.
    """

    device: str
    device_name: str
    measured_at: str
    problem: str
    backend: str
    zygote_s: float
    fresh_s: tuple[float, ...]
    start_s: tuple[float, ...]
    checked_s: tuple[float, ...]
    versions: dict[str, str]

    @property
    def ratio(self) -> Gain:
        """How many times a fresh interpreter costs over a fork, less one, with its interval."""
        pairs = list(zip(self.fresh_s, self.start_s, strict=True))
        return interval({"start": pairs}, SEED)


def compare_starts(
    device: Device, folder: Path, repeats: int, progress: Callable[[str], None]
) -> StartCosts:
    """Alternate both kinds of start `repeats` times. Raises StartCostError."""
    spec = load_problem(folder)
    fresh_s, start_s, checked_s = [], [], []
    with TemporaryDirectory(prefix="kopt-bench-") as scratch, EvaluatorService() as service:
        # The first evaluation starts the zygote; every later one only forks it.
        zygote_s, _ = _evaluate(service, _job(device, spec, Path(scratch) / "first"))
        for number in range(1, repeats + 1):
            fresh_s.append(_fresh(device))
            start, checked = _evaluate(service, _job(device, spec, Path(scratch) / str(number)))
            start_s.append(start)
            checked_s.append(checked)
            progress(f"{number}/{repeats}: fresh {fresh_s[-1]:.3f} s, fork {start:.3f} s")
    return StartCosts(
        device=device.device,
        device_name=device.name,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        problem=spec.name,
        backend=BACKENDS[device.kind],
        zygote_s=zygote_s,
        fresh_s=tuple(fresh_s),
        start_s=tuple(start_s),
        checked_s=tuple(checked_s),
        versions={"python": platform.python_version(), "torch": _torch_version()},
    )


def to_markdown(costs: StartCosts) -> str:
    """A report for people: medians, the ratio with its interval, every sample."""
    gain = costs.ratio
    rows = (
        ("a fresh interpreter imports torch", costs.fresh_s),
        ("fork of the zygote: judge and runner ready", costs.start_s),
        ("the same evaluation to its end, untimed", costs.checked_s),
    )
    versions = ", ".join(f"{name} {version}" for name, version in costs.versions.items())
    lines = [
        f"# Cost of starting a candidate on {costs.device_name}",
        "",
        f"Measured {costs.measured_at} on {costs.device} by `python manage.py bench evaluator`; "
        f"problem {costs.problem}, backend {costs.backend}, {versions}.",
        "",
        f"**A fresh interpreter takes {1 + gain.gain:.1f} times as long as a fork** "
        f"(95 % interval {1 + gain.low:.1f} to {1 + gain.high:.1f}, "
        f"{gain.pairs} pairs in alternation, baseline: the fork).",
        "",
        "| what | median s | samples s |",
        "|---|---|---|",
        *[
            f"| {name} | {median(times):.3f} | {' '.join(f'{t:.3f}' for t in times)} |"
            for name, times in rows
        ],
        "",
        f"The zygote's own start, paid once: {costs.zygote_s:.2f} s to its first ready candidate.",
    ]
    return "\n".join(lines) + "\n"


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
        raise StartCostError(f"evaluation {job.job_id}: {report.outcome}: {report.reason}")
    return ready_s[0], whole_s


def _fresh(device: Device) -> float:
    work = "import torch"
    if device.kind == "gpu":
        work += f"; torch.zeros(1, device='{device.device}'); torch.cuda.synchronize()"
    return _seconds(work)[0]


def _torch_version() -> str:
    return _seconds("import torch; print(torch.__version__)")[1].strip()


def _seconds(work: str) -> tuple[float, str]:
    begun = time.perf_counter()
    try:
        said = ask_interpreter(["-c", work], LIMIT_S)
    except subprocess.TimeoutExpired:
        raise StartCostError(f"fresh interpreter: not ready within {LIMIT_S} s") from None
    except InterpreterFailed as error:
        raise StartCostError(f"fresh interpreter: {error}") from None
    return time.perf_counter() - begun, said
