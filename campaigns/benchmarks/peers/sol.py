"""Ask SOL-ExecBench: its packager and its evaluation driver, as its command line runs them.

github.com/NVIDIA/SOL-ExecBench. Default configuration: 10 rounds of correctness, 10 warm-up and 50
timed calls by CUPTI, the reference timed as well, all its reward-hack checks, clocks not locked.
The tolerance of a workload is the problem's own, with its default share of matching elements.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
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
from campaigns.evaluator.contract.layout import Layout, ScalarArg, TensorArg
from campaigns.evaluator.contract.signature import read_parameters

DTYPES = {*("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "bool")}
COMPILE_S, RUN_S = 120, 600
# Its driver, with no two times taken at once.
DRIVE = "--drive"
MODULE = "campaigns.benchmarks.peers.sol"

REFERENCE = """
from campaigns.benchmarks.peers.form import Form

form = {form}

def make_inputs(axes_and_scalars, device):
    return form.named(device)

def run({inputs}):
    return form.answer({inputs})
"""
SOLUTION = """
from campaigns.benchmarks.peers.form import Form as _Form

_form = {form}

def kopt_entry({tensors}):
    _form.into(run_kernel, ({inputs},), ({outputs},))
"""
BINDING = """
#include <Python.h>
extern "C" void solve({types});
static PyObject* entry(PyObject*, PyObject* given) {{
  void* at[{count}];
  for (int i = 0; i < {count}; ++i) {{
    PyObject* address = PyObject_CallMethod(PyTuple_GET_ITEM(given, i), "data_ptr", NULL);
    if (!address) return NULL;
    at[i] = PyLong_AsVoidPtr(address);
    Py_DECREF(address);
  }}
  solve({arguments});
  Py_RETURN_NONE;
}}
static PyMethodDef methods[] = {{{{"entry", entry, METH_VARARGS, ""}}, {{NULL, NULL, 0, NULL}}}};
static PyModuleDef module = {{PyModuleDef_HEAD_INIT, "benchmark_kernel", "", -1, methods}};
PyMODINIT_FUNC PyInit_benchmark_kernel() {{ return PyModule_Create(&module); }}
"""


def no_form(layout: Layout) -> str | None:
    """Why SOL-ExecBench cannot be asked about such a problem; None where it can."""
    unknown = {arg.dtype for arg in layout.tensors} - DTYPES
    return f"it knows no {', '.join(sorted(unknown))}" if unknown else None


def definition(task: PeerTask, form: Form) -> dict[str, Any]:
    """The problem in its schema; scalars are part of the candidate's wrapper, not inputs."""

    def tensors(args: Iterable[TensorArg]) -> dict[str, Any]:
        return {arg.name: {"shape": [*map(str, arg.shape)], "dtype": arg.dtype} for arg in args}

    names = ", ".join(arg.name for arg in form.layout.inputs)
    return {
        "name": form.spec.name,
        "op_type": form.spec.op,
        "axes": {"one": {"type": "const", "value": 1}},
        "inputs": tensors(form.layout.inputs),
        "outputs": tensors(form.layout.outputs),
        "custom_inputs_entrypoint": "make_inputs",
        "reference": REFERENCE.format(form=task.form, inputs=names),
    }


def workload(form: Form) -> dict[str, Any]:
    atol, rtol = form.tolerance
    return {
        "uuid": "case",
        "axes": {},
        "inputs": {arg.name: {"type": "custom"} for arg in form.layout.inputs},
        "tolerance": {"max_atol": atol, "max_rtol": rtol},
    }


