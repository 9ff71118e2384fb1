"""CUDA C++: nvcc for the card's real architecture, a shared object, device memory over IPC."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from campaigns.evaluator.builds.compile import check_flags, compile_or_fail, facts_from_ptxas
from campaigns.evaluator.builds.device_plan import DevicePlan
from campaigns.evaluator.builds.kernel_names import cuda_kernels
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.memory_files import loadable
from campaigns.evaluator.builds.shared_object import LIBRARY_FILE, Library, hand_over, write_source
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract.backends import Backend, Targets, register
from campaigns.evaluator.contract.errors import Unsupported
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.programs import CUDA_BUILD, nvcc, toolkit_program, version_line
from campaigns.evaluator.contract.stream import BuildFacts
from campaigns.evaluator.sandbox.workplace import Workplace

ARTEFACTS = (LIBRARY_FILE,)
# The legacy default stream cannot be captured; this one can, and plain <<<…>>> launches land here.
PER_THREAD = "--default-stream=per-thread"
PER_THREAD_STREAM = 2
TARGETS = Targets(r"sm_\d+[af]?", ("sm_80", "sm_89", "sm_90a", "sm_100a"))


def target_flags(target: str) -> tuple[str, ...]:
    """What every candidate for `target` ("sm_90a") is built with. Raises Unsupported."""
    if why := TARGETS.refusal(target):
        raise Unsupported(why)
    gpu = target.removeprefix("sm_")
    code = f"-gencode=arch=compute_{gpu},code=sm_{gpu}"
    return ("-O2", "-std=c++17", PER_THREAD, code)


def refuses(layouts: Collection[Layout], text: str, device: str) -> str:
    """Without a GPU a candidate is built, and no more."""
    return "" if device.startswith("cuda") else "it is built, and runs on an NVIDIA GPU only"


def compiler_version() -> str:
    """What the compiler calls itself; "" without one."""
    found = toolkit_program("nvcc")
    return version_line(found) if found else ""


class CudaKernel:
    starts_programs = False

    def __init__(self, job: Job, source: Source, place: Workplace) -> None:
        self._job = job
        self._source = source
        self._place = place
        self._library: Library | None = None

    def build(self, example: Layout) -> None:
        self._build(example)

    def _build(self, example: Layout, *more: str) -> str:
        check_flags(self._source.flags)
        flags = (*target_flags(self._job.target), *CUDA_BUILD, *more)
        path = write_source(self._source, self._place.folder, ".cu")
        out = self._place.folder / LIBRARY_FILE
        command = [nvcc(), *flags, *self._source.flags, path.name]
        log = compile_or_fail([*command, "-o", out.name], self._place)
        self._library = Library(out, self._source, example)
        return log

    def build_into(self, examples: Sequence[Layout], files: Sequence[int]) -> BuildFacts:
        log = self._build(examples[0], "-Xptxas=-v")
        hand_over(self._place, ARTEFACTS, files)
        return facts_from_ptxas(log)

    def take(self, example: Layout, files: Sequence[int]) -> None:
        self._library = Library(loadable(files[0]), self._source, example)

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


register(
    Backend(
        "cuda",
        ".cu",
        ("gpu",),
        CudaKernel,
        cuda_kernels,
        refuses,
        compiler=compiler_version,
        artefacts=ARTEFACTS,
        targets=TARGETS,
    )
)
