"""Build one candidate with each sanitizer of its backend and run it on the inputs of one case.

Called in a runner that is locked and has loaded nothing: the candidate runs only in programs that
this starts. Whatever goes wrong, there is an answer for each sanitizer.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.backends import cuda
from campaigns.evaluator.builds.compile import check_flags, compile_or_fail
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.shared_object import write_source
from campaigns.evaluator.contract import Fault, Job, Sanitized, Source, backends
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.programs import (
    ADDRESS,
    COMPUTE_SANITIZER,
    CPP_FLAGS,
    OPTIONS,
    THREAD,
    compute_sanitizer,
    cpp_compiler,
    headline,
    nvcc,
)
from campaigns.evaluator.contract.signature import argument_types
from campaigns.evaluator.sandbox.workplace import Workplace
from campaigns.evaluator.sanitizers import harness, logs

MEMCHECK, RACECHECK = "memcheck", "racecheck"
BUILD = ("-O1", "-g", "-fno-omit-frame-pointer")
# A gap behind every allocation, so that an overrun does not end in the next one. The API's own
# errors are left out: to ask for what a card may not have, and to go on, is honest.
DEVICE_OPTIONS = {
    MEMCHECK: ("--padding", "256", "--leak-check", "no", "--report-api-errors", "no"),
    RACECHECK: ("--racecheck-report", "analysis"),
}
DEVICE_LOGS: Mapping[str, Callable[[str, str], tuple[Fault, ...]]] = {
    MEMCHECK: logs.device_faults,
    RACECHECK: logs.hazards,
}
# Instrumented code is ten times as slow, and its smallest case a small one.
MOST_S = 60.0
NAMES = {"cpp": (ADDRESS, THREAD), "cuda": (MEMCHECK, RACECHECK), "triton": (MEMCHECK,)}
_TURNED_OFF = re.compile(r"\bno_sanitize|\bdisable_sanitizer")
# ThreadSanitizer follows atomics and locks, but neither fences nor what libraries that were built
# without it do inside; both would be told as races.
_NOT_FOLLOWED = (
    ("OpenMP, whose runtime synchronises unseen", re.compile(r"-fopenmp|\bomp\.h\b")),
    (
        "fences, which it does not follow",
        re.compile(r"thread_fence\b|__sync_synchronize\b|\bmfence\b|\b_mm_[lsm]fence\b"),
    ),
    ("parallel algorithms, whose library synchronises unseen", re.compile(r"\bexecution::par")),
)
# Racecheck does not follow the barriers that asynchronous bulk copies complete on.
_BULK_COPIES = re.compile(r"cp\.async\.bulk|cp_async_bulk")
# One of these names is in every program that starts a thread; in a plain one none has to be.
_THREADS = re.compile(rb"pthread_create|_M_start_thread|thrd_create|GOMP_|dlsym|dlopen|syscall|tbb")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at: a candidate, where it is built, and one case's arguments."""

    job: Job
    place: Workplace
    layout: Layout

    @property
    def source(self) -> Source:
        return self.job.candidate


def sanitize(subject: Subject, memory: Memory) -> tuple[Sanitized, ...]:
    """What each sanitizer of the backend says; the inputs are those in slot 0 of `memory`."""
    backend = subject.job.backend
    if backend not in NAMES:
        return (Sanitized("sanitizers", False, note=f"there is none for {backend}"),)
    if backend == "triton":
        why = "not built in: compute-sanitizer is run on CUDA C++ only, not on an interpreter"
        if subject.job.device == "cpu":
            why = "not applicable: Triton's interpreter runs Python, not the kernel's own accesses"
        return (Sanitized(MEMCHECK, False, note=why),)
    off, turned_off = subject.place.no_watching, _TURNED_OFF.search(subject.source.text)
    if turned_off:
        off = f"the source turns sanitizers off ({turned_off[0]})"
    if off:
        return tuple(Sanitized(tool, False, note=off) for tool in NAMES[backend])
    try:
        write_subject(subject, memory)
        return _on_host(subject) if backend == "cpp" else _on_device(subject)
    except (BuildFailed, Unsupported) as error:
        why = f"it could not be built: {headline(str(error))}"
        return tuple(Sanitized(tool, False, note=why) for tool in NAMES[backend])


def write_subject(subject: Subject, memory: Memory) -> None:
    """Source, inputs and, but for Python, a harness, into the runner's folder."""
    import torch

    check_flags(subject.source.flags)
    folder, layout, backend = subject.place.folder, subject.layout, subject.job.backend
    write_source(subject.source, folder, backends.get(backend).suffix)
    if backend in NAMES and backend != "triton":
        types = argument_types(subject.source.text, subject.source.name, layout)
        text = harness.program(layout, types, on_gpu=backend == "cuda")
        (folder / "harness.cpp").write_text(text)
    with (folder / harness.INPUTS).open("wb") as file:
        for arg in layout.tensors:
            flat = memory.tensor(layout, 0, arg).reshape(-1).view(torch.uint8)
            file.write(flat.cpu().numpy().tobytes())


