"""Making inputs and comparing answers: two passes over all of a burst's memory.

As torch operations, which any device has, the two take some fifty passes over all slots of a burst.
On a GPU that is most of an evaluation's time, and on a CPU a dozen are most of a trial of a small
kernel. So there is a Triton kernel (`one_pass_kernels`) and a loop in C++ (`one_pass_cpu.cpp`) for
each; they are used where they agree with the torch operations.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from campaigns.evaluator.judge.correctness.arena import copy_of
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, quick, within_norm
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
COMPARED = {torch.float32: "close_4", torch.float64: "close_8"}
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64
_loads = itertools.count()


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


class NativePasses(TorchPasses):
    """The loops in C++ of a shared object. Raises OSError where it is not the judge's alone."""

    def __init__(self, library: Path) -> None:
        super().__init__()
        # What was looked at is what is loaded.
        fd = os.open(library, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not only_ours(os.fstat(fd)):
                raise PermissionError(f"others could have written {library}")
            # The loader takes a name that it knows for the library that it has loaded under it.
            loaded = ctypes.CDLL(f"/proc/self/{'./' * next(_loads)}fd/{fd}")
        finally:
            os.close(fd)
        mix = [*[POINTER] * 5, ctypes.POINTER(NUMBER), *[NUMBER] * 3]
        numbers = ctypes.POINTER(ctypes.c_double)
        close: list[Any] = [POINTER, NUMBER, POINTER, NUMBER, NUMBER, NUMBER, numbers]
        types: dict[str, list[Any]] = {f"mix_{size}": mix for size in (1, 2, 4, 8)}
        types |= {name: [*close, POINTER, POINTER] for name in COMPARED.values()}
        self._library: dict[str, Any] = {name: loaded[name] for name in types}
        for name, loop in self._library.items():
            loop.argtypes, loop.restype = types[name], None

    def mix(self, mixture: InputMix, into: torch.Tensor) -> None:
        rows, width = into.shape
        if not _in_rows(into):
            super().mix(mixture, into)
            return
        # Made by torch, which refuses windows that reach out of their tensor.
        one, pattern = mixture.one.rows(rows, width), mixture.pattern.rows(rows, width)
        difference = RowWindows(mixture.difference, mixture.one.start, mixture.one.step)
        other = difference.rows(rows, width)
        last = mixture.last.rows(rows, width) if mixture.last else None
        parts = (one, other, pattern, one if last is None else last)
        if any(part.dtype is not into.dtype or not _in_rows(part) for part in parts):
            super().mix(mixture, into)
            return
        steps = (into.stride(0), mixture.one.step, mixture.pattern.step)
        drawn = mixture.last.step if mixture.last else 0
        self._library[f"mix_{into.element_size()}"](
            *(into.data_ptr(), one.data_ptr(), other.data_ptr(), pattern.data_ptr()),
            None if last is None else last.data_ptr(),
            *((NUMBER * 4)(*steps, drawn), rows, width, mixture.exact),
        )

    def close(
        self, found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance
    ) -> torch.Tensor:
        alike = found.dtype is expected.dtype and found.shape == expected.shape
        usual = alike and expected.dtype in COMPARED and found.numel()
        if not (usual and _in_rows(found) and _in_rows(expected)):
            return super().close(found, expected, tolerance)
        rows, width = found.shape
        most = torch.finfo(expected.dtype).max
        accepted = (ctypes.c_double * 3)(tolerance.rtol, tolerance.atol, most)
        right = torch.empty(rows, dtype=torch.bool)
        sums = torch.empty((rows, 2), dtype=torch.float64)
        with_norm = math.isfinite(tolerance.norm)
        self._library[COMPARED[expected.dtype]](
            *(found.data_ptr(), found.stride(0), expected.data_ptr(), expected.stride(0)),
            *(rows, width, accepted, right.data_ptr(), sums.data_ptr() if with_norm else None),
        )
        if with_norm:
            errors, sizes = sums.sqrt_().unbind(1)
            right &= within_norm(errors, sizes, tolerance)
        return right


def _in_rows(tensor: torch.Tensor) -> bool:
    """Whether the elements of a row lie side by side."""
    return bool(tensor.device.type == "cpu" and (tensor.shape[1] < 2 or tensor.stride(1) == 1))


def only_ours(about: os.stat_result) -> bool:
    """Whether it is a plain file under one name that nobody else could have written."""
    others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    plain = stat.S_ISREG(about.st_mode) and about.st_nlink == 1
    return plain and about.st_uid == os.geteuid() and not others


class TritonPasses(TorchPasses):
    """The Triton kernels. Raises what Triton raises where it cannot run them."""

    def __init__(self) -> None:
        from campaigns.evaluator.judge.correctness import one_pass_kernels as kernels

        super().__init__()
        self._kernels: Any = kernels

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
            return super().close(found, expected, tolerance)
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
    device: torch.device,
    dtypes: Iterable[torch.dtype],
    note: Callable[[str], None],
    loops: Callable[[], Path] | None = None,
) -> Passes:
    """Triton kernels on a GPU and loops in C++ on a CPU, if they agree with torch operations.

    Torch operations where they do not, or where there are no loops. note: called with the reason.
    dtypes: what is made and compared, so that all is compiled before a candidate is loaded. loops:
    the shared object, see `Aids`.
    """
    if device.type != "cuda" and loops is None:
        return TorchPasses()
    ours = "C++ loops" if loops and device.type != "cuda" else "Triton kernels"
    try:
        made = NativePasses(loops()) if loops and device.type != "cuda" else TritonPasses()
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
