"""Python packages and programs: present, and new enough."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import metadata

from campaigns.devices.health.finding import HealthFinding, State, at_least, said_by


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
