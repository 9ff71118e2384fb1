"""Runs the judge's kernels in Triton's interpreter, and compiles them for a GPU that is not here.

    python -m tests.evaluator.one_pass_check

Prints {what was tried: what came of it} as JSON. A process of its own, because Triton decides at
import whether to interpret.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys

import torch

from campaigns.evaluator.builds.judge_loops import TritonPasses
from campaigns.evaluator.interpreter.stand_in import install_stub
from campaigns.evaluator.judge.correctness.one_pass import (
    WIDE,
    InputMix,
    RowWindows,
    TorchPasses,
    agrees,
)
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, quick
from campaigns.evaluator.reference.memory import as_integers
from campaigns.evaluator.sandbox.processes import fork

# One element, one block, and a rest behind it.
WIDTHS = (1, 1024, 1500)
INTEGERS = (torch.uint8, torch.int16, torch.int32, torch.int64)
TOLERANCE = Tolerance(atol=1e-3, rtol=1e-2, norm=1e-3, usual=0.5)
LOOSE = Tolerance(atol=1e-3, rtol=1e-2)
POINTERS = {torch.uint8: "*u8", torch.int16: "*i16", torch.int32: "*i32", torch.int64: "*i64"}
FLOATS = {
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.float32: "*fp32",
    torch.float64: "*fp64",
}


def main() -> None:
    _, status = os.waitpid(fork(compile_all, sys.stderr.fileno()), 0)
    if status:
        raise SystemExit("the kernels do not compile")
    os.environ["TRITON_INTERPRET"] = "1"
    install_stub("sm_90")
    kernels, found = TritonPasses(), {}
    for width in WIDTHS:
        for dtype in INTEGERS:
            found[f"mix {dtype} {width}"] = mixes(kernels, dtype, width)
        for dtype in (torch.float32, torch.float64):
            found[f"close {dtype} {width}"] = closes(kernels, dtype, width)
    found["infinite"] = infinite(kernels)
    found["huge"] = huge(kernels)
    for dtype in (torch.int32, torch.bool):
        found[f"no float {dtype}"] = no_float(kernels, dtype)
    # The interpreter computes bfloat16 wrongly.
    for dtype in set(WIDE) - {torch.bfloat16}:
        found[f"agrees {dtype}"] = agrees(kernels, dtype, torch.device("cpu"))
    print(json.dumps(found))


def compile_all() -> int:
    """In a process that does not interpret."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernels = importlib.import_module("campaigns.evaluator.judge.correctness.one_pass_kernels")
    target = GPUTarget("cuda", 90, 32)
    numbers = dict.fromkeys(("stride", "at", "at_step", "chosen", "chosen_step"), "i64")
    numbers |= dict.fromkeys(("drawn", "drawn_step", "rows", "width"), "i64")
    for dtype, pointer in POINTERS.items():
        signature = dict.fromkeys(("into", "one", "difference", "pattern", "bits"), pointer)
        constants = {"EXACT": 0xFF, "SIGN": 8 * dtype.itemsize - 1, "BLOCK": kernels.BLOCK}
        signature = signature | numbers | dict.fromkeys(constants, "constexpr")
        in_order = {name: signature[name] for name in kernels.mix_rows.arg_names}
        triton.compile(ASTSource(kernels.mix_rows, in_order, constants), target=target)
    for dtype, pointer in FLOATS.items():
        signature = {"found": pointer, "found_stride": "i64", "want": pointer, "want_stride": "i64"}
        signature |= {"accepted": "*fp64", "wrong": "*i32", "errors": "*fp64", "sizes": "*fp64"}
        wide = getattr(kernels.tl, str(WIDE[dtype]).removeprefix("torch."))
        constants = {"WIDE": wide, "BLOCK": kernels.BLOCK}
        signature |= {"width": "i64"} | dict.fromkeys(constants, "constexpr")
        triton.compile(ASTSource(kernels.close_rows, signature, constants), target=target)
    return 0


def integers(count: int, dtype: torch.dtype, seed: int) -> torch.Tensor:
    info = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(seed)
    made = torch.randint(info.min, info.max, (count,), generator=generator, dtype=torch.int64)
    return made.to(dtype)


def mixes(kernels: TritonPasses, dtype: torch.dtype, width: int) -> bool:
    """Whether the same bits come to be, in rows that lie apart, and nothing between them."""
    rows, size = 3, 4 * width + 200
    one, other, bits = (integers(size, dtype, seed) for seed in range(3))
    pattern = (integers(size, dtype, 3) & 1).neg_()
    last = RowWindows(bits, 9, 13) if dtype in (torch.int32, torch.int64) else None
    mixture = InputMix(RowWindows(one, 1, 7), other, RowWindows(pattern, 4, 11), last, 0xFF)
    made, wanted = (torch.zeros(rows, width + 5, dtype=dtype) for _ in range(2))
    kernels.mix(mixture, made[:, 2:-3])
    TorchPasses().mix(mixture, wanted[:, 2:-3])
    return bool(wanted[:, 2:-3].any()) and torch.equal(made, wanted)


def closes(kernels: TritonPasses, dtype: torch.dtype, width: int) -> dict[str, list[bool]]:
    """By a fault in an answer: is it right by the kernels, and by torch operations?"""
    generator = torch.Generator().manual_seed(width)
    answers = torch.rand(1, width, generator=generator, dtype=dtype) * 0.2 + 0.1
    faults = {
        "none": lambda row: None,
        "a small error": lambda row: row[-1].add_(1e-5),
        "the last one": lambda row: row[-1].add_(1),
        "a NaN": lambda row: row[0].fill_(math.nan),
        "infinite": lambda row: row[0].fill_(math.inf),
        "huge": lambda row: row[0].fill_(torch.finfo(dtype).max),
        "the wrong sign": lambda row: row.neg_(),
        "all a little": lambda row: row.mul_(1.009).add_(9e-4),
    }
    found = answers.repeat(len(faults), 1)
    for row, spoil in zip(found, faults.values(), strict=True):
        spoil(row)
    want = answers.expand(found.shape).contiguous()
    apart = torch.zeros(len(found), width + 3, dtype=dtype)
    apart[:, 1:-2] = found
    ours = kernels.close(apart[:, 1:-2], want, TOLERANCE).tolist()
    theirs = quick(found, want, TOLERANCE).tolist()
    return dict(zip(faults, zip(ours, theirs, strict=True), strict=True))


def infinite(kernels: TritonPasses) -> list[bool]:
    want = torch.tensor([[math.inf, 1.0], [1.0, -math.inf], [1.0, 2.0]])
    found = torch.tensor([[math.inf, 1.0], [1.0, math.inf], [1.0, 2.0]])
    return kernels.close(found, want, LOOSE).tolist()


def huge(kernels: TritonPasses) -> list[bool]:
    """Right but for the norm in the second, whose square is no float32."""
    want = torch.full((2, 4), 1e30)
    found = want.clone()
    found[1] *= 1.005
    return kernels.close(found, want, TOLERANCE).tolist()


def no_float(kernels: TritonPasses, dtype: torch.dtype) -> list[bool]:
    want = torch.tensor([[0, 1], [1, 1]]).to(dtype)
    found = as_integers(want.clone()).view(dtype)
    found[1, 0] = 0
    return kernels.close(found, want, Tolerance(0, 0, exact=True)).tolist()


if __name__ == "__main__":
    main()
