"""Making inputs and comparing answers: two passes over all of a burst's memory.

Here by torch operations, on every device. Faster ones (`campaigns.evaluator.builds.judge_loops`)
are used where they agree with these. All that a check calls, and positions of every timed output
that are drawn in secret, are compared without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import torch

from campaigns.evaluator.judge.correctness.arena import copy_of
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, quick
from campaigns.evaluator.reference.memory import as_integers

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


@dataclass(frozen=True, slots=True)
class RowWindows:
    """Windows into a flat tensor: row r begins at `start + r * step`."""

    flat: torch.Tensor
    start: int
    step: int

    def rows(self, count: int, width: int) -> torch.Tensor:
        return self.flat.as_strided((count, width), (self.step, 1), self.start)


@dataclass(frozen=True, slots=True)
class InputMix:
    """Integers one ^ (difference & pattern), with the last bits of inexact values exchanged.

    difference: has the windows of `one`. last: bits for values in which a bit of `exact` is set;
    None leaves all as they are.
    """

    one: RowWindows
    difference: torch.Tensor
    pattern: RowWindows
    last: RowWindows | None = None
    exact: int = 0


class Passes(Protocol):
    """Both passes."""

    def mix(self, mixture: InputMix, into: torch.Tensor) -> None:
        """Write a mixture into [rows, width] of integers."""

    def close(
        self, found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance
    ) -> torch.Tensor:
        """[answers] True where an answer is right; False: compare closely.

        found, expected: [answers, elements]. A runner can write to `found`, so every element is
        read once.
        """


class TorchPasses:
    """Both passes by torch operations, each of which reads and writes all of the memory."""

    def __init__(self) -> None:
        # By dtype; in one piece of memory, since touching new pages costs more than the work.
        self._masks: dict[torch.dtype, torch.Tensor] = {}

    def mix(self, mixture: InputMix, into: torch.Tensor) -> None:
        rows, width = into.shape
        one = mixture.one
        difference = RowWindows(mixture.difference, one.start, one.step).rows(rows, width)
        torch.bitwise_and(difference, mixture.pattern.rows(rows, width), out=into)
        into.bitwise_xor_(one.rows(rows, width))
        if mixture.last is None:
            return
        mask = self._masks.get(into.dtype)
        if mask is None or mask.shape != into.shape:
            mask = torch.empty_like(into, memory_format=torch.contiguous_format)
            self._masks[into.dtype] = mask
        # All ones where the value is inexact: a negative number's sign, shifted down.
        torch.bitwise_and(into, mixture.exact, out=mask).neg_()
        mask.bitwise_right_shift_(8 * into.element_size() - 1)
        into.bitwise_xor_(mask.bitwise_and_(mixture.last.rows(rows, width)))

    def close(
        self, found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance
    ) -> torch.Tensor:
        return quick(copy_of(found), expected, tolerance)


def passes_for(
    device: torch.device,
    dtypes: Iterable[torch.dtype],
    note: Callable[[str], None],
    faster: Callable[[torch.device], Passes | None],
) -> Passes:
    """Triton kernels on a GPU and loops in C++ on a CPU, if they agree with torch operations.

    Torch operations where they do not, or where there are none. note: called with the reason.
    dtypes: what is made and compared, so that all is compiled before a candidate is loaded. faster:
    see `Aids`.
    """
    ours = "Triton kernels" if device.type == "cuda" else "C++ loops"
    try:
        made = faster(device)
        if made is None:
            return TorchPasses()
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
