"""Which sanitizers candidates can be run under before they are accepted; all really tried."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from campaigns.devices.health.finding import HealthFinding, State, said_by
from campaigns.devices.health.tools import CUDA
from campaigns.evaluator.contract import programs
from campaigns.evaluator.contract.errors import Unsupported

LIMIT_S = 60
PROGRAM = "int main() { return 0; }\n"
BUILD = ("empty.cpp", "-o", "empty")
COSTS = {
    programs.ADDRESS: "C++ kernels are accepted without a check for memory errors",
    programs.THREAD: "C++ kernels are accepted without a check for races between threads",
    programs.COMPUTE_SANITIZER: (
        "CUDA kernels are accepted without a check for memory errors and races"
    ),
}
RUNTIMES = (
    "install the runtimes that belong to the compiler (Debian: libgcc-N-dev of its version N)"
)


def examine_sanitizers(*, has_gpu: bool) -> list[HealthFinding]:
    """One line for each: of C++ kernels, and of CUDA kernels where there is a GPU."""
    return [*(_of_host(tool) for tool in programs.CPP_FLAGS), _of_device(has_gpu=has_gpu)]


def _of_host(tool: str) -> HealthFinding:
    if why := _fails(tool):
        return HealthFinding(tool, State.MISSING, why, COSTS[tool], RUNTIMES)
    return HealthFinding(tool, State.OK, "builds and runs")


def _fails(tool: str) -> str:
    """Why a program that does nothing cannot be built with it and run; "" when it can."""
    with tempfile.TemporaryDirectory(prefix="kopt-sanitizer-") as folder:
        Path(folder, "empty.cpp").write_text(PROGRAM)
        try:
            command = [programs.cpp_compiler(), *programs.CPP_FLAGS[tool], *BUILD]
            for step, program in (("built", command), ("run", [f"{folder}/empty"])):
                done = subprocess.run(
                    program,
                    cwd=folder,
                    env={**os.environ, **programs.OPTIONS[tool]},
                    capture_output=True,
                    text=True,
                    timeout=LIMIT_S,
                    check=False,
                )
                if done.returncode:
                    said = programs.headline(done.stderr or done.stdout)
                    return f"cannot be {step}: {said}"
        except (OSError, Unsupported, subprocess.TimeoutExpired) as error:
            return str(error)
    return ""


def _of_device(*, has_gpu: bool) -> HealthFinding:
    name = programs.COMPUTE_SANITIZER
    path = programs.compute_sanitizer()
    if path is not None:
        return HealthFinding(name, State.OK, said_by(path, "--version") or path)
    if not has_gpu:
        return HealthFinding(name, State.NOTE, "not found; not needed without a GPU")
    return HealthFinding(
        name, State.MISSING, "not found beside nvcc nor on PATH", COSTS[name], CUDA
    )
