"""Build one candidate and run it under its device's profiler on the inputs of one case.

Called in a runner that is locked and has loaded nothing. Whatever goes wrong, there is an answer
with a note: no profile is a visible state, never a guess.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from campaigns.evaluator.backends import cuda
from campaigns.evaluator.builds.compile import compile_or_fail
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.contract import Profile, backends
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.programs import headline, nvcc, toolkit_program
from campaigns.evaluator.profile import calls
from campaigns.evaluator.sandbox.lock import NotLocked
from campaigns.evaluator.sanitizers import harness
from campaigns.evaluator.sanitizers.run import Subject, read_log, write_subject

NCU, LOG = "ncu", "profile.csv"
# Several launches tell how stable a counter is (R23). The harness's first call is not counted.
CALLS = {"triton": 3, "cuda": harness.CALLS - 1}
MOST_LAUNCHES = 48
MOST_S = 60.0
TEXT_CHARACTERS = 96 * 1024
# What ncu says → why it counts nothing here. Codes and words are of NVIDIA's "Nsight Compute CLI".
REFUSALS = {
    "ERR_NVGPUCTRPERM": "the driver lets only an administrator count (ERR_NVGPUCTRPERM); load it "
    "with NVreg_RestrictProfilingToAdminUsers=0",
    "LibraryNotLoaded": "this host hides the device's counters (LibraryNotLoaded)",
    "No kernels were profiled": "no call launched a kernel that the source defines",
}
PACKAGES = Path(__file__).parents[3]


def count(subject: Subject, memory: Memory) -> Profile:
    """What ncu counts of the candidate's own kernels; the inputs are those in slot 0."""
    job, place = subject.job, subject.place
    case = job.cases[0].name
    own = backends.get(job.backend).kernels(subject.source.text)
    why = place.no_watching
    if job.backend not in PROGRAMS or not job.device.startswith("cuda"):
        why = f"no profiler counts {job.backend} on {job.device}"
    elif not own:
        why = "the source defines no kernel that could be told from others"
    ncu = toolkit_program(NCU)
    if ncu is None and not why:
        why = f"{NCU} is not on this host; install NVIDIA Nsight Compute"
    if why or ncu is None:
        return Profile(NCU, case, note=why)
    try:
        write_subject(subject, memory)
        program = PROGRAMS[job.backend](subject)
        command = [ncu, *_options(own, job.counters), *program]
        ended = place.run_watched(command, {"PYTHONPATH": str(PACKAGES)}, MOST_S)
    except (BuildFailed, Unsupported, NotLocked, OSError) as error:
        return Profile(NCU, case, note=f"it could not be run: {headline(str(error))}")
    text = read_log(place, LOG)[:TEXT_CHARACTERS]
    said = f"{text}\n{ended.log}"
    for word, words in REFUSALS.items():
        if word in said:
            return Profile(NCU, case, note=words)
    if ended.status or not text:
        return Profile(NCU, case, note=f"{ended.words}: {headline(said)}")
    return Profile(NCU, case, text, CALLS[job.backend])


def _options(own: Sequence[str], counters: Sequence[str]) -> list[str]:
    """Clocks stay as they are, as they do for every other number; the cache is cold, as in a burst.

    own: names that have no character but those of an identifier.
    """
    return [
        *(
            "--csv",
            "--page",
            "raw",
            "--print-units",
            "base",
            "--log-file",
            LOG,
            "--force-overwrite",
        ),
        *("--kernel-name-base", "function", "--kernel-name", f"regex:^({'|'.join(own)})$"),
        *("--clock-control", "none", "--cache-control", "all", "--profile-from-start", "off"),
        *("--launch-count", str(MOST_LAUNCHES), "--metrics", ",".join(counters)),
    ]


def _cuda_program(subject: Subject) -> list[str]:
    job = subject.job
    command = [nvcc(), *cuda.target_flags(job.target), *subject.source.flags]
    compile_or_fail([*command, "candidate.cu", "harness.cpp", "-o", "program"], subject.place)
    return ["./program"]


def _python_program(subject: Subject) -> list[str]:
    (subject.place.folder / calls.LAYOUT).write_bytes(pickle.dumps(subject.layout))
    return [sys.executable, "-m", calls.__name__, subject.job.device, str(CALLS["triton"])]


PROGRAMS = {"cuda": _cuda_program, "triton": _python_program}
