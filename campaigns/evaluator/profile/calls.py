"""The program that a profiler watches for a candidate in Python: it makes a few calls.

Run in the folder of a runner that is locked, on what `ncu` has left there. The first call compiles
and is not counted.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds.python_entry import entry_of, load_candidate
from campaigns.evaluator.builds.python_error import FILE
from campaigns.evaluator.contract.layout import Layout, ScalarArg
from campaigns.evaluator.sanitizers.harness import INPUTS

LAYOUT = "layout.pickle"


def main(device: str, calls: str) -> None:
    import torch

    # Ours: written before any of the candidate's code ran here.
    layout: Layout = pickle.loads(Path(LAYOUT).read_bytes())
    given: dict[str, Any] = {}
    with Path(INPUTS).open("rb") as file:
        for arg in layout.args:
            if isinstance(arg, ScalarArg):
                given[arg.name] = arg.value
                continue
            flat = torch.frombuffer(bytearray(file.read(arg.nbytes)), dtype=torch.uint8)
            typed = flat.view(getattr(torch, arg.dtype)).reshape(arg.shape)
            given[arg.name] = typed.to(device)
    run = entry_of(load_candidate(Path(FILE).resolve()), layout, FILE)
    run(**given)
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    for _ in range(int(calls)):
        run(**given)
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    # What it has started may still wait for work, and nothing of it is undone.
    os._exit(0)
