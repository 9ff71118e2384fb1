"""The plain loop: each variant is compiled, checked once and timed, one after another.

Run as a program, without any of kopt's locks, which is what it stands for. Reads JSON from standard
input: the problem's folder, the device, a case's parameters, the compiler's words for C++ and CUDA,
and sources; writes a line for each: a time in µs, or null. A GPU is timed by do_bench, a CPU alike.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

WARM_S, TIMED_S = 0.025, 0.1  # as do_bench has them


def main() -> int:
    task = json.load(sys.stdin)
    import torch

    folder, device = Path(task["folder"]), task["device"]
    ref = _module(folder / "ref.py", "ref")
    made = ref.setup(**task["params"], seed=1, device=device)
    inputs, outputs = made["inputs"], made["outputs"]
    want = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in inputs.items()}
    ref.reference(**want)
    for number, source in enumerate(task["sources"]):
        time_us = None
        try:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / f"v{number}{Path(source['name']).suffix}"
                path.write_text(source["text"])
                call = _call(path, [*task["compiler"], *source["flags"]], inputs)
                call()
                if device != "cpu":
                    torch.cuda.synchronize()
                right = all(
                    torch.allclose(inputs[name], want[name], rtol=1e-3, atol=1e-3)
                    for name in outputs
                )
                time_us = _time_us(call, device) if right else None
        except Exception as error:  # noqa: BLE001 - a variant may fail in any way
            print(f"v{number}: {error}", file=sys.stderr)
        print(json.dumps(time_us), flush=True)
    return 0


def _call(path: Path, compiler: Sequence[str], inputs: dict[str, Any]) -> Callable[[], object]:
    """One call of the source: `run_kernel` of Python, else `solve` of what is compiled."""
    import torch

    if path.suffix == ".py":
        kernel = _module(path, path.stem).run_kernel
        return lambda: kernel(**inputs)
    library = path.with_suffix(".so")
    subprocess.run([*compiler, str(path), "-o", str(library)], check=True, capture_output=True)
    solve = ctypes.CDLL(str(library)).solve
    given = [
        ctypes.c_void_p(value.data_ptr()) if isinstance(value, torch.Tensor) else value
        for value in inputs.values()
    ]
    return lambda: solve(*given)


def _time_us(call: Callable[[], object], device: str) -> float:
    """The median of so many calls as fit the time that do_bench takes."""
    if device != "cpu":
        from triton.testing import do_bench

        return float(do_bench(call, return_mode="median")) * 1e3
    took_s: list[float] = []
    for limit_s in (WARM_S, TIMED_S):
        took_s, left_s = [], limit_s
        while left_s > 0:
            begun = time.perf_counter()
            call()
            took_s.append(time.perf_counter() - begun)
            left_s -= took_s[-1]
    return median(took_s) * 1e6


def _module(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
