"""Nsight Compute on NVIDIA's GPUs: the candidate's own kernels, launch by launch and line by line.

What it counted goes into a report; `lines` keeps what is read of that, in the same box.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence

from campaigns.evaluator.backends import cuda
from campaigns.evaluator.builds.compile import compile_or_fail
from campaigns.evaluator.contract import backends
from campaigns.evaluator.contract.errors import Unsupported
from campaigns.evaluator.contract.programs import (
    NCU,
    NCU_LAUNCHES,
    NCU_TABLE,
    ncu_counting,
    nvcc,
    toolkit_program,
)
from campaigns.evaluator.profile import calls, lines, started
from campaigns.evaluator.profile.profiler import Profiler
from campaigns.evaluator.sanitizers.run import Subject

# Several launches tell how stable a counter is (R23). The harness's first call is not counted.
CALLS = {"triton": 3, "cuda": 3}
MISSING = f"{NCU} is not on this host; install NVIDIA Nsight Compute"
# What ncu says → why it counts nothing here. Codes and words are of NVIDIA's "Nsight Compute CLI".
REFUSALS = {
    "ERR_NVGPUCTRPERM": "the driver lets only an administrator count (ERR_NVGPUCTRPERM); load it "
    "with NVreg_RestrictProfilingToAdminUsers=0",
    "LibraryNotLoaded": "this host hides the device's counters (LibraryNotLoaded)",
    "No kernels were profiled": "no call launched a kernel that the source defines",
}


def missing(subject: Subject) -> str:
    if not _own(subject):
        return "the source defines no kernel that could be told from others"
    return "" if toolkit_program(NCU) else MISSING


def command(subject: Subject) -> list[str]:
    program = PROGRAMS[subject.job.backend](subject)
    return [_ncu(), *_options(_own(subject), subject.job.counters), *program]


def kept(subject: Subject) -> list[str]:
    counters = ",".join(subject.job.counters)
    return [sys.executable, started.__file__, "lines", _ncu(), counters]


def refusal(said: str) -> str:
    return next((words for word, words in REFUSALS.items() if word in said), "")


def _ncu() -> str:
    if found := toolkit_program(NCU):
        return found
    raise Unsupported(MISSING)


def _own(subject: Subject) -> Sequence[str]:
    """The names of the kernels that the candidate's text defines."""
    return backends.get(subject.job.backend).kernels(subject.source.text)


def _options(own: Sequence[str], counters: Sequence[str]) -> list[str]:
    """Clocks stay as they are, as they do for every other number; the cache is cold, as in a burst.

    own: names that have no character but those of an identifier.
    """
    return [
        *("--export", lines.REPORT, "--force-overwrite", *NCU_TABLE, "--log-file", lines.TABLE),
        *("--kernel-name-base", "function", "--kernel-name", f"regex:^({'|'.join(own)})$"),
        *("--clock-control", "none", "--cache-control", "all", "--profile-from-start", "off"),
        *("--launch-count", str(NCU_LAUNCHES), *ncu_counting(counters)),
    ]


def _cuda_program(subject: Subject) -> list[str]:
    job = subject.job
    build = [nvcc(), *cuda.target_flags(job.target), *subject.source.flags, "-lineinfo"]
    build.append(f"-DKOPT_CALLS={CALLS['cuda'] + 1}")
    compile_or_fail([*build, "candidate.cu", "harness.cpp", "-o", "program"], subject.place)
    return ["./program"]


def _python_program(subject: Subject) -> list[str]:
    (subject.place.folder / calls.LAYOUT).write_bytes(pickle.dumps(subject.layout))
    told = [subject.job.device, str(CALLS["triton"])]
    return [sys.executable, started.__file__, "calls", *told]


PROGRAMS = {"cuda": _cuda_program, "triton": _python_program}
PROFILER = Profiler(NCU, "cuda", CALLS, missing, command, lines.TABLE, refusal, kept, lines.SAMPLES)