def _on_host(subject: Subject) -> tuple[Sanitized, ...]:
    program = _build_host(subject, ADDRESS)
    # Before it is run: after that its own file may be anything, also a pipe that never ends.
    has_threads = _THREADS.search(program.read_bytes())
    first = _run_host(subject, ADDRESS, program)
    if not has_threads:
        idle = Sanitized(THREAD, True, note="it starts no threads, so nothing can race")
        return first, idle
    if why := no_thread_verdict(subject.source):
        return first, Sanitized(THREAD, False, note=f"no verdict: {why}")
    try:
        return first, _run_host(subject, THREAD, _build_host(subject, THREAD))
    except BuildFailed as error:
        why = f"it could not be built: {headline(str(error))}"
        return first, Sanitized(THREAD, False, note=why)


def _build_host(subject: Subject, tool: str) -> Path:
    program = subject.place.folder / tool
    flags = ("-std=c++17", *subject.source.flags, *BUILD, *CPP_FLAGS[tool])
    command = [cpp_compiler(), *flags, "candidate.cpp", "harness.cpp", "-o", program.name]
    compile_or_fail(command, subject.place)
    return program


def _run_host(subject: Subject, tool: str, program: Path) -> Sanitized:
    file, place = subject.source.name, subject.place
    (place.folder / harness.OUTPUTS).unlink(missing_ok=True)
    ended = place.run_watched([str(program)], OPTIONS[tool], MOST_S)
    if tool == ADDRESS:
        # Where undefined behaviour was told first, both speak on standard error.
        said = f"{read_log(place, 'asan')}\n{ended.log}"
        faults = logs.address_faults(said, file) or logs.undefined_faults(said, file)
    else:
        faults = logs.thread_faults(read_log(place, "tsan"), file)
    if faults or _came_to_the_end(subject):
        return Sanitized(tool, True, faults)
    return Sanitized(tool, False, note=_ended_early(ended.words, ended.log))


def _on_device(subject: Subject) -> tuple[Sanitized, ...]:
    job, place = subject.job, subject.place
    checker = compute_sanitizer()
    if checker is None:
        why = f"{COMPUTE_SANITIZER} is not on this host; install the CUDA toolkit"
        return tuple(Sanitized(tool, False, note=why) for tool in NAMES["cuda"])
    command = [nvcc(), *cuda.target_flags(job.target), *subject.source.flags, "-lineinfo"]
    compile_or_fail([*command, "candidate.cu", "harness.cpp", "-o", "program"], place)
    said = [_run_device(subject, checker, MEMCHECK)]
    if why := no_race_verdict(subject.source):
        return *said, Sanitized(RACECHECK, False, note=f"no verdict: {why}")
    return *said, _run_device(subject, checker, RACECHECK)


def _run_device(subject: Subject, checker: str, tool: str) -> Sanitized:
    place, log = subject.place, f"{tool}.log"
    (place.folder / harness.OUTPUTS).unlink(missing_ok=True)
    options = ["--log-file", log, "--show-backtrace", "no", "--print-limit", str(logs.MOST)]
    command = [checker, "--tool", tool, *options, *DEVICE_OPTIONS[tool], "./program"]
    ended = place.run_watched(command, {}, MOST_S)
    text = read_log(place, log)
    faults = DEVICE_LOGS[tool](text, subject.source.name)
    counted = logs.errors_counted(text)
    if faults or (counted == 0 and _came_to_the_end(subject)):
        return Sanitized(tool, True, faults)
    if counted:
        return Sanitized(tool, False, note=f"its report is not understood: {headline(text)}")
    return Sanitized(tool, False, note=_ended_early(ended.words, text or ended.log))


def _came_to_the_end(subject: Subject) -> bool:
    try:
        size = (subject.place.folder / harness.OUTPUTS).stat().st_size
    except FileNotFoundError:
        return False
    return size == sum(tensor.nbytes for tensor in subject.layout.outputs)


def _ended_early(words: str, log: str) -> str:
    return f"it did not come to its end ({words}): {headline(log)}"


def read_log(place: Workplace, name: str, *, exact: bool = False) -> str:
    """What was written under this name, by whichever process; a sanitizer adds the process id.

    exact: read the one file of this name.
    The candidate may have left there what it liked, and as much: only plain files are read, and of
    all together no more than a log may be long.
    """
    said = b""
    for path in sorted(place.folder.glob(name if exact else f"{name}*")):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                if stat.S_ISREG(os.fstat(handle).st_mode):
                    said += os.read(handle, max(0, logs.LOG_CHARACTERS - len(said))) + b"\n"
            finally:
                os.close(handle)
    return said.decode("utf-8", "replace")


def no_thread_verdict(source: Source) -> str:
    """Why ThreadSanitizer would see races that are none; "" where it would not."""
    text = "\n".join([*source.flags, source.text])
    for words, mark in _NOT_FOLLOWED:
        if mark.search(text):
            return f"the source uses {words}, so races that are none would be told"
    return ""


def no_race_verdict(source: Source) -> str:
    """Why racecheck would see hazards that are none; "" where it would not."""
    if _BULK_COPIES.search(source.text):
        return "the source uses bulk copies, whose barriers racecheck does not follow"
    return ""
