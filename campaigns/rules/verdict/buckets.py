"""What a round says of how its gain reaches real use (R21).

A kernel that does its work faster is faster wherever it is called. A wrapper that leaves work out
because it has seen its inputs is faster only where inputs come again: weights do until their next
version, anything else does so in a benchmark alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.wording import duration, share


class Bucket(StrEnum):
    """What a round changes: K kernel work, W what its wrapper leaves out."""

    K1 = "K1"
    K2 = "K2"
    K3 = "K3"
    K4 = "K4"
    W1 = "W1"
    W2 = "W2"
    W3 = "W3"

    @property
    def words(self) -> str:
        """What it stands for."""
        return _WORDS[self]

    @property
    def is_kernel(self) -> bool:
        return self.value.startswith("K")

    @property
    def is_refused(self) -> bool:
        return self in (Bucket.W2, Bucket.W3)


_WORDS = {
    Bucket.K1: "work within the kernel: tiles, instructions, memory access, compiler flags",
    Bucket.K2: "a kernel of its own for a layout or shape",
    Bucket.K3: "several operations in one launch",
    Bucket.K4: "what one part of a call computes is used by another part of the same call",
    Bucket.W1: "what follows from a weight is kept until its next version",
    Bucket.W2: "what follows from an activation, a gradient or a scale of one is kept",
    Bucket.W3: "the wrapper remembers calls by anything else than a weight",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """What a hypothesis says of itself.

    work_us: what a weight cache leaves out, once a step. step_us: one step of the real use. Both
    measured; None where nobody did.
    """

    bucket: Bucket | None
    work_us: float | None = None
    step_us: float | None = None

    @property
    def bound(self) -> float | None:
        """The most that a weight cache gains in real use, as a fraction; None without its times."""
        if self.work_us is None or self.step_us is None:
            return None
        return weight_bound(self.work_us, self.step_us)

    @property
    def words(self) -> str:
        """The bucket with what it means, and of a weight cache its bound."""
        if self.bucket is None:
            return "not declared"
        said = f"{self.bucket}: {self.bucket.words}"
        if self.bucket is not Bucket.W1:
            return said
        return f"{said}; {self._bound_words}"

    @property
    def _bound_words(self) -> str:
        if self.bound is None or self.work_us is None or self.step_us is None:
            return "its two times were not measured, so no gain of it counts"
        times = f"{duration(self.work_us)} of {duration(self.step_us)}"
        return f"at most {share(self.bound)} in real use ({times})"


def weight_bound(work_us: float, step_us: float) -> float:
    """The share of a step that a weight cache can save: 30 µs of 2 ms are 1.5 %.

    Raises ValueError naming a time that is not one.
    """
    for name, value in (("work_us", work_us), ("step_us", step_us)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name}: {value!r}; accepted: a finite time above zero, in µs")
    if work_us > step_us:
        raise ValueError(f"work_us: {work_us!r}; accepted: at most step_us, {step_us!r}")
    return work_us / step_us
