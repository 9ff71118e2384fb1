"""Ask KernelBench: `eval_kernel_against_ref` as its scripts call it, and its static checker.

github.com/ScalingIntelligence/KernelBench. Options as in scripts/run_and_check.py: 5 correctness
trials, 100 timed ones with CUDA events, the excessive-speedup check on; the static checker with its
own default lists, on as in scripts/generate_and_eval_single_sample.py.
"""

from __future__ import annotations

import importlib
from typing import Any

from campaigns.benchmarks.peers.form import (
    Form,
    Opinion,
    PeerAnswer,
    PeerTask,
    answer_with,
    stand_in_for,
    turn_to_time,
)
from campaigns.evaluator.contract.layout import Layout

TRIALS, TIMED = 5, 100
PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
# Imported by its modules for asking language models; an evaluation uses none of them.
UNUSED = ("dotenv", "litellm", "openai", "requests", "tqdm")

REFERENCE = """
import torch
import torch.nn as nn
from campaigns.benchmarks.peers.form import Form

form = {form}

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, *inputs):
        return form.answer(*inputs)

def get_inputs():
    return form.draw("cpu")

def get_init_inputs():
    return []
"""
MODEL = """
import torch.nn as nn
from campaigns.benchmarks.peers.form import Form

_form = {form}
{made}
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, *inputs):
        return _form.call({run}, *inputs)
"""
BUILT = """
from pathlib import Path
from torch.utils.cpp_extension import load_inline

load_inline(
    name="candidate", cpp_sources="", cuda_sources=_source, build_directory={folder!r},
    extra_cuda_cflags={flags!r}, is_python_module=False, no_implicit_headers=True,
)
_solve = _form.compiled(Path({folder!r}) / "candidate.so", _source)
"""


def no_form(layout: Layout) -> str | None:
    """Why KernelBench cannot be asked about such a problem; None where it can."""
    kinds = {arg.dtype for arg in layout.inputs}
    if len(kinds) > 1 or not kinds <= set(PRECISIONS):
        return "it casts every input to one floating-point type"
    return "it compares one output" if len(layout.outputs) > 1 else None


def model_source(task: PeerTask) -> str:
    """The candidate as a `ModelNew`: its own text, unchanged, and a wrapper."""
    if task.backend == "triton":
        return task.text + MODEL.format(form=task.form, made="", run="run_kernel")
    made = BUILT.format(folder=task.folder, flags=["-O2", *task.flags])
    model = MODEL.format(form=task.form, made=made, run="_solve")
    return f'_source = r"""{task.text}"""\n{model}'


def evaluate(task: PeerTask, form: Form) -> PeerAnswer:
    """Ask for correctness and time; then say what its checks say of what it found correct."""
    import torch

    stand_in_for(*UNUSED)
    # Their folder is on the path of this process alone, see `ask`.
    evaluation: Any = importlib.import_module("kernelbench.eval")
    checker: Any = importlib.import_module("kernelbench.kernel_static_checker")
    choose = evaluation.timing.get_timing_function
    evaluation.timing.get_timing_function = lambda method: turn_to_time()(choose(method))
    precision = PRECISIONS[form.layout.inputs[0].dtype]
    source = model_source(task)
    valid, errors, _ = checker.validate_kernel_static(
        source, backend=task.backend, precision=precision
    )
    result = evaluation.eval_kernel_against_ref(
        REFERENCE.format(form=task.form),
        source,
        num_correct_trials=TRIALS,
        num_perf_trials=TIMED,
        measure_performance=True,
        build_dir=task.folder,
        device=torch.device(task.device),
        backend=task.backend,
        precision=evaluation.get_torch_dtype_from_string(precision),
    )
    return _answer(result, [] if valid else errors)


def _answer(result: Any, errors: list[str]) -> PeerAnswer:
    """Its times are in milliseconds, negative where there are none."""
    if result is None:
        return PeerAnswer(Opinion.REFUSED, "not evaluated: it asks to be tried again")
    metadata = {name: str(value) for name, value in result.metadata.items()}
    if not result.correctness:
        keys = ("compilation_error", "runtime_error", "correctness_issue")
        reasons = [metadata[key] for key in keys if key in metadata]
        return PeerAnswer(Opinion.REFUSED, (reasons or ["not correct"])[0][:200])
    time_us, reference_us = result.runtime * 1e3, result.ref_runtime * 1e3
    gain = reference_us > time_us > 0
    found = sorted(errors)
    if result.metadata.get("excessive_speedup"):
        found.append("excessive speedup")
    opinion = Opinion.FLAGGED if found else Opinion.CORRECT
    return PeerAnswer(opinion, "; ".join(found), time_us, reference_us, gain)


if __name__ == "__main__":
    answer_with(evaluate, no_form)
