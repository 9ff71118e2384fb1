"""Runs printed Triton sources in Triton's interpreter: `python -m … FOLDER`.

Prints {name: largest error} as JSON. A process of its own, because Triton decides at import whether
to interpret.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
F32 = "float32"
INPUTS = {
    "softmax": [("input", F32), ("output", F32), ("N", "int"), ("D", "int")],
    "silu": [("gate", F32), ("up", F32), ("out", F32)],
    "rms": [("x", F32), ("w", F32), ("out", F32), ("N", "int"), ("D", "int")],
    "linear": [
        *(("x", F32), ("residual", F32), ("fc_weight", F32), ("fc_bias", F32), ("out", F32)),
        ("rows", "int"),
    ],
}


def main(folder: Path) -> None:
    os.environ["TRITON_INTERPRET"] = "1"
    from campaigns.evaluator.interpreter.libdevice import put_in
    from campaigns.evaluator.interpreter.stand_in import install_stub

    install_stub("sm_90")
    put_in()
    import torch

    torch.manual_seed(0)
    x, w, out = torch.randn(9, 300), torch.randn(300), torch.zeros(9, 300)
    wide, other, flat = (torch.randn(256, 1024) for _ in range(3))
    normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w
    rows, added, weight, bias = (torch.randn(s) for s in ((37, 48), (37, 80), (80, 48), (80,)))
    linear, called = torch.zeros(37, 80), (rows, added, weight, bias)
    gelu = torch.nn.functional.gelu(rows @ weight.T + bias, approximate="tanh") + added
    calls = {
        "softmax": ((x, out, 9, 300), out, torch.softmax(x, -1)),
        "silu": ((wide, other, flat), flat, torch.nn.functional.silu(wide) * other),
        "rms": ((x, w, out, 9, 300), out, normed),
        "linear": ((*called, linear, 37), linear, gelu),
    }
    errors = {}
    for path in sorted(folder.glob("*.py")):
        name = path.stem
        given, found, right = calls[name.split("-")[0]]
        found.zero_()
        spec = importlib.util.spec_from_file_location("printed", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.run_kernel(*given)
        errors[name] = (found - right).abs().max().item()
    print(json.dumps(errors))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
