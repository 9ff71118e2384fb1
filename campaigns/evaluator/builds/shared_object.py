"""A compiled candidate: build with a compiler, load with ctypes, call `solve` on slot addresses.

On a CPU the calls of a burst are one loop of machine code, so that none of a call's time is
Python's. A runner is the candidate's process. What the interpreter took for every call, a candidate
could have it leave out, and a kernel of a microsecond would look twice as fast: so there is nothing
to leave out. Shared by the C++ and CUDA backends; registers nothing itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds.compile import compile_or_fail
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.memory_files import fill
from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.layout import Layout, TensorArg
from campaigns.evaluator.contract.signature import ENTRY, FLOATS, INTEGERS, argument_types
from campaigns.evaluator.sandbox.workplace import Workplace

LIBRARY_FILE = "candidate.so"
# Several names mean one type; the first one needs no header.
NAMES: Mapping[Any, str] = {
    **{kind: name for name, kind in reversed({**INTEGERS, **FLOATS}.items())},
    ctypes.c_void_p: "void*",
}
LOOP_FILE = "loop.so"
LOOP = """struct Call {{ {members} }};
extern "C" void burst(void (*entry)({types}), const Call* calls, const long* slots, long count) {{
  for (long k = 0; k < count; ++k) {{
    const Call& call = calls[slots[k]];
    entry({arguments});
  }}
}}
"""


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
        return [partial(self.solve, *row) for row in self.rows(layout, memory, slots)]

    def rows(self, layout: Layout, memory: Memory, slots: int) -> list[tuple[Any, ...]]:
        """The arguments of the call on every slot."""
        rows = []
        for slot in range(slots):
            values = [
                memory.address(layout, slot, arg) if isinstance(arg, TensorArg) else arg.value
                for arg in layout.args
            ]
            rows.append(tuple(kind(one) for kind, one in zip(self.types, values, strict=True)))
        return rows


class NativeLoop:
    """Makes calls of a function with parameters of these types (of ctypes)."""

    def __init__(self, types: Sequence[Any], place: Workplace, path: Path | str = "") -> None:
        """path: where it is built already."""
        self._types = tuple(types)
        self._place = place
        self._path = str(path or place.folder / LOOP_FILE)
        self._burst: Callable[..., None] | None = None

    def build(self, compiler: str) -> None:
        """Raises Unsupported where that compiler cannot."""
        numbered = [(NAMES[kind], f"a{n}") for n, kind in enumerate(self._types)]
        source = LOOP.format(
            members=" ".join(f"{kind} {name};" for kind, name in numbered),
            types=", ".join(kind for kind, _ in numbered),
            arguments=", ".join(f"call.{name}" for _, name in numbered),
        )
        (self._place.folder / "loop.cpp").write_text(source)
        flags = ("-O2", "-shared", "-fPIC")
        try:
            compile_or_fail([compiler, *flags, "loop.cpp", "-o", LOOP_FILE], self._place)
        except BuildFailed as error:
            raise Unsupported(f"the loop around a kernel cannot be compiled: {error}") from None

    def load(self) -> None:
        """Raises OSError."""
        self._burst = ctypes.CDLL(self._path).burst
        self._burst.restype = None

    def over(
        self, entry: Callable[..., None], rows: Sequence[tuple[Any, ...]]
    ) -> Callable[[Sequence[int]], Callable[[], None]]:
        """What makes, of the slots in turn, a burst ready to run. rows: a call's arguments each."""
        fields = [(f"a{n}", kind) for n, kind in enumerate(self._types)]
        call: Any = type("Call", (ctypes.Structure,), {"_fields_": fields})
        calls = (call * len(rows))(*(call(*row) for row in rows))

        def ready(slots: Sequence[int]) -> Callable[[], None]:
            if self._burst is None:
                raise RuntimeError("the loop is not loaded")
            order = (ctypes.c_long * len(slots))(*slots)
            return partial(self._burst, entry, calls, order, ctypes.c_long(len(slots)))

        return ready
