"""The judge's two passes over memory in one pass each: loops in C++, Triton kernels.

As torch operations the two take some fifty passes over all slots of a burst, which on a GPU is most
of an evaluation's time, and on a CPU a dozen, most of a trial of a small kernel. The loops are
compiled on the host that runs them, once, into a folder that no runner can write to.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch

from campaigns.evaluator.builds.memory_files import loadable
from campaigns.evaluator.contract.job import KERNELS
from campaigns.evaluator.judge.correctness.one_pass import (
    WIDE,
    InputMix,
    Passes,
    RowWindows,
    TorchPasses,
)
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, within_norm

SOURCE = Path(__file__).parents[1] / "judge/correctness/one_pass_cpu.cpp"
COMPILERS = ("g++", "clang++")
# Rounded as torch rounds; NaN and infinity keep their meaning.
FLAGS = (
    *("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC"),
    *("-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"),
)
BUILD_LIMIT_S = 60
COMPARED = {torch.float32: "close_4", torch.float64: "close_8"}
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64


def built(folder: Path) -> Path:
    """The shared object in `folder`, compiled for this processor first if it is not there.

    Raises PermissionError where others could write to the folder, FileNotFoundError without a
    compiler, SubprocessError where that fails.
    """
    about = os.stat(folder)
    if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"others can write to {folder}")
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise FileNotFoundError(f"no C++ compiler on PATH; install one of {', '.join(COMPILERS)}")
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    key = hashlib.sha256("\n".join((compiler, *FLAGS, _processor())).encode())
    key.update(SOURCE.read_bytes())
    library = folder / f"one_pass_cpu-{key.hexdigest()[:32]}.so"
    if not (os.path.lexists(library) and _only_ours(os.lstat(library))):
        # Private as well: the compiler's own files must not lie where a runner can write.
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            out = Path(scratch, "made.so")
            subprocess.run(
                [compiler, *FLAGS, str(SOURCE), "-o", str(out)],
                env=kept | {"TMPDIR": scratch, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=True,
                timeout=BUILD_LIMIT_S,
            )
            out.chmod(0o500)
            out.replace(library)
    return library


def _processor() -> str:
    """What -march=native looks at: a data folder may be shared by several hosts."""
    wanted = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    return "\n".join([platform.machine(), *(x for x in lines if x.startswith(wanted))])


class NativePasses(TorchPasses):
    """The loops in C++ of a shared object. Raises OSError where it is not the judge's alone."""

    def __init__(self, library: Path) -> None:
        super().__init__()
        # What was looked at is what is loaded.
        fd = os.open(library, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not _only_ours(os.fstat(fd)):
                raise PermissionError(f"others could have written {library}")
            loaded = ctypes.CDLL(loadable(fd))
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


def _only_ours(about: os.stat_result) -> bool:
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


def faster_passes(device: torch.device) -> Passes | None:
    """Find the passes for a device; None on a CPU where the service names no folder for them.

    Raises what building or loading them raises.
    """
    if device.type == "cuda":
        return TritonPasses()
    folder = os.environ.get(KERNELS)
    return None if folder is None else NativePasses(built(Path(folder)))
