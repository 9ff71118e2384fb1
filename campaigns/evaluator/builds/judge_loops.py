"""Compile the judge's own loops, once on each host, into a folder that no runner can write to."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from campaigns.evaluator.judge.correctness.one_pass import only_ours

SOURCE = Path(__file__).parents[1] / "judge/correctness/one_pass_cpu.cpp"
COMPILERS = ("g++", "clang++")
# Rounded as torch rounds; NaN and infinity keep their meaning.
FLAGS = (
    *("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC"),
    *("-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"),
)
BUILD_LIMIT_S = 60


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
    if not (os.path.lexists(library) and only_ours(os.lstat(library))):
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
