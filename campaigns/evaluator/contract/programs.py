"""The programs of a host that build and look at candidates: where they lie, and what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from campaigns.evaluator.contract.errors import Unsupported

COMPILERS = ("g++", "clang++")
# How a candidate becomes a shared object.
CPP_BUILD = ("-O2", "-std=c++17", "-shared", "-fPIC")
# Without a GPU a kernel for one is compiled all the same, so that build errors show.
OFFLINE_TARGET = "sm_90a"
# What is compiled of a source that launches no kernel.
NONE_COMPILED = "no kernel"
CUDA_BUILD = ("-shared", "-Xcompiler=-fPIC")
ADDRESS, THREAD = "AddressSanitizer", "ThreadSanitizer"
COMPUTE_SANITIZER = "compute-sanitizer"
# Profilers: NVIDIA's of a GPU, Linux's of a CPU.
NCU, PERF = "ncu", "perf"
# The table that ncu writes and `campaigns.profiles.ncu` reads.
NCU_TABLE = ("--csv", "--page", "raw", "--print-units", "base")
# What ncu computes in a section alone: no name of it is taken by itself. Samples line by line too.
NCU_SECTIONS = ("--section", "MemoryWorkloadAnalysis", "--section", "SourceCounters")
# Launches of one profile: where so many came, there may have been more.
NCU_LAUNCHES = 48
NCU_COMPUTED = ("derived__", "sass__")
# The table that is made of ncu's samples: warps in a state, at a line of a file.
NCU_SAMPLES = ("kernel", "file", "line", "state", "samples")
# Undefined behaviour that reads or writes what is not there, or has no result at all. Left out is
# what compiles to what its author meant on every machine here: unaligned and shifted integers,
# signed overflow, conversions.
UNDEFINED = "bounds,null,return,unreachable,vla-bound,integer-divide-by-zero"
CPP_FLAGS = {
    ADDRESS: (f"-fsanitize=address,{UNDEFINED}",),
    THREAD: ("-fsanitize=thread",),
}
# Found are accesses and races alone: neither leaks (a workspace is kept on purpose) nor `free` for
# `new`, threads that still wait at the end, or locks in an order that could deadlock.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    ADDRESS: {
        "ASAN_OPTIONS": "log_path=asan:detect_leaks=0:alloc_dealloc_mismatch=0"
        ":new_delete_type_mismatch=0:detect_odr_violation=0:disable_coredump=0:color=never",
    },
    THREAD: {
        "TSAN_OPTIONS": "log_path=tsan:halt_on_error=1:report_thread_leaks=0:detect_deadlocks=0"
        ":report_destroy_locked=0:report_signal_unsafe=0:disable_coredump=0:color=never"
    },
}
LONGEST = 300
# From the most to the least telling. The compiler's driver only repeats that the linker failed.
TELLING = (
    re.compile(r" error: (?!ld returned|linker command failed)(?=.*\w)"),
    re.compile(r"undefined reference|undefined symbol|cannot find"),
    re.compile(r"^[\w.]*Error\b"),
    re.compile("error", re.IGNORECASE),
)
# The function of a Python source that makes one call.
ENTRY = "run_kernel"
# Compiler flags are written by proposers and people: only what tunes code may pass, nothing that
# names a file, a plug-in, a wrapper or another program, keeps a sanitizer from looking, or is one
# of nvcc's own long flags that only begin alike.
_NO_TUNING = (
    r"\S*(?:plugin|profile|dump|sanitize|asan-|use-ld|module|self-test|opt-info|-trace|-dir)"
    r"|atbin|orward|syntax-only|preprocessed"
)
FLAG = re.compile(
    rf"-O[0-3sz]|-Ofast|-m(?!llvm$)[a-z0-9.=+,-]+|-f(?!{_NO_TUNING})[a-z0-9=-]+"
    r"|-D[A-Za-z_]\w*(=[\w.+-]*)?|-std=[a-z+0-9]+|-W[a-z0-9=-]*"
    r"|-pthread|-l(?:m|pthread|rt)|-g[0-3]?"
    r"|--?use_fast_math|--?maxrregcount=\d+|--fmad=(true|false)|-lineinfo"
    r"|--expt-relaxed-constexpr|--expt-extended-lambda"
    r"|--extra-device-vectorization|-Xptxas=-O[0-3]|-Xptxas=-dlcm=c[agv]"
)
TUNING = "-O…, -m…, -f…, -D…, -std=…, -W…, -pthread, --use_fast_math, --maxrregcount=N and the like"


def version_line(program: str) -> str:
    """The line of its `--version` that names a release; "" where it does not answer.

    program: a trusted one, by its path; it runs outside the sandbox.
    """
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = [line.strip() for line in said.stdout.splitlines() if re.search(r"\d+\.\d+", line)]
    return next((line for line in lines if "release" in line), lines[0] if lines else "")


def cpp_compiler() -> str:
    """The first C++ compiler on PATH. Raises Unsupported."""
    for name in COMPILERS:
        if found := shutil.which(name):
            return found
    raise Unsupported(f"no C++ compiler on PATH; install one of {', '.join(COMPILERS)}")


def nvcc() -> str:
    """The CUDA compiler, from PATH or CUDA_HOME. Raises Unsupported."""
    if found := toolkit_program("nvcc"):
        return found
    raise Unsupported("nvcc is not on PATH nor in CUDA_HOME; install the CUDA toolkit")


def compute_sanitizer() -> str | None:
    """compute-sanitizer, from the CUDA toolkit or from beside its compiler."""
    if found := toolkit_program(COMPUTE_SANITIZER):
        return found
    try:
        beside = Path(nvcc()).resolve().parent
    except Unsupported:
        return None
    return shutil.which(COMPUTE_SANITIZER, path=str(beside))


def headline(log: str) -> str:
    """A compiler's or linker's first error, else an exception's last line, else the last line."""
    # A line of carets only points at the line above it.
    lines = [line.strip() for line in log.splitlines() if line.strip(" \t^~|")]
    for pattern in TELLING:
        if found := [line for line in lines if pattern.search(line)]:
            # An exception's line stands under those of its causes.
            return found[-1 if pattern is TELLING[2] else 0][:LONGEST]
    return (lines or ["no message"])[-1][:LONGEST]


def toolkit_program(name: str) -> str | None:
    """A program of the CUDA toolkit, from PATH or where the toolkit is said or wont to be."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [None, *(f"{home}/bin" for home in homes if home)]
    return next((found for place in places if (found := shutil.which(name, path=place))), None)


def ncu_counting(counters: Sequence[str]) -> tuple[str, ...]:
    """Options of ncu that collect these counters; a name that it does not know comes as "n/a"."""
    named = ",".join(name for name in counters if not name.startswith(NCU_COMPUTED))
    return (*NCU_SECTIONS, "--metrics", named)


def is_tuning(flag: str) -> bool:
    """Whether a flag tunes code and does nothing else."""
    return FLAG.fullmatch(flag) is not None
