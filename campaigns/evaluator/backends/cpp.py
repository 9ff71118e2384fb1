"""C++ on the host's processor: g++ or clang++, a shared object, plain shared memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from campaigns.evaluator.builds.compile import check_flags, compile_or_fail
from campaigns.evaluator.builds.host_plan import HostPlan
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.memory_files import loadable
from campaigns.evaluator.builds.shared_object import (
    LIBRARY_FILE,
    LOOP_FILE,
    Library,
    NativeLoop,
    hand_over,
    write_source,
)
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract.backends import Backend, register
from campaigns.evaluator.contract.errors import Unsupported
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.programs import CPP_BUILD, cpp_compiler, version_line
from campaigns.evaluator.contract.stream import BuildFacts
from campaigns.evaluator.sandbox.workplace import Workplace

ARTEFACTS = (LIBRARY_FILE, LOOP_FILE)


# A pragma that needs OpenMP's threads; `simd` alone does not.
OPENMP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+(?!simd|declare[ \t]+simd)", re.MULTILINE)


def openmp_note(source: Source) -> str:
    """Note that the compiler will ignore the source's OpenMP pragmas; "" without such pragmas."""
    found = OPENMP.search(source.text)
    if found is None or any(flag.startswith("-fopenmp") for flag in source.flags):
        return ""
    line = source.text.count("\n", 0, found.start()) + 1
    return (
        f"{source.name}:{line}: '#pragma omp' is ignored, so the kernel runs on one thread: it was "
        "built without -fopenmp; add the flag to use more"
    )


def compiler_version() -> str:
    """What the compiler calls itself; "" without one."""
    try:
        return version_line(cpp_compiler())
    except Unsupported:
        return ""


class CppKernel:
    starts_programs = False

    def __init__(self, job: Job, source: Source, place: Workplace) -> None:
        self._source = source
        self._place = place
        self._built: tuple[Library, NativeLoop] | None = None

    def build(self, example: Layout) -> None:
        check_flags(self._source.flags)
        path = write_source(self._source, self._place.folder, ".cpp")
        out = self._place.folder / LIBRARY_FILE
        library = Library(out, self._source, example)
        loop = NativeLoop(library.types, self._place)
        # First, so that the build log is the candidate's.
        loop.build(cpp_compiler())
        command = [cpp_compiler(), *CPP_BUILD, *self._source.flags, path.name, "-o", out.name]
        compile_or_fail(command, self._place)
        self._built = library, loop

    def build_into(self, examples: Sequence[Layout], files: Sequence[int]) -> BuildFacts:
        self.build(examples[0])
        hand_over(self._place, ARTEFACTS, files)
        return BuildFacts()

    def take(self, example: Layout, files: Sequence[int]) -> None:
        path, loop = map(loadable, files)
        library = Library(path, self._source, example)
        self._built = library, NativeLoop(library.types, self._place, loop)

    def load(self) -> None:
        if self._built is None:
            raise RuntimeError("load before build")
        library, loop = self._built
        loop.load()
        library.load()

    def plan(self, layout: Layout, memory: Memory, slots: int) -> HostPlan:
        if self._built is None:
            raise RuntimeError("plan before build")
        library, loop = self._built
        rows = library.rows(layout, memory, slots)
        return HostPlan(library.calls(layout, memory, slots), loop.over(library.solve, rows))


register(
    Backend(
        "cpp",
        ".cpp",
        ("cpu",),
        CppKernel,
        note=openmp_note,
        compiler=compiler_version,
        artefacts=ARTEFACTS,
    )
)