def solution(task: PeerTask, form: Form) -> dict[str, Any]:
    """The candidate: its own text, unchanged, and a wrapper that writes into given outputs."""
    spec: dict[str, Any] = {"target_hardware": ["LOCAL"], "destination_passing_style": True}
    if task.backend == "cuda":
        sources = {"wrapper.cpp": binding(task, form.layout), "candidate.cu": task.text}
        spec |= {"languages": ["cuda_cpp"], "entry_point": "wrapper.cpp::entry"}
        spec["compile_options"] = {"cuda_cflags": ["-O2", *task.flags], "ld_flags": []}
    else:
        inputs = ", ".join(arg.name for arg in form.layout.inputs)
        outputs = ", ".join(arg.name for arg in form.layout.outputs)
        wrapper = SOLUTION.format(
            form=task.form.replace("Form(", "_Form("),
            tensors=f"{inputs}, {outputs}",
            inputs=inputs,
            outputs=outputs,
        )
        sources = {"candidate.py": task.text + wrapper}
        spec |= {"languages": ["triton"], "entry_point": "candidate.py::kopt_entry"}
    return {
        "name": "candidate",
        "definition": form.spec.name,
        "author": "kopt",
        "spec": spec,
        "sources": [{"path": path, "content": text} for path, text in sources.items()],
    }


def binding(task: PeerTask, layout: Layout) -> str:
    """Its extension module: tensors come as inputs, then outputs; `solve` has its own order."""
    places = {arg.name: i for i, arg in enumerate((*layout.inputs, *layout.outputs))}
    parameters = read_parameters(task.text, Path(task.source).name)
    types = ["void*" if one.pointer else one.type for one in parameters]
    values = [
        repr(arg.value) if isinstance(arg, ScalarArg) else f"at[{places[arg.name]}]"
        for arg in layout.args
    ]
    return BINDING.format(types=", ".join(types), count=len(places), arguments=", ".join(values))


def evaluate(task: PeerTask, form: Form) -> PeerAnswer:
    """Package, compile where needed, drive, and read the trace that the driver prints."""
    # Their folder is on the path of this process alone, see `ask`.
    core: Any = importlib.import_module("sol_execbench.core")
    driver: Any = importlib.import_module("sol_execbench.driver")
    packager = driver.ProblemPackager(
        definition=core.Definition(**definition(task, form)),
        workloads=[core.Workload(**workload(form))],
        solution=core.Solution(**solution(task, form)),
        config=core.BenchmarkConfig(),
        output_dir=Path(task.folder) / "staging",
        keep_output_dir=True,
    )
    if task.backend == "cuda":
        built = _run(packager.compile()[0][1:], packager.output_dir, COMPILE_S)
        if built.returncode:
            return PeerAnswer(Opinion.REFUSED, f"not compiled: {_last(built.stderr)}")
    packager.execute()
    done = _run(["-m", MODULE, DRIVE], packager.output_dir, RUN_S)
    traces = packager.convert_stdout_to_traces(done.stdout)
    if not traces:
        words = f"no trace, exit status {done.returncode}: {_last(done.stderr)}"
        return PeerAnswer(Opinion.DIED, words)
    return _answer(json.loads(traces[-1].model_dump_json())["evaluation"])


def _run(arguments: list[str], folder: Path, limit_s: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=limit_s,
        env=os.environ | {"PYTORCH_ALLOC_CONF": "expandable_segments:True"},
    )


def _last(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:200]


def _answer(evaluation: dict[str, Any]) -> PeerAnswer:
    status = evaluation["status"]
    if status != "PASSED":
        found = Opinion.FLAGGED if status == "REWARD_HACK" else Opinion.REFUSED
        return PeerAnswer(found, f"{status}: {_last(evaluation['log'])}")
    times = evaluation["performance"]
    time_us, reference_us = times["latency_ms"] * 1e3, times["reference_latency_ms"] * 1e3
    return PeerAnswer(Opinion.CORRECT, "", time_us, reference_us, times["speedup_factor"] > 1)


def drive() -> None:
    """Their driver in this process, as its own main program.

    Without cupti-python their timing by CUDA events takes the place of the one by CUPTI.
    """
    lacks_cupti = bool(stand_in_for("cupti"))
    timing: Any = importlib.import_module("sol_execbench.core.bench.timing")
    method = {"methodology": "cuda_events"} if lacks_cupti else {}
    timing.time_runnable = turn_to_time()(partial(timing.time_runnable, **method))
    runpy.run_path("eval_driver.py", run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1] == DRIVE:
        drive()
    else:
        answer_with(evaluate, no_form)
