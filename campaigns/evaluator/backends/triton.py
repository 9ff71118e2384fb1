"""Triton: on a GPU timed through CUDA graphs; without one judged in Triton's interpreter.

The interpreter says right or wrong, never fast, and never for bfloat16, which it computes wrongly
without an error. There the candidate is also compiled for the target, so that build errors show;
what only a GPU can tell of one that compiles is not judged.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds.compile import version_of
from campaigns.evaluator.builds.host_plan import python_plan
from campaigns.evaluator.builds.kernel import CallPlan
from campaigns.evaluator.builds.kernel_names import triton_kernels
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.memory_files import empty, fill, held
from campaigns.evaluator.builds.python_entry import (
    blank_call,
    entry_of,
    load_candidate,
    write_python,
)
from campaigns.evaluator.builds.python_error import FILE, place_of
from campaigns.evaluator.builds.shared_object import write_source
from campaigns.evaluator.builds.triton_cache import CACHE_FILE, facts_of, packed, unpack, warm_up
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract.backends import Backend, Targets, register
from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.programs import NONE_COMPILED
from campaigns.evaluator.contract.stream import BuildFacts
from campaigns.evaluator.interpreter import libdevice, stand_in
from campaigns.evaluator.interpreter.stand_in import (
    OnlyOnGpu,
    host_fault,
    install_stub,
    mark_blanks,
    refuses,
)
from campaigns.evaluator.sandbox.workplace import Workplace

FACTS_BYTES = 1 << 16
TARGETS = Targets(
    r"sm_\d+[af]?|gfx[0-9a-f]{3,4}",
    ("sm_80", "sm_89", "sm_90a", "sm_100a", "gfx942", "gfx950"),
)


class TritonKernel:
    def __init__(self, job: Job, source: Source, place: Workplace) -> None:
        self._target = job.target
        self._on_gpu = job.device.startswith("cuda")
        self._source = source
        self._place = place
        self._path = place.folder / FILE
        self._example: Layout | None = None
        self._run: Callable[..., None] | None = None
        # Triton compiles when a kernel is first launched: ptxas, and a C compiler for the launcher.
        self.starts_programs = self._on_gpu

    def build(self, example: Layout) -> None:
        """Parse; without a GPU also compile every launch for the target, in a process apart."""
        self._example = example
        write_python(self._source, self._place.folder)
        if self._on_gpu or not self._target.startswith(("sm_", "gfx")):
            return

        def compile_first() -> None:
            compiled = compile_for(self._target, self._path, example)
            names = dict.fromkeys(one.metadata.name for one in compiled)
            listed = ", ".join(names) or NONE_COMPILED
            print(f"compiled for {self._target}: {listed}", file=sys.stderr)

        # What needs a GPU before all is compiled is told in the log, and is no failure.
        self._apart(compile_first, whole=False)
        write_source(self._source, self._place.folder, ".py")

    def build_into(self, examples: Sequence[Layout], files: Sequence[int]) -> BuildFacts:
        """Compile every launch of every case; the artefact is Triton's own cache of it."""
        warm_up(self._target)
        out, told = files[0], empty()
        write_source(self._source, self._place.folder, ".py")

        def compile_all() -> None:
            compiled = [one for e in examples for one in compile_for(self._target, self._path, e)]
            fill(out, packed(Path(os.environ["TRITON_CACHE_DIR"])))
            fill(told, json.dumps(asdict(facts_of(compiled, self._place.folder))).encode())

        self._apart(compile_all, (out, told))
        return BuildFacts(**json.loads(held(told, FACTS_BYTES)))

    def take(self, example: Layout, files: Sequence[int]) -> None:
        self._example = example
        unpack(files[0], Path(os.environ["TRITON_CACHE_DIR"]))
        write_source(self._source, self._place.folder, ".py")

    def _apart(
        self, work: Callable[[], object], files: tuple[int, ...] = (), *, whole: bool = True
    ) -> None:
        """Run code of the candidate's and a compiler in a process of their own.

        whole: whether to raise BuildFailed also for what only a GPU has.
        """

        def body() -> int:
            try:
                work()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever either raises
                said = f"{error}".removeprefix(f"{FILE}: ") or type(error).__name__
                place = place_of(error, self._source) or f"{self._source.name}: error: {said}"
                if not whole and (why := host_fault(error)):
                    words = f"{place} ({why}: not all is compiled for {self._target})"
                    print(words, file=sys.stderr)
                    return 0
                traceback.print_exc()
                print(place, file=sys.stderr)
                return 1
            return 0

        ended = self._place.apart(body, files)
        if ended.killed:
            # By a host without memory, or by the candidate, that does it again.
            ended = self._place.apart(body, files)
        self._place.keep_log(ended.log)
        if ended.status:
            raise BuildFailed(f"{ended.log}compiling for {self._target}: {ended.words}")

    def load(self) -> None:
        if not self._on_gpu:
            # Read once by Triton at import, which has not happened yet in this process.
            os.environ["TRITON_INTERPRET"] = "1"
            install_stub(self._target)
            stand_in.put_in(self._target)
            stand_in.match_launches()
            libdevice.put_in()
            mark_blanks()
        if self._example is None:
            raise RuntimeError("load before build")
        self._run = entry_of(load_candidate(self._path), self._example, self._source.name)

    def plan(self, layout: Layout, memory: Memory, slots: int) -> CallPlan:
        return python_plan(self._run, layout, memory, slots, on_gpu=self._on_gpu)


def builds_in_calls(source: Source) -> bool:
    """An autotuner compiles and times every configuration again where its key has changed."""
    return "autotune" in source.text


def compile_for(target: str, path: Path, example: Layout) -> list[Any]:
    """Compile every kernel the candidate launches, for `target`, without launching any.

    Runs in a process of its own, which a compiler abort or any error ends. Returns what Triton
    compiled, in the order of the launches; a kernel launched twice is there twice.
    """
    os.environ.pop("TRITON_INTERPRET", None)
    install_stub(target)
    stand_in.put_in(target)
    from triton.compiler import CompiledKernel
    from triton.runtime.jit import JITFunction

    # Of what is not set before the kernel is loaded, such as its registers.
    CompiledKernel.__getattr__ = OnlyOnGpu.__getattr__
    CompiledKernel._what = "a kernel"
    launch, found = JITFunction.run, []

    def only_compile(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        found.append(launch(self, *args, grid=grid, warmup=True, **options))
        return found[-1]

    JITFunction.run = only_compile
    blank_call(entry_of(load_candidate(path), example, path.name), example, "cpu")
    return found


register(
    Backend(
        "triton",
        ".py",
        ("gpu",),
        TritonKernel,
        triton_kernels,
        refuses,
        builds_in_calls=builds_in_calls,
        compiler=partial(version_of, "triton"),
        artefacts=(CACHE_FILE,),
        targets=TARGETS,
    )
)
