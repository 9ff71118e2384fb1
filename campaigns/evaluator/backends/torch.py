"""PyTorch as it is, on a CPU or a GPU: eager operations, or what torch.compile makes of them.

The candidate is Python that calls torch, and runs for real, so its times mean something on both.
torch.compile builds when a function is first called with new shapes: what it needs for that is
imported before the lock closes, and its cache lies in the runner's own folder.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from functools import partial

from campaigns.evaluator.builds.compile import version_of
from campaigns.evaluator.builds.host_plan import python_plan
from campaigns.evaluator.builds.kernel import CallPlan
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.python_entry import (
    Entry,
    blank_call,
    entry_of,
    load_candidate,
    write_python,
)
from campaigns.evaluator.builds.python_error import FILE
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract.backends import Backend, register
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.stream import BuildFacts
from campaigns.evaluator.sandbox.workplace import Workplace

COMPILES = "torch.compile"
# What a first compilation imports: seconds, which are none of a call's.
MOST_SHAPES = 256
IMPORTED = ("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.codecache")


def builds_in_calls(source: Source) -> bool:
    return COMPILES in source.text


class TorchKernel:
    def __init__(self, job: Job, source: Source, place: Workplace) -> None:
        self._device = job.device
        self._source = source
        self._place = place
        self._path = place.folder / FILE
        self._example: Layout | None = None
        self._run: Entry | None = None
        # Inductor runs a C++ compiler, and on a GPU Triton's, when a function is first called.
        self.starts_programs = builds_in_calls(source)

    def build(self, example: Layout) -> None:
        """Parse, and import the compiler that the source asks for."""
        self._example = example
        write_python(self._source, self._place.folder)
        if not self.starts_programs:
            return
        cache = self._place.folder / "inductor-cache"
        # In this process alone: a pool of compilers would be more processes for others to wait for.
        os.environ.update(TORCHINDUCTOR_CACHE_DIR=f"{cache}", TORCHINDUCTOR_COMPILE_THREADS="1")
        for name in IMPORTED:
            importlib.import_module(name)
        from torch._dynamo import config

        # Beyond the limit it would go on eagerly without a word; hidden sizes are shapes as well.
        config.recompile_limit = config.accumulated_recompile_limit = MOST_SHAPES
        config.fail_on_recompile_limit_hit = True

    def build_into(self, examples: Sequence[Layout], files: Sequence[int]) -> BuildFacts:
        """There is nothing to hand over: what torch compiles, it compiles when it is called."""
        self.build(examples[0])
        return BuildFacts()

    def take(self, example: Layout, files: Sequence[int]) -> None:
        self.build(example)

    def load(self) -> None:
        """Load with as many threads as OpenMP would take, so that a kernel in C++ has no more."""
        import torch

        if self._example is None:
            raise RuntimeError("load before build")
        if self._device == "cpu":
            torch.set_num_threads(len(os.sched_getaffinity(0)))
        torch.set_grad_enabled(False)
        run = entry_of(load_candidate(self._path), self._example, self._source.name)
        if self.starts_programs:
            blank_call(run, self._example, self._device)
        else:
            from campaigns.evaluator.builds.placed_answers import PlacedAnswers

            # A reference ends with a copy into its outputs, which nobody who calls torch has.
            outputs = [arg.name for arg in self._example.outputs if not arg.update]
            if outputs and not isinstance(run, PlacedAnswers):
                run = PlacedAnswers(run, outputs)
        self._run = run

    def plan(self, layout: Layout, memory: Memory, slots: int) -> CallPlan:
        on_gpu = self._device != "cpu"
        return python_plan(self._run, layout, memory, slots, on_gpu=on_gpu)


register(
    Backend(
        "torch",
        ".py",
        ("cpu", "gpu"),
        TorchKernel,
        builds_in_calls=builds_in_calls,
        compiler=partial(version_of, "torch"),
    )
)
