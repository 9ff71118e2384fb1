"""The calls of a burst as one loop of machine code, so that none of a call's time is Python's.

A runner is the candidate's process. What the interpreter took for every call, a candidate could
have it leave out, and a kernel of a microsecond would look twice as fast: so there is nothing to
leave out. Registers nothing itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds.compile import compile_or_fail
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.signature import FLOATS, INTEGERS
from campaigns.evaluator.sandbox.workplace import Workplace

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
        (self._place.folder / "loop.cpp").write_text(self._source())
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

    def _source(self) -> str:
        numbered = [(NAMES[kind], f"a{n}") for n, kind in enumerate(self._types)]
        return LOOP.format(
            members=" ".join(f"{kind} {name};" for kind, name in numbered),
            types=", ".join(kind for kind, _ in numbered),
            arguments=", ".join(f"call.{name}" for _, name in numbered),
        )
