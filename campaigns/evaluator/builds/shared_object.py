"""A compiled candidate: build with a compiler, load with ctypes, call `solve` on slot addresses.

Shared by the C++ and CUDA backends; registers nothing itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.memory_files import fill
from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.layout import Layout, TensorArg
from campaigns.evaluator.contract.signature import ENTRY, argument_types
from campaigns.evaluator.sandbox.workplace import Workplace

LIBRARY_FILE = "candidate.so"


def write_source(source: Source, folder: Path, suffix: str) -> Path:
    """Write the candidate under a name of ours; its own name never becomes a path."""
    path = folder / f"candidate{suffix}"
    path.write_text(source.text)
    return path


def hand_over(place: Workplace, names: Sequence[str], files: Sequence[int]) -> None:
    """Copy what was built in a folder into memory files. Raises OSError."""
    for name, fd in zip(names, files, strict=True):
        fill(fd, (place.folder / name).read_bytes())


class Library:
    """The loaded shared object with the argument types of its `solve`."""

    def __init__(self, path: Path | str, source: Source, example: Layout) -> None:
        self.types = argument_types(source.text, source.name, example)
        self._path = path
        self._solve: Callable[..., None] | None = None

    @property
    def solve(self) -> Callable[..., None]:
        """The candidate's entry."""
        if self._solve is None:
            raise RuntimeError("the library is not loaded")
        return self._solve

    def load(self) -> None:
        """dlopen; raises OSError when the loader refuses it."""
        library = ctypes.CDLL(str(self._path))
        try:
            solve = getattr(library, ENTRY)
        except AttributeError:
            raise OSError(
                f'{ENTRY} is not exported; declare it extern "C" void {ENTRY}(…)'
            ) from None
        solve.argtypes = self.types
        solve.restype = None
        self._solve = solve

    def calls(self, layout: Layout, memory: Memory, slots: int) -> list[Callable[[], None]]:
        """One ready-made call per slot: addresses are computed here, not while the clock runs."""
        return [_bind(self.solve, row) for row in self.rows(layout, memory, slots)]

    def rows(self, layout: Layout, memory: Memory, slots: int) -> list[tuple[Any, ...]]:
        """The arguments of the call on every slot."""
        return [self._arguments(layout, memory, slot) for slot in range(slots)]

    def _arguments(self, layout: Layout, memory: Memory, slot: int) -> tuple[Any, ...]:
        values = [
            memory.address(layout, slot, arg) if isinstance(arg, TensorArg) else arg.value
            for arg in layout.args
        ]
        return tuple(kind(value) for kind, value in zip(self.types, values, strict=True))


def _bind(solve: Callable[..., None], arguments: tuple[Any, ...]) -> Callable[[], None]:
    return lambda: solve(*arguments)
