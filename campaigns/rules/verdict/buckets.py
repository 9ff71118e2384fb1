"""How a gain reaches real use: what a hypothesis declares, its gate, a campaign's audit (R21).

A faster kernel is faster wherever it is called. A wrapper that skips work for known inputs is
faster only if inputs repeat: weights repeat until their next version, other inputs only in a
benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.chained import chained
from campaigns.rules.verdict.decision import Gate, GateOutcome, Reason, stopped
from campaigns.rules.wording import WordedEnum, duration, share

NAME = "transfer"
# Parts and whole that differ by more than this are reported.
GAP = 0.01
LIMIT = "kernel work (K1 to K4), or a weight cache (W1) with both of its times (Rule 11)"


class Bucket(WordedEnum):
    """What a round changes: K kernel work, W work that its wrapper skips."""

    K1 = "K1", "work within the kernel: tiles, instructions, memory access, compiler flags"
    K2 = "K2", "a separate kernel for a layout or shape"
    K3 = "K3", "several operations in one launch"
    K4 = "K4", "one part of a call reuses the result of another part"
    W1 = "W1", "a value derived from a weight is cached until its next version"
    W2 = "W2", "a value derived from an activation, a gradient or a scale is cached"
    W3 = "W3", "the wrapper caches results by something other than a weight"

    @property
    def is_kernel(self) -> bool:
        return self.startswith("K")

    @property
    def is_refused(self) -> bool:
        return self in (Bucket.W2, Bucket.W3)


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
        if self.bound is None or self.work_us is None or self.step_us is None:
            return f"{said}; its two times were not measured, so its gain does not count"
        times = f"{duration(self.work_us)} of {duration(self.step_us)}"
        return f"{said}; at most {share(self.bound)} in real use ({times})"


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


def transfer(declared: Declared | None) -> GateOutcome:
    """May this kind of gain be accepted at all? None is a round that has no hypothesis."""
    if declared is None or declared.bucket is None:
        return GateOutcome(Gate(NAME, None, "not declared", LIMIT))
    bucket = declared.bucket
    if bucket.is_refused:
        sentence = (
            f"Rejected by Rule 11: {bucket} is {bucket.words}. Real use has new ones at every "
            "step, so the gain would exist only in the benchmark."
        )
        return stopped(NAME, declared.words, LIMIT, Reason.NO_TRANSFER, sentence)
    passed = True if bucket.is_kernel or declared.bound is not None else None
    return GateOutcome(Gate(NAME, passed, declared.words, LIMIT))


def credit_words(declared: Declared | None) -> str:
    """The addition to an accepted sentence if the gain does not count in full; else empty."""
    if declared is None or declared.bucket is not Bucket.W1:
        return ""
    if declared.bound is None:
        return (
            " As a weight cache (W1) without its two measured times it adds nothing to the "
            "campaign's real gain (Rule 11)."
        )
    return f" As a weight cache (W1) it counts for at most {share(declared.bound)} (Rule 11)."


@dataclass(frozen=True, slots=True)
class AcceptedRound:
    """An accepted round: its gain over the incumbent of its time."""

    number: int
    gain: Gain
    declared: Declared


@dataclass(frozen=True, slots=True)
class AuditPart:
    """One line of an audit: its name, its rounds, and its ratio of times (1 is no gain)."""

    name: str
    rounds: tuple[int, ...]
    ratio: float


@dataclass(frozen=True, slots=True)
class Audit:
    """The parts of a campaign's whole gain.

    structural: kernel work, S_real. weights: weight caches, each capped at its bound, W_real.
    residual: what neither explains of the whole, R_real. whole: v0 against the incumbent.
    measured: whether that was measured side by side; else it is the product of all rounds.
    """

    structural: Gain
    weights: Gain
    whole: Gain
    measured: bool
    structural_rounds: tuple[int, ...]
    weight_rounds: tuple[int, ...]
    uncounted: tuple[int, ...]

    @property
    def real(self) -> Gain:
        """The gain that remains in real use."""
        return _product([self.structural, self.weights])

    @property
    def residual(self) -> float:
        return (1 + self.whole.gain) / (1 + self.real.gain)

    @property
    def is_inflated(self) -> bool:
        """Whether the whole is more than its parts by over GAP, and by more than noise explains.

        What was not measured side by side has the noise of its parts: there every gap is one.
        """
        clear = not self.measured or self.whole.low > self.real.high
        return self.residual - 1 > GAP and clear

    @property
    def has_gap(self) -> bool:
        """The same in either direction."""
        clear = not self.measured or self.real.low > self.whole.high
        return self.is_inflated or (1 - self.residual > GAP and clear)

    @property
    def parts(self) -> tuple[AuditPart, ...]:
        """The parts, and the whole."""
        whole = "Whole, measured against v0" if self.measured else "Whole, all rounds together"
        return (
            AuditPart("Kernel work (S_real)", self.structural_rounds, 1 + self.structural.gain),
            AuditPart("Weight caches, bounded (W_real)", self.weight_rounds, 1 + self.weights.gain),
            AuditPart("Residual (R_real)", self.uncounted, self.residual),
            AuditPart(whole, (), 1 + self.whole.gain),
        )

    @property
    def words(self) -> str:
        """The conclusion in a sentence."""
        whole = f"{self.whole.words} "
        whole += "measured against v0" if self.measured else "by all rounds together"
        if self.is_inflated:
            return f"Inflated: {whole}, of which {self.real.words} by what reaches real use."
        if self.has_gap:
            return (
                f"Parts and whole differ: {whole}, which counts. The parts multiply to more, as "
                "incumbents were slower in later comparisons than when they were accepted."
            )
        near = abs(self.residual - 1) <= GAP
        within = f"within {share(GAP)}" if near else "within their intervals"
        return f"Clean: {whole}, and its parts multiply to the same {within}."


def _product(gains: Sequence[Gain]) -> Gain:
    return chained(gains) or Gain(0.0, 0.0, 0.0, 0)


def audit(kept: Iterable[AcceptedRound], whole: Gain | None) -> Audit:
    """Take a campaign's gain apart by multiplying ratios, never by adding percentages.

    whole: of the incumbent over v0 where both were measured side by side. Raises ValueError where
    a gain is no gain of times.
    """
    structural, weights, every = [], [], []
    rounds: dict[str, list[int]] = {"K": [], "W": [], "": []}
    for one in kept:
        gain = one.gain
        if not 0 < 1 + gain.gain < math.inf:
            raise ValueError(f"round {one.number}: gain {gain.gain!r}; accepted: above −1")
        every.append(gain)
        bucket, bound = one.declared.bucket, one.declared.bound
        if bucket is not None and bucket.is_kernel:
            structural.append(gain)
            rounds["K"].append(one.number)
        elif bucket is Bucket.W1 and bound is not None:
            middle, low, high = (min(part, bound) for part in (gain.gain, gain.low, gain.high))
            weights.append(Gain(middle, low, high, gain.pairs, gain.kind))
            rounds["W"].append(one.number)
        else:
            rounds[""].append(one.number)
    return Audit(
        structural=_product(structural),
        weights=_product(weights),
        whole=whole or _product(every),
        measured=whole is not None,
        structural_rounds=tuple(rounds["K"]),
        weight_rounds=tuple(rounds["W"]),
        uncounted=tuple(rounds[""]),
    )
