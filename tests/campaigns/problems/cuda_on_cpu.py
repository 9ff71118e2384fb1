"""Run as a module: each shipped CUDA v0, compiled by g++ for this CPU, on the interpreter's cases.

Or, with a folder, each of its files `<problem>.<anything>.cu` in the place of v0. Prints JSON:
file → the largest error of any case and output, as a share of its tolerance. What the sources
need of CUDA stands in `cuda_on_cpu.h`; memory that a launch sizes (`extern __shared__`) does not.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch

from tests.campaigns.problems.margins import Run, named_files, print_margins

HEADER = Path(__file__).with_suffix(".h")
# `kernel<<<blocks, threads, …>>>(arguments);`, on one line or several.
LAUNCH = re.compile(r"([\w:]+(?:<[^<>;]+>)?)\s*<<<(.+?)>>>\s*(\(.*?\));", re.DOTALL)
CUDA_HEADER = re.compile(r"^#include <(cuda\w*|mma)\.h>$", re.MULTILINE)
FLAGS = ("-O2", "-std=c++17", "-w", "-shared", "-fPIC", "-U_FORTIFY_SOURCE")


def cpp_of(text: str) -> str:
    """A CUDA source as C++ for g++ with the header: every launch is an ordinary call."""
    text = LAUNCH.sub(r"on_cpu::Launch(\2).run([&] { \1\3; });", CUDA_HEADER.sub("", text))
    return f'#include "{HEADER}"\n{text}'


def load(path: Path) -> Run:
    """Compile a source, and return what calls its `solve`."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        command = ["g++", *FLAGS, "-x", "c++", "-", "-o", library]
        subprocess.run(command, input=cpp_of(path.read_text()), text=True, check=True)
        solve = ctypes.CDLL(str(library)).solve

    def run(**given: Any) -> None:
        solve(
            *(
                ctypes.c_void_p(one.data_ptr()) if torch.is_tensor(one) else ctypes.c_int(one)
                for one in given.values()
            )
        )

    return run


if __name__ == "__main__":
    print_margins(named_files("cuda"), load)
