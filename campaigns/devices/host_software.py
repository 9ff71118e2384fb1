"""Python packages, programs and sanitizers of this host: present, new enough, really tried (R7)."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
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


def rocm_homes(environment: Mapping[str, str]) -> list[str]:
    """Where ROCm may be installed, by its own variables and by default."""
    named = (environment.get(name) for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"))
    return [*filter(None, named), "/opt/rocm"]


def rocm_program(name: str) -> str | None:
    """A program of ROCm where it is installed and not on PATH."""
    places = (f"{home}/bin" for home in rocm_homes(os.environ))
    return next((found for place in places if (found := shutil.which(name, path=place))), None)


def said_by(program: str, *arguments: str) -> str | None:
    """The line of a program's answer that holds its version; None where it is not here.

    It is looked for on PATH, and where the toolkits of CUDA and ROCm are wont to be.
    """
    path = programs.toolkit_program(program) or rocm_program(program)
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


Version = tuple[int, ...]
PYTHON = (3, 11)
REQUIREMENTS = "pip install -r requirements.txt (on a GPU host: requirements-worker.txt)"
# A Python distribution, the least version that works, what it is without, and what that costs.
PACKAGES: tuple[tuple[str, Version, State, str], ...] = (
    ("django", (5, 2), State.REQUIRED, "nothing runs"),
    ("celery", (5, 6), State.REQUIRED, "no campaign can be queued"),
    ("torch", (2, 6), State.REQUIRED, "no reference, so no verdict"),
    ("triton", (3, 2), State.MISSING, "no Triton kernels"),
)
CUDA = "install the CUDA toolkit for this driver: https://developer.nvidia.com/cuda-downloads"
ROCM = "install ROCm: https://rocm.docs.amd.com/projects/install-on-linux"
# A program, the least version that works, what its absence costs, and how to get it. rocprofv3 has
# the version of its library, and came with 0.4 (ROCm 6.2).
PROGRAMS: tuple[tuple[str, Version, str, str], ...] = (
    ("git", (2, 20), "no lineage of a campaign as commits", "apt-get install git"),
    ("chromium", (100,), "browser tests are skipped; nothing else", "apt-get install chromium"),
    ("nvcc", (12, 0), "no CUDA C++ kernels", CUDA),
    ("ncu", (2022, 1), "no profile evidence: no hardware counters", CUDA),
    ("hipcc", (6, 0), "no HIP kernels", ROCM),
    ("rocprofv3", (0, 4), "no profile evidence: no hardware counters", ROCM),
)
COMPILERS = {"g++": (10, 0), "clang++": (13, 0)}


def examine_packages(*, has_gpu: bool) -> list[HealthFinding]:
    """Python, its packages and a C++ compiler: without most of them nothing works."""
    version = platform.python_version()
    state = State.OK if at_least(version, PYTHON) else State.REQUIRED
    found = [HealthFinding("python", state, version, "nothing runs", "install Python 3.11 to 3.13")]
    for name, least, lacking, costs in PACKAGES:
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            found.append(HealthFinding(name, lacking, "not installed", costs, REQUIREMENTS))
            continue
        if at_least(version, least):
            found.append(HealthFinding(name, State.OK, version))
        else:
            words = f"{version}, older than {_dotted(least)}"
            found.append(HealthFinding(name, lacking, words, costs, REQUIREMENTS))
    return [*found, _compiler(has_gpu=has_gpu)]


def examine_programs(*, has_gpu: bool, has_amd: bool = False) -> list[HealthFinding]:
    """Programs that some work needs; those for the GPUs of a vendor whose GPU is not here, too."""
    unneeded = {} if has_gpu else {CUDA: "a GPU"}
    unneeded |= {} if has_amd else {ROCM: "an AMD GPU"}
    found = []
    for name, least, costs, remedy in PROGRAMS:
        said = said_by(name, "--version")
        if said is not None and at_least(said, least):
            found.append(HealthFinding(name, State.OK, said))
            continue
        words = "not on PATH" if said is None else f"{said}, older than {_dotted(least)}"
        if without := unneeded.get(remedy):
            note = f"{words}; not needed without {without}"
            found.append(HealthFinding(name, State.NOTE, note))
        else:
            found.append(HealthFinding(name, State.MISSING, words, costs, remedy))
    return found


def _compiler(*, has_gpu: bool) -> HealthFinding:
    answers = {name: said_by(name, "--version") for name in COMPILERS}
    good = [said for name, said in answers.items() if said and at_least(said, COMPILERS[name])]
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
    found = []
    for tool in programs.CPP_FLAGS:
        if why := _fails(tool):
            found.append(HealthFinding(tool, State.MISSING, why, COSTS[tool], RUNTIMES))
        else:
            found.append(HealthFinding(tool, State.OK, "builds and runs"))
    name, path = programs.COMPUTE_SANITIZER, programs.compute_sanitizer()
    if path is not None:
        device = HealthFinding(name, State.OK, said_by(path, "--version") or path)
    elif has_gpu:
        words = "not found beside nvcc nor on PATH"
        device = HealthFinding(name, State.MISSING, words, COSTS[name], CUDA)
    else:
        device = HealthFinding(name, State.NOTE, "not found; not needed without a GPU")
    return [*found, device]


def _fails(tool: str) -> str:
    """Why a program that does nothing cannot be built with it and run; "" when it can."""
    with tempfile.TemporaryDirectory(prefix="kopt-sanitizer-") as folder:
        Path(folder, "empty.cpp").write_text(PROGRAM)
        try:
            flags = programs.CPP_FLAGS[tool]
            command = [programs.cpp_compiler(), *flags, "empty.cpp", "-o", "empty"]
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
