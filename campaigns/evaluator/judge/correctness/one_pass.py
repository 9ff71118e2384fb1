"""Making inputs and comparing answers in one pass over memory each: Triton kernels, loops in C++.

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
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from campaigns.evaluator.builds.memory_files import loadable
from campaigns.evaluator.contract.job import KERNELS
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, within_norm
from campaigns.evaluator.judge.correctness.passes import InputMix, Passes, RowWindows, TorchPasses
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
SOURCE = Path(__file__).with_name("one_pass_cpu.cpp")
COMPILERS = ("g++", "clang++")
# Rounded as torch rounds; NaN and infinity keep their meaning.
FLAGS = (
    *("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC"),
    *("-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"),
)
BUILD_LIMIT_S = 60
COMPARED = {torch.float32: "close_4", torch.float64: "close_8"}
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64


class NativePasses:
    """The loops in C++. Raises OSError or SubprocessError where they cannot be had."""

    def __init__(self, folder: Path) -> None:
        self._library = load(built(folder))
        self._in_steps = TorchPasses()

    def mix(self, mixture: InputMix, into: torch.Tensor) -> None:
        rows, width = into.shape
        if not _in_rows(into):
            self._in_steps.mix(mixture, into)
            return
        # Made by torch, which refuses windows that reach out of their tensor.
        one, pattern = mixture.one.rows(rows, width), mixture.pattern.rows(rows, width)
        difference = RowWindows(mixture.difference, mixture.one.start, mixture.one.step)
        other = difference.rows(rows, width)
        last = mixture.last.rows(rows, width) if mixture.last else None
        parts = (one, other, pattern, one if last is None else last)
        if any(part.dtype is not into.dtype or not _in_rows(part) for part in parts):
            self._in_steps.mix(mixture, into)
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
            return self._in_steps.close(found, expected, tolerance)
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


def built(folder: Path) -> Path:
    """The shared object in `folder`, compiled for this processor first if it is not there.

    Raises PermissionError where others could write to the folder.
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
    if not _is_ours(library):
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


def load(library: Path) -> dict[str, Any]:
    """The loops by name. Raises OSError where the file is not the judge's alone."""
    # What was looked at is what is loaded.
    fd = os.open(library, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not _only_ours(os.fstat(fd)):
        os.close(fd)
        raise PermissionError(f"others could have written {library}")
    loaded = ctypes.CDLL(loadable(fd))
    os.close(fd)
    found: dict[str, Any] = {f"mix_{size}": loaded[f"mix_{size}"] for size in (1, 2, 4, 8)}
    for loop in found.values():
        loop.argtypes = [*[POINTER] * 5, ctypes.POINTER(NUMBER), *[NUMBER] * 3]
        loop.restype = None
    for name in COMPARED.values():
        found[name] = loaded[name]
        numbers = ctypes.POINTER(ctypes.c_double)
        found[name].argtypes = [*[POINTER, NUMBER] * 2, NUMBER, NUMBER, numbers, *[POINTER] * 2]
        found[name].restype = None
    return found


def _is_ours(library: Path) -> bool:
    try:
        return _only_ours(os.lstat(library))
    except FileNotFoundError:
        return False


def _only_ours(about: os.stat_result) -> bool:
    """A plain file under one name that nobody else could have written."""
    others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    plain = stat.S_ISREG(about.st_mode) and about.st_nlink == 1
    return plain and about.st_uid == os.geteuid() and not others


def _processor() -> str:
    """What -march=native looks at: a data folder may be shared by several hosts."""
    wanted = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    return "\n".join([platform.machine(), *(x for x in lines if x.startswith(wanted))])


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
