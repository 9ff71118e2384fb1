"""The harness that everybody writes first: one input, allclose, then a timed loop.

On a GPU the loop is `triton.testing.do_bench`; on a CPU the median of a few dozen calls.
"""

from __future__ import annotations

import importlib.util
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from campaigns.benchmarks.peers.form import (
    Form,
    Opinion,
    PeerAnswer,
    PeerTask,
    answer_with,
    turn_to_time,
)
from campaigns.evaluator.contract import programs

CALLS, WARM_UP = 50, 5


def evaluate(task: PeerTask, form: Form) -> PeerAnswer:
    """Whatever the candidate raises ends this process, as it ends such a harness."""
    import torch

    run = _function(task, form)
    torch.manual_seed(0)
    inputs = form.draw(task.device)
    expected = _several(form.answer(*inputs))
    found = _several(form.call(run, *inputs))
    atol, rtol = form.tolerance
    for one, other in zip(found, expected, strict=True):
        if not torch.allclose(one, other, atol=atol, rtol=rtol):
            return PeerAnswer(Opinion.REFUSED, "not close to the reference")
    if task.backend == "triton" and task.device == "cpu":
        return PeerAnswer(Opinion.CORRECT, "Triton's interpreter is not timed")
    with turn_to_time():
        time_us = _time_us(lambda: form.call(run, *inputs), task.device)
        reference_us = _time_us(lambda: form.answer(*inputs), task.device)
    return PeerAnswer(Opinion.CORRECT, "", time_us, reference_us, reference_us > time_us)


def _function(task: PeerTask, form: Form) -> Callable[..., None]:
    if task.backend == "triton":
        spec = importlib.util.spec_from_file_location("candidate", task.source)
        if spec is None or spec.loader is None:
            raise ImportError(task.source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.run_kernel  # type: ignore[no-any-return]
    library = Path(task.folder) / "candidate.so"
    command = [programs.cpp_compiler(), *programs.CPP_BUILD]
    if task.backend == "cuda":
        command = [programs.nvcc(), *programs.CUDA_BUILD, "-arch=native"]
    subprocess.run([*command, *task.flags, task.source, "-o", str(library)], check=True)
    return form.compiled(library, task.text)


def _several(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def _time_us(call: Callable[[], object], device: str) -> float:
    """On a CPU the median of CALLS calls after WARM_UP."""
    if device != "cpu":
        from triton.testing import do_bench

        return float(do_bench(call, return_mode="median")) * 1e3
    times = []
    for _ in range(WARM_UP + CALLS):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return median(times[WARM_UP:]) * 1e6


if __name__ == "__main__":
    answer_with(evaluate, lambda layout: None)
