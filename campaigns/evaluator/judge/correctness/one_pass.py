"""Making inputs and comparing answers in one pass over memory each, by Triton kernels.

As torch operations the two take some fifty passes over all slots of a burst, which on a GPU is most
of an evaluation's time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from campaigns.evaluator.judge.arena import as_integers
from campaigns.evaluator.judge.correctness.one_pass_cpu import NativePasses
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, within_norm
from campaigns.evaluator.judge.correctness.passes import InputMix, Passes, RowWindows, TorchPasses
from campaigns.evaluator.sandbox.judge_lock import KERNELS

# The dtypes that are compared here, and the precision of the comparison.
WIDE = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.float64: torch.float64,
}
# Rows and elements of a trial; the last block of a row is not full.
TRIED = (3, 1500)
TRIED_TOLERANCE = Tolerance(1e-2, 1e-2, 1e-2)


class TritonPasses:
    """The Triton kernels. Raises what Triton raises where it cannot run them."""

    def __init__(self) -> None:
        from campaigns.evaluator.judge.correctness import one_pass_kernels as kernels

        self._kernels: Any = kernels
        self._in_steps = TorchPasses()

    def mix(self, mixture: InputMix, into: torch.Tensor) -> None:
        rows, width = into.shape
        one, pattern, kernels = mixture.one, mixture.pattern, self._kernels
        last = mixture.last or pattern
        kernels.mix_rows[(rows * -(-width // kernels.BLOCK),)](
            *(into, into.stride(0), one.flat, mixture.difference, one.start, one.step),
            *(pattern.flat, pattern.start, pattern.step, last.flat, last.start, last.step),
            *(rows, width),
            EXACT=mixture.exact if mixture.last else 0,
            SIGN=8 * into.element_size() - 1,
            BLOCK=kernels.BLOCK,
        )

    def close(
        self, found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance
    ) -> torch.Tensor:
        if expected.dtype not in WIDE or found.dtype is not expected.dtype or not found.numel():
            return self._in_steps.close(found, expected, tolerance)
        rows, width = found.shape
        kernels, device = self._kernels, found.device
        blocks = -(-width // kernels.BLOCK)
        most = torch.finfo(expected.dtype).max
        accepted = torch.tensor([tolerance.rtol, tolerance.atol, most], dtype=torch.float64)
        wrong = torch.empty((rows, blocks), dtype=torch.int32, device=device)
        sums = torch.empty((2, rows, blocks), dtype=torch.float64, device=device)
        kernels.close_rows[(rows * blocks,)](
            *(found, found.stride(0), expected, expected.stride(0)),
            *(accepted.to(device), wrong, sums[0], sums[1], width),
            WIDE=getattr(kernels.tl, str(WIDE[expected.dtype]).removeprefix("torch.")),
            BLOCK=kernels.BLOCK,
        )
        errors, sizes = sums.sum(2).sqrt()
        return (wrong == 0).all(1) & within_norm(errors, sizes, tolerance)


def passes_for(
    device: torch.device, dtypes: Iterable[torch.dtype], note: Callable[[str], None]
) -> Passes:
    """Triton kernels on a GPU and loops in C++ on a CPU, if they agree with torch operations.

    Torch operations where they do not, or where the service names no folder for the loops. note:
    called with the reason. dtypes: what is made and compared, so that all is compiled before a
    candidate is loaded.
    """
    if device.type != "cuda" and KERNELS not in os.environ:
        return TorchPasses()
    ours = "Triton kernels" if device.type == "cuda" else "C++ loops"
    try:
        made: Passes
        made = TritonPasses() if device.type == "cuda" else NativePasses(Path(os.environ[KERNELS]))
        wrong = [
            str(dtype) for dtype in dtypes if dtype in WIDE and not agrees(made, dtype, device)
        ]
    except Exception as error:  # noqa: BLE001 - it costs time, and nothing else
        said = f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]
        note(f"the judge uses torch operations, which are slower: its {ours} failed ({said})")
        return TorchPasses()
    if wrong:
        note(f"the judge uses torch operations: its {ours} are wrong for {', '.join(wrong)}")
        return TorchPasses()
    return made


def agrees(passes: Passes, dtype: torch.dtype, device: torch.device) -> bool:
    """Whether these agree with torch operations on a few rows."""
    rows, width = TRIED
    steps, bits = TorchPasses(), as_integers(torch.empty(0, dtype=dtype)).dtype
    numbers = torch.arange(4 * width, dtype=torch.int64, device=device)
    # Any bits will do, of which all values have some.
    some, other, last = ((numbers * prime).to(bits) for prime in (2_654_435_761, 40_503, 97_003))
    pattern = (numbers // 7 % 2).to(bits).neg_()
    drawn = RowWindows(last & 0xFF, 5, 7) if bits in (torch.int32, torch.int64) else None
    mixture = InputMix(RowWindows(some, 3, 11), other, RowWindows(pattern, 17, 13), drawn, 0xFF)
    made, wanted = (torch.empty((rows, width), dtype=bits, device=device) for _ in range(2))
    passes.mix(mixture, made)
    steps.mix(mixture, wanted)
    answers = (numbers[: rows * width] % 100 / 50 - 1).to(dtype).view(rows, width)
    found = answers.clone()
    found[1, -1] += 0.5
    found[2, 0] = torch.nan
    close = passes.close(found, answers, TRIED_TOLERANCE)
    return bool(torch.equal(made, wanted)) and close.tolist() == [True, False, False]
