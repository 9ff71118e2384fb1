"""Run as a module: each shipped Triton v0 on the cases of Triton's interpreter.

Or, with a folder, each of its files `<problem>.<anything>.py` in the place of v0, which is also
compiled for a GPU that is not here. Prints JSON: file → the largest error of any case and output,
as a share of its tolerance.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from campaigns.evaluator.backends.triton import compile_for
from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.evaluator.interpreter import stand_in
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Reference
from campaigns.evaluator.sandbox.processes import describe_status, fork
from tests.campaigns.problems.margins import Run, named_files, print_margins

TARGET = "sm_90"


def mend_interpreter() -> None:
    """Have it multiply values of bfloat16, and round to short floats; it does both with bits."""
    from triton import language as tl
    from triton.runtime import interpreter

    multiplied = interpreter.InterpreterBuilder.create_dot
    converted = interpreter._convert_float
    rounded = {tl.bfloat16: torch.bfloat16, tl.float8e4nv: torch.float8_e4m3fn}

    def convert(data: Any, of: Any, to: Any, mode: Any) -> Any:
        if of != tl.float32 or to not in rounded:
            return converted(data, of, to, mode)
        values = torch.from_numpy(np.ascontiguousarray(data).view(np.float32)).to(rounded[to])
        bits = torch.int16 if to == tl.bfloat16 else torch.uint8
        return values.view(bits).numpy().view(np.uint16 if to == tl.bfloat16 else np.uint8)

    def widened(handle: Any) -> Any:
        if handle.dtype.scalar != tl.bfloat16:
            return handle
        bits = np.ascontiguousarray(handle.data).astype(np.uint32) << 16
        return interpreter.TensorHandle(bits.view(np.float32), tl.float32)

    def create_dot(self: Any, a: Any, b: Any, *more: Any) -> Any:
        return multiplied(self, widened(a), widened(b), *more)

    interpreter._convert_float = convert
    interpreter.InterpreterBuilder.create_dot = create_dot


def load(path: Path) -> Run:
    return runpy.run_path(str(path))["run_kernel"]


def compile_all(files: Mapping[Path, ProblemSpec]) -> int:
    """In a process that does not interpret; each file in another one, which a compiler may end."""
    importlib.import_module("triton")
    for path, spec in files.items():
        child = fork(lambda s=spec, p=path: compile_cases(s, p), sys.stderr.fileno())
        wait(child, f"{path.name} for {TARGET}: ")
    return 0


def compile_cases(spec: ProblemSpec, path: Path) -> int:
    reference = Reference(ProblemCode(spec.folder))
    for case in spec.cases_of("triton", "cpu"):
        compile_for(TARGET, path, reference.layout(case.case, "cpu"))
    return 0


def wait(child: int, what: str) -> None:
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(f"{what}{describe_status(status)}")


if __name__ == "__main__":
    kernels = named_files("triton")
    if sys.argv[1:]:
        wait(fork(lambda: compile_all(kernels), sys.stderr.fileno()), "")
    os.environ["TRITON_INTERPRET"] = "1"
    stand_in.put_in(TARGET)
    mend_interpreter()
    print_margins(kernels, load)
