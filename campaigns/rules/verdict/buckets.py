"""How the gain of a round reaches real use, as declared by its hypothesis (R21).

A faster kernel is faster wherever it is called. A wrapper that skips work for known inputs is
faster only if inputs repeat: weights repeat until their next version, other inputs only in a
benchmark.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.wording import duration, share


class Bucket(StrEnum):
    """What a round changes: K kernel work, W work that its wrapper skips."""

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
    Bucket.K2: "a separate kernel for a layout or shape",
    Bucket.K3: "several operations in one launch",
    Bucket.K4: "one part of a call reuses the result of another part",
    Bucket.W1: "a value derived from a weight is cached until its next version",
    Bucket.W2: "a value derived from an activation, a gradient or a scale is cached",
    Bucket.W3: "the wrapper caches results by something other than a weight",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """The transfer that a hypothesis declares.

    work_us: the time that a weight cache saves per step. step_us: one step of the real use. Both
    are measured; None if not.
    """

    bucket: Bucket | None = None
    work_us: float | None = None
    step_us: float | None = None

    @property
    def bound(self) -> float | None:
        """The largest gain of a weight cache in real use, as a fraction; None without its times."""
        if self.work_us is None or self.step_us is None:
            return None
        return weight_bound(self.work_us, self.step_us)

    @property
    def words(self) -> str:
        """The bucket with its meaning, and the bound of a weight cache."""
        if self.bucket is None:
            return "not declared"
        said = f"{self.bucket}: {self.bucket.words}"
        if self.bucket is not Bucket.W1:
            return said
        return f"{said}; {self._bound_words}"

    @property
    def _bound_words(self) -> str:
        if self.bound is None or self.work_us is None or self.step_us is None:
            return "its two times were not measured, so its gain does not count"
        times = f"{duration(self.work_us)} of {duration(self.step_us)}"
        return f"at most {share(self.bound)} in real use ({times})"


def weight_bound(work_us: float, step_us: float) -> float:
    """The share of a step that a weight cache can save: 30 µs of 2 ms are 1.5 %.

    Raises ValueError naming an invalid time.
    """
    for name, value in (("work_us", work_us), ("step_us", step_us)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name}: {value!r}; accepted: a finite time above zero, in µs")
    if work_us > step_us:
        raise ValueError(f"work_us: {work_us!r}; accepted: at most step_us, {step_us!r}")
    return work_us / step_us
