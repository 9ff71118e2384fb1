"""How long making inputs and comparing answers takes, by torch operations and by kernels.

Run `python -m campaigns.evaluator.judge.correctness.proof_times DEVICE MIB REPEATS`; prints JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping

import torch

from campaigns.evaluator.judge.correctness.compare import Tolerance
from campaigns.evaluator.judge.correctness.one_pass import passes_for
from campaigns.evaluator.judge.correctness.passes import InputMix, Passes, RowWindows, TorchPasses

# Slots of 16 MiB, as of a matrix of 2048 by 2048 float32.
WIDTH = 1 << 22
ROW_MIB = 4 * WIDTH >> 20
EXACT, TOLERANCE = 0xFF, Tolerance(1e-5, 1e-4, 1e-4)
Work = Callable[[], object]


def work(passes: Passes, device: torch.device, rows: int) -> Mapping[str, Work]:
    """By name what to take the time of, over `rows` slots."""
    numbers = torch.arange(2 * WIDTH + 4 * rows, dtype=torch.int32, device=device) * 40_503
    place = RowWindows(numbers, 1, 3)
    mixture = InputMix(place, numbers ^ 97_003, RowWindows(-(numbers & 1), 2, 1), place, EXACT)
    into = torch.zeros((rows, WIDTH), dtype=torch.int32, device=device)
    want = torch.rand((rows, WIDTH), device=device)
    found = want.clone()
    return {
        "make": lambda: passes.mix(mixture, into),
        "compare": lambda: passes.close(found, want, TOLERANCE),
        "copy": lambda: found.copy_(want),
    }


def seconds(act: Work, device: torch.device) -> float:
    wait: Work = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    wait()
    begun = time.perf_counter()
    act()
    wait()
    return time.perf_counter() - begun


def main(name: str, mib: int, repeats: int) -> None:
    device, told = torch.device(name), list[str]()
    if device.type == "cuda":
        torch.cuda.set_device(device)
    rows = max(1, mib // ROW_MIB)
    ours = work(passes_for(device, [torch.float32], told.append), device, rows)
    steps = work(TorchPasses(), device, rows)
    acts = {**ours, "make in steps": steps["make"], "compare in steps": steps["compare"]}
    for act in acts.values():
        seconds(act, device)
    taken: dict[str, list[float]] = {each: [] for each in acts}
    for _ in range(repeats):
        for each, act in acts.items():
            taken[each].append(seconds(act, device))
    print(json.dumps({"mib": rows * ROW_MIB, "notes": told, "seconds": taken}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
