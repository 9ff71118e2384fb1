"""What a profile is made of: counters and their meaning, one launch's values, its hot lines (R24).

The readers of every profiler return these, under one set of names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

# More launches in one file are a trace of a program, not a profile of a kernel.
MOST_LAUNCHES = 10_000
# More than a counter can come to; sums and ratios of such values stay numbers. ncu's shares of a
# peak may be a little over 100.
MOST, MOST_PCT = 1e18, 200.0
NAME_CHARACTERS = 400
# The files in which the evaluator puts a candidate's source.
OWN_FILES = ("candidate.cu", "candidate.py", "candidate.cpp")
_TYPED = re.compile(r"\([A-Za-z_][\w: ]*\)(?=-?\d)")
_SPELLINGS = (
    (re.compile(r"^void |<unnamed>::|\(anonymous namespace\)::"), ""),
    (re.compile(r"\btrue\b"), "1"),
    (re.compile(r"\bfalse\b"), "0"),
    (re.compile(r"\b(\d+)[uUlL]+\b"), r"\1"),
)


class Vendor(StrEnum):
    """Whose counters they are; GPUs spelled as in the catalogue of strategies.

    CPU: events that Linux names alike for every maker's.
    """

    NVIDIA = "NVIDIA"
    AMD = "AMD"
    CPU = "CPU"


class Unit(StrEnum):
    """What a value is in, after reading."""

    PERCENT = "%"
    US = "µs"
    BYTES = "bytes"
    COUNT = ""
    PER_SM = "per SM"
    RATIO = "per issued instruction"
    PER_CYCLE = "per cycle"


@dataclass(frozen=True, slots=True)
class Metric:
    """counter: the vendor's name. meaning: ends a sentence that begins with the value.

    scale: what a vendor's value that comes without a unit is multiplied by. good, bad: bounds,
    both or none; which of them is larger says which way is worse. source: of counter and bounds.
    """

    name: str
    counter: str
    unit: Unit
    meaning: str
    good: float | None = None
    bad: float | None = None
    scale: float = 1.0
    source: str = ""

    @property
    def less_is_worse(self) -> bool:
        return self.good is not None and self.bad is not None and self.bad < self.good

    def is_bad(self, value: float) -> bool:
        """Whether the value has come to the bad bound; False where none is known."""
        if self.bad is None:
            return False
        return value < self.bad if self.less_is_worse else value >= self.bad


class ProfileError(ValueError):
    """A file that is no profile. line: in it, from 1."""

    def __init__(self, name: str, line: int, words: str) -> None:
        super().__init__(f"{name}:{line}: {words}")


@dataclass(frozen=True, slots=True)
class HotLine:
    """An instruction that waves wait at, or a line of the source with all of its own.

    stall: what is waited for most, a metric `stall_…`. waited: cycles of all waves of a trace, or
    samples. share: of all that the kernel waited. source: file and line, "" without debug symbols.
    hits: how often it ran; None where only samples were taken. instruction: "" of a whole line.
    """

    instruction: str
    source: str
    stall: str
    waited: float
    share: float
    hits: float | None = None

    @property
    def line(self) -> int:
        """Line of the candidate's own source; 0 where it is of another file, or unknown."""
        file, _, number = self.source.rpartition(":")
        return int(number) if file in OWN_FILES else 0

    def text_in(self, source: Sequence[str]) -> str:
        """The line without its margin; "" where it is none of the candidate's source."""
        return source[self.line - 1].strip() if 0 < self.line <= len(source) else ""


@dataclass(frozen=True, slots=True)
class KernelProfile:
    """One launch. values: by the names of `metrics`; what was not counted is left out.

    odd: counters that had no number, with what stood there. lines: the hottest first, of a trace.
    """

    kernel: str
    values: dict[str, float]
    odd: dict[str, str] = field(default_factory=dict)
    vendor: Vendor = Vendor.NVIDIA
    lines: tuple[HotLine, ...] = ()

    @property
    def dram_bytes(self) -> float | None:
        """Read from DRAM and written to it; None where one of the two was not counted."""
        read, written = self.values.get("dram_read_bytes"), self.values.get("dram_write_bytes")
        return read + written if read is not None and written is not None else None

    def ratio(self, above: str, below: str) -> float | None:
        """One value over another; None where one is missing or the divisor is 0."""
        top, bottom = self.values.get(above), self.values.get(below)
        return top / bottom if top is not None and bottom else None


def shown(kernel: str) -> str:
    """A kernel's name as it is kept: in one line, and not longer than names that people write."""
    return " ".join(kernel.split())[:NAME_CHARACTERS]


def untyped(kernel: str) -> str:
    """The name without the types of a template's numbers, which not every table of ncu has."""
    return _TYPED.sub("", kernel)


def plain_name(kernel: str) -> str:
    """The name without what every tool spells in its own way: parameters, and types of numbers."""
    kernel = untyped(kernel)
    for pattern, plain in _SPELLINGS:
        kernel = pattern.sub(plain, kernel)
    depth = 0
    for at, character in enumerate(kernel):
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            return kernel[:at]
    return kernel


def one_of(found: Sequence[KernelProfile], pattern: str, name: str) -> KernelProfile:
    """The first launch of the one kernel that the pattern finds (R23). Raises ProfileError.

    Several kernels are never merged: the numbers of one say nothing of another.
    """
    try:
        hits = [one for one in found if re.search(pattern, one.kernel)]
    except re.error as error:
        raise ProfileError(name, 1, f"kernel: {pattern!r} is no pattern: {error}") from None
    kernels = sorted({one.kernel for one in hits or found})
    if not hits:
        raise ProfileError(name, 1, f"kernel: {pattern!r} finds none of {', '.join(kernels)}")
    if len(kernels) > 1:
        raise ProfileError(name, 1, f"kernel: {pattern!r} finds several: {', '.join(kernels)}")
    return hits[0]
