"""CUDA C++: nvcc for the card's real architecture, a shared object, device memory over IPC."""

from __future__ import annotations

import os
import re
import shutil

from campaigns.evaluator.backends.base import Backend, register
from campaigns.evaluator.builds.compile import (
    Unsupported,
    check_flags,
    compile_or_fail,
    version_line,
)
from campaigns.evaluator.builds.kernel_names import cuda_kernels
from campaigns.evaluator.builds.shared_object import Library, write_source
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.runner.device_plan import DevicePlan
from campaigns.evaluator.runner.memory import Memory
from campaigns.evaluator.sandbox.workplace import Workplace

FLAGS = ("-shared", "-Xcompiler=-fPIC")
# The legacy default stream cannot be captured; this one can, and plain <<<…>>> launches land here.
PER_THREAD = "--default-stream=per-thread"
PER_THREAD_STREAM = 2
TARGET = re.compile(r"sm_(\d+[af]?)")


def target_flags(target: str) -> tuple[str, ...]:
    """What every candidate for `target` ("sm_90a") is built with. Raises Unsupported."""
    match = TARGET.fullmatch(target)
    if match is None:
        raise Unsupported(f"target {target!r}: nvcc builds for sm_…")
    gpu = match.group(1)
    code = f"-gencode=arch=compute_{gpu},code=sm_{gpu}"
    return ("-O2", "-std=c++17", PER_THREAD, code)


def nvcc() -> str:
    """The CUDA compiler, from PATH or CUDA_HOME. Raises Unsupported."""
    found = toolkit_program("nvcc")
    if found is None:
        raise Unsupported("nvcc is not on PATH nor in CUDA_HOME; install the CUDA toolkit")
    return found


def toolkit_program(name: str) -> str | None:
    """A program of the CUDA toolkit, from PATH or where the toolkit is said or wont to be."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [None, *(f"{home}/bin" for home in homes if home)]
    return next((found for place in places if (found := shutil.which(name, path=place))), None)


def compiler_version() -> str:
    """What the compiler calls itself; "" without one."""
    found = toolkit_program("nvcc")
    return version_line(found) if found else ""


class CudaKernel:
    starts_programs = False

    def __init__(self, job: Job, source: Source, place: Workplace) -> None:
        if not job.device.startswith("cuda"):
            raise Unsupported("a cuda candidate needs an NVIDIA GPU; this device is the CPU")
        self._job = job
        self._source = source
        self._place = place
        self._library: Library | None = None

    def build(self, example: Layout) -> None:
        check_flags(self._source.flags)
        flags = (*target_flags(self._job.target), *FLAGS)
        path = write_source(self._source, self._place.folder, ".cu")
        out = self._place.folder / "candidate.so"
        command = [nvcc(), *flags, *self._source.flags, path.name]
        compile_or_fail([*command, "-o", out.name], self._place)
        self._library = Library(out, self._source, example)

    def load(self) -> None:
        if self._library is None:
            raise RuntimeError("load before build")
        self._library.load()

    def plan(self, layout: Layout, memory: Memory, slots: int) -> DevicePlan:
        import torch

        if self._library is None:
            raise RuntimeError("plan before build")
        stream = torch.cuda.ExternalStream(PER_THREAD_STREAM)
        return DevicePlan(self._library.calls(layout, memory, slots), stream, layout, memory)


register(Backend("cuda", ".cu", ("gpu",), CudaKernel, cuda_kernels, compiler=compiler_version))
