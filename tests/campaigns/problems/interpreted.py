"""Run as a module: each shipped Triton v0 on the cases of Triton's interpreter.

Or, with a folder, each of its files `<problem>.<anything>.py` in the place of v0. Prints JSON:
file → the largest error of any case and output, as a share of its tolerance.
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.campaigns.problems.margins import Run, print_margins


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


if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "1"
    mend_interpreter()
    print_margins("triton", load)
