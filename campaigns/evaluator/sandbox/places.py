"""Which files a kernel, its compiler and our own runner need: everything else is hidden.

Read-only: system folders, Python, torch and its libraries, compilers, device nodes. Never: homes,
the repository's settings, problems and database, data folders, other scratch folders.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

EVALUATOR = Path(__file__).resolve().parents[1]
ROOT = EVALUATOR.parents[1]
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# What the loader, the C library and the tools read; /etc as a whole may hold secrets.
ETC = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf"),
    *("OpenCL", "nvidia", "cuda"),
)
# Whose names and groups everybody may read; a view has its own.
ACCOUNTS = ("/etc/passwd", "/etc/group")
# Where the packages of the driver's maker put programs that /usr only points to, ncu among them.
CUDA_SYSTEM = "/opt/nvidia"
NODES = ("null", "zero", "full", "random", "urandom")
CUDA_NODES = ("nvidia*", "nvidia-caps/*")
# Not all of devices: among them are the host's networks, disks and firmware.
SYS = ("devices/system", "kernel/mm")
CUDA_SYS = ("devices", "bus", "class", "module", "dev")
PACKAGES = ("torch", "triton", "numpy", "tree_sitter", "tree_sitter_cpp")
TOOLS = ("g++", "clang++", "gcc", "cc", "nvcc")


def readable(kind: str) -> list[Path]:
    """Folders and files that a runner may read, each once, outer ones first."""
    found = [Path(name) for name in SYSTEM if Path(name).exists()]
    found += [path for name in ETC if (path := Path("/etc", name)).exists()]
    found += [path for path in (*_python(), *_tools()) if not _too_wide(path)]
    found += [EVALUATOR, *_below("/sys", SYS)]
    if kind == "cuda":
        found += [*_below("/sys", CUDA_SYS), Path(CUDA_SYSTEM)]
    return _outermost(found)


def nodes(kind: str) -> list[Path]:
    """Device nodes; those of GPUs only for a runner that measures on one."""
    found = [path for name in NODES if (path := Path("/dev", name)).exists()]
    if kind == "cuda":
        # Has the driver's nodes made, which else happens when a program first uses CUDA: a runner
        # could not do that itself, as its /dev has what was there when its view was built.
        helper = shutil.which("nvidia-modprobe")
        if helper and Path("/dev/nvidiactl").exists() and not Path("/dev/nvidia-uvm").exists():
            subprocess.run([helper, "-u", "-c=0"], check=False, timeout=30)
        listed = [path for pattern in CUDA_NODES for path in sorted(Path("/dev").glob(pattern))]
        found += [path for path in listed if path.is_char_device()]
    return found


def _python() -> Iterator[Path]:
    """Interpreter, standard library, installed packages; not whatever else is on the path."""
    yield from {Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)}
    yield Path(os.path.realpath(sys.executable)).parent
    for entry in map(Path, sys.path):
        if entry.name in ("site-packages", "dist-packages") and entry.is_dir():
            yield entry
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            yield Path(spec.origin).parent


def _tools() -> Iterator[Path]:
    """Where compilers and their libraries lie when it is none of the system's folders."""
    for name in TOOLS:
        if found := shutil.which(name):
            program = Path(found).resolve()
            yield program.parent.parent if program.parent.name == "bin" else program.parent
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if entry and Path(entry).is_dir():
            yield Path(entry)


def _below(root: str, names: tuple[str, ...]) -> list[Path]:
    return [path for name in names if (path := Path(root, name)).exists()]


def _too_wide(path: Path) -> bool:
    """Whether a folder would show a home, this repository or everything with it."""
    homes = {Path.home(), Path("/root"), Path("/home"), Path("/tmp"), Path("/var")}
    kept = {home.resolve() for home in homes} | {ROOT, Path.cwd()}
    resolved = path.resolve()
    hidden = resolved.name == ".local" or resolved.parent == Path("/home")
    return hidden or any(keep.is_relative_to(resolved) for keep in kept)


def _outermost(paths: list[Path]) -> list[Path]:
    kept: list[Path] = []
    # Under its own name, and where a link leads to.
    named = {Path(os.path.abspath(path)) for path in paths} | {path.resolve() for path in paths}
    for path in sorted(named, key=lambda path: (len(path.parts), path)):
        if path.exists() and not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return kept
