"""Linux perf on a CPU: the calls of a candidate in C++, and nothing else of its process.

perf starts with its counters off. The harness tells it through a pipe when a call begins and ends
(`perf stat --control`, Linux 5.10), and waits for its answer: neither the start of the process nor
the inputs are counted.
"""

from __future__ import annotations

import os
import re
import shutil
import sys

from campaigns.evaluator.builds.compile import compile_or_fail
from campaigns.evaluator.contract.errors import Unsupported
from campaigns.evaluator.contract.programs import CPP_BUILD, PERF, cpp_compiler
from campaigns.evaluator.profile import started
from campaigns.evaluator.profile.profiler import Profiler
from campaigns.evaluator.sanitizers import harness
from campaigns.evaluator.sanitizers.run import Subject

LOG = "perf.csv"
# The harness's first call finds what it needs for the first time, and is not counted.
CALLS = {"cpp": harness.CALLS - 1}
MISSING = f"{PERF} is not on this host; install linux-perf"
# As a candidate is built, but for what makes it a library.
BUILD = tuple(flag for flag in CPP_BUILD if flag not in ("-shared", "-fPIC"))
# User code alone, because counting in kernel mode needs root.
USER = ":u"
COUNTED = re.compile(r"^\d[\d.]*,", re.MULTILINE)
NOT_ALLOWED = re.compile(r"Access to performance monitoring|No permission|not permitted", re.I)


def missing(subject: Subject) -> str:
    return "" if shutil.which(PERF) else MISSING


def command(subject: Subject) -> list[str]:
    perf, place = shutil.which(PERF), subject.place
    if perf is None:
        raise Unsupported(MISSING)
    build = [cpp_compiler(), *BUILD, *subject.source.flags, "candidate.cpp", "harness.cpp"]
    compile_or_fail([*build, "-o", "program"], place)
    for pipe in (harness.TELL, harness.HEARD):
        os.mkfifo(place.folder / pipe)
    events = ",".join(f"{name}{USER}" for name in subject.job.counters)
    return [
        *(perf, "stat", "-x", ",", "-o", LOG, "-e", events),
        *("--delay=-1", f"--control=fifo:{harness.TELL},{harness.HEARD}", "--"),
        *(sys.executable, started.__file__, "sealed", "./program"),
    ]


def refusal(said: str) -> str:
    """Why nothing was counted; that one counter of several is missing is no refusal."""
    if COUNTED.search(said):
        return ""
    if "<not counted>" in said:
        return "no call of the candidate was counted (<not counted>)"
    if "<not supported>" in said:
        return "this host hides its CPU's counters (<not supported>), as many virtual machines do"
    if NOT_ALLOWED.search(said):
        return "this host's users may not count (perf_event_paranoid over 2, or a container)"
    return ""


# Its words, and the point of a number, are those of no language.
PROFILER = Profiler(
    PERF,
    "cpu",
    CALLS,
    missing,
    command,
    LOG,
    refusal,
    environment={"LC_ALL": "C"},
    opens_events=True,
)
