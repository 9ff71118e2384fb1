"""What the judge's work between bursts costs: its kernels against torch operations and a copy.

Inputs of all calls are made, and made again to compare; answers are compared one by one. That is
most of an evaluation's time on a GPU, where each is one kernel.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from campaigns.devices.discover import Device
from campaigns.devices.launch import InterpreterFailed, ask_interpreter
from campaigns.rules.noise import Gain, interval

LIMIT_S = 300
SEED = 20
COPY = "copy"
PARTS = ("make", "compare")
WORDS = {"make": "make inputs", "compare": "compare answers"}


class ProofCostError(RuntimeError):
    """What went wrong, in one line."""


@dataclass(frozen=True, slots=True)
class ProofCosts:
    """Seconds by what was done; equal indices were measured one after the other.

    "make" and "compare" by the judge's kernels, "make in steps" and "compare in steps" by torch
    operations, "copy" a copy of as many bytes. notes: why there are no kernels.
    """

    device_name: str
    measured_at: str
    mib: int
    seconds: Mapping[str, tuple[float, ...]]
    notes: tuple[str, ...]

    def saved(self, part: str) -> Gain:
        """How many times torch operations take as long as the kernel, less one."""
        pairs = zip(self.seconds[f"{part} in steps"], self.seconds[part], strict=True)
        return interval({part: list(pairs)}, SEED)

    def copies(self, name: str) -> float:
        """How many copies of the memory take as long."""
        return median(self.seconds[name]) / median(self.seconds[COPY])


def measure_proofs(device: Device, mib: int, repeats: int) -> ProofCosts:
    """Raises ProofCostError."""
    arguments = ["-m", "campaigns.evaluator.judge.correctness.proof_times", device.device]
    try:
        said = ask_interpreter([*arguments, str(mib), str(repeats)], LIMIT_S)
    except subprocess.TimeoutExpired:
        raise ProofCostError(f"no answer within {LIMIT_S} s; fewer --repeats or --mib?") from None
    except InterpreterFailed as error:
        raise ProofCostError(str(error)) from None
    found = json.loads(said)
    return ProofCosts(
        device_name=device.name,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        mib=found["mib"],
        seconds={name: tuple(times) for name, times in found["seconds"].items()},
        notes=tuple(found["notes"]),
    )


def to_markdown(costs: ProofCosts) -> str:
    lines = [
        f"# What the judge's proofs cost on {costs.device_name}",
        "",
        f"Measured {costs.measured_at} by `python manage.py bench proofs` on {costs.mib} MiB of "
        "float32. A copy reads and writes as much, which is as fast as memory lets anything be.",
        "",
        *costs.notes,
        "| what | median ms | as long as so many copies | samples ms |",
        "|---|--:|--:|---|",
        *(_row(costs, name) for name in costs.seconds),
        "",
        *(_ratio(costs, part) for part in PARTS),
    ]
    return "\n".join(lines) + "\n"


def _row(costs: ProofCosts, name: str) -> str:
    times: Sequence[float] = costs.seconds[name]
    samples = " ".join(f"{1e3 * one:.3f}" for one in times)
    return f"| {name} | {1e3 * median(times):.3f} | {costs.copies(name):.1f} | {samples} |"


def _ratio(costs: ProofCosts, part: str) -> str:
    gain = costs.saved(part)
    return (
        f"- To {WORDS[part]} in steps takes **{1 + gain.gain:.1f} times** as long as in one kernel "
        f"(95 % interval {1 + gain.low:.1f} to {1 + gain.high:.1f}, {gain.pairs} pairs in turn)."
    )
