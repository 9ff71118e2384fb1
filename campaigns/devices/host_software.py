"""Python packages, programs and sanitizers of this host: present, new enough, really tried (R7)."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from campaigns.evaluator.contract import programs
from campaigns.evaluator.contract.errors import Unsupported


class State(StrEnum):
    """What one check found."""

    OK = "ok"
    NOTE = "note"  # a fact that neither helps nor hurts
    MISSING = "missing"  # something works less well
    REQUIRED = "required"  # kopt does not work without it


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """found: version or fact. costs, remedy: what lacks without it and how to get it."""

    name: str
    state: State
    found: str
    costs: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        line = f"{self.state:8} {self.name}: {self.found}"
        if self.state in (State.OK, State.NOTE):
            return line
        return f"{line}\n         costs: {self.costs}\n         get it: {self.remedy}"


def version_numbers(text: str) -> tuple[int, ...]:
    """The first dotted version in a text as numbers: "g++ (Debian) 12.2.0" → (12, 2, 0)."""
    found = re.search(r"\d+(?:\.\d+)+", text) or re.search(r"\d+", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def at_least(text: str, least: tuple[int, ...]) -> bool:
    """Whether the version in `text` is `least` or newer; numbers are compared, so 2.13 > 2.6."""
    return version_numbers(text) >= least


def said_by(program: str, *arguments: str) -> str | None:
    """The line of a program's answer that holds its version; None where it is not on PATH."""
    path = shutil.which(program)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run: {error!s:.80}"
    lines = [line.strip() for line in (done.stdout or done.stderr).splitlines() if line.strip()]
    versioned = [line for line in lines if re.search(r"\d+\.\d+", line)]
    release = [line for line in versioned if re.search(r"release|version", line, re.IGNORECASE)]
    return (release or versioned or lines or ["it said nothing"])[0]


@dataclass(frozen=True, slots=True)
class Package:
    """A Python distribution and the least version that works."""

    name: str
    least: tuple[int, ...]
    lacking: State
    costs: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Program:
    """A program on PATH. gpu_only: without a card there is no use for it."""

    name: str
    least: tuple[int, ...]
    costs: str
    remedy: str
    gpu_only: bool = False


PYTHON = (3, 11)
REQUIREMENTS = "pip install -r requirements.txt (on a GPU host: requirements-worker.txt)"
PACKAGES = (
    Package("django", (5, 2), State.REQUIRED, "nothing runs", REQUIREMENTS),
    Package("celery", (5, 6), State.REQUIRED, "no campaign can be queued", REQUIREMENTS),
    Package("torch", (2, 6), State.REQUIRED, "no reference, so no verdict", REQUIREMENTS),
    Package("triton", (3, 2), State.MISSING, "no Triton kernels", REQUIREMENTS),
)
CUDA = "install the CUDA toolkit for this driver: https://developer.nvidia.com/cuda-downloads"
PROGRAMS = (
    Program("git", (2, 20), "no lineage of a campaign as commits", "apt-get install git"),
    Program(
        "chromium",
        (100,),
        "browser tests are skipped; nothing else",
        "apt-get install chromium",
    ),
    Program("nvcc", (12, 0), "no CUDA C++ kernels", CUDA, gpu_only=True),
    Program("ncu", (2022, 1), "no hardware counters in profiles", CUDA, gpu_only=True),
)
COMPILERS = {"g++": (10, 0), "clang++": (13, 0)}


def examine_tools(*, has_gpu: bool) -> list[HealthFinding]:
    """Python, packages, compilers and programs."""
    found = [_python(), *map(_package, PACKAGES), _compiler(has_gpu=has_gpu)]
    return found + [_program(program, has_gpu=has_gpu) for program in PROGRAMS]


def _python() -> HealthFinding:
    version = platform.python_version()
    state = State.OK if at_least(version, PYTHON) else State.REQUIRED
    return HealthFinding("python", state, version, "nothing runs", "install Python 3.11 to 3.13")


def _package(package: Package) -> HealthFinding:
    try:
        version = metadata.version(package.name)
    except metadata.PackageNotFoundError:
        return HealthFinding(
            package.name, package.lacking, "not installed", package.costs, package.remedy
        )
    if at_least(version, package.least):
        return HealthFinding(package.name, State.OK, version)
    found = f"{version}, older than {_dotted(package.least)}"
    return HealthFinding(package.name, package.lacking, found, package.costs, package.remedy)


def _program(program: Program, *, has_gpu: bool) -> HealthFinding:
    said = said_by(program.name, "--version")
    if said is not None and at_least(said, program.least):
        return HealthFinding(program.name, State.OK, said)
    found = "not on PATH" if said is None else f"{said}, older than {_dotted(program.least)}"
    if program.gpu_only and not has_gpu:
        return HealthFinding(program.name, State.NOTE, f"{found}; not needed without a GPU")
    return HealthFinding(program.name, State.MISSING, found, program.costs, program.remedy)


def _compiler(*, has_gpu: bool) -> HealthFinding:
    answers = {name: said_by(name, "--version") for name in COMPILERS}
    good = [
        said
        for name, said in answers.items()
        if said is not None and at_least(said, COMPILERS[name])
    ]
    if good:
        return HealthFinding("C++ compiler", State.OK, "; ".join(good))
    found = "; ".join(said or f"no {name}" for name, said in answers.items())
    state = State.MISSING if has_gpu else State.REQUIRED
    return HealthFinding("C++ compiler", state, found, "no C++ kernels", "apt-get install g++")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


LIMIT_S = 60
PROGRAM = "int main() { return 0; }\n"
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
            command = [
                programs.cpp_compiler(),
                *programs.CPP_FLAGS[tool],
                "empty.cpp",
                "-o",
                "empty",
            ]
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
