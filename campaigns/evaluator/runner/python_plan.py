"""Bursts of calls of a Python candidate, on a CPU or a GPU. Registers nothing itself."""

from __future__ import annotations

from functools import partial

from campaigns.evaluator.builds.python_calls import bound_calls
from campaigns.evaluator.builds.python_entry import Entry
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.runner.copied_outputs import copied_bits
from campaigns.evaluator.runner.device_plan import DevicePlan
from campaigns.evaluator.runner.host_plan import HostPlan
from campaigns.evaluator.runner.memory import Memory


def python_plan(
    run: Entry | None, layout: Layout, memory: Memory, slots: int, *, on_gpu: bool
) -> HostPlan | DevicePlan:
    """Calls of `run`, which is None before the candidate is loaded."""
    if run is None:
        raise RuntimeError("plan before load")
    calls = bound_calls(run, layout, memory, slots)
    copied = partial(copied_bits, run, calls[0], layout)
    if not on_gpu:
        return HostPlan(calls, copied=copied)
    import torch

    return DevicePlan(calls, torch.cuda.Stream(), layout, memory, copied)
