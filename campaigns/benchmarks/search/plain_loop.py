"""The plain loop: each variant is compiled, checked once and timed by do_bench, one after another.

Run as a program, without any of kopt's locks, which is what it stands for. Reads JSON from standard
input: the problem's folder, a case's parameters, and sources; writes a line for each: a time in µs,
or null.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> int:
    task = json.load(sys.stdin)
    import torch
    from triton.testing import do_bench

    folder = Path(task["folder"])
    ref = _module(folder / "ref.py", "ref")
    made = ref.setup(**task["params"], seed=1, device="cuda")
    inputs, outputs = made["inputs"], made["outputs"]
    want = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in inputs.items()}
    ref.reference(**want)
    for number, text in enumerate(task["sources"]):
        time_us = None
        try:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / f"v{number}.py"
                path.write_text(text)
                kernel = _module(path, f"v{number}").run_kernel
                kernel(**inputs)
                torch.cuda.synchronize()
                right = all(
                    torch.allclose(inputs[name], want[name], rtol=1e-3, atol=1e-3)
                    for name in outputs
                )
                took_ms = do_bench(lambda run=kernel: run(**inputs), return_mode="median")
                time_us = float(took_ms) * 1e3 if right else None
        except Exception as error:  # noqa: BLE001 - a variant may fail in any way
            print(f"v{number}: {error}", file=sys.stderr)
        print(json.dumps(time_us), flush=True)
    return 0


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
