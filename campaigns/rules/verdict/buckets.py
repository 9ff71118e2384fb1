"""How a gain reaches real use: what a hypothesis declares, its gate, a campaign's audit (R21).

A faster kernel is faster wherever it is called. A wrapper that skips work for known inputs is
faster only if inputs repeat: weights repeat until their next version, other inputs only in a
benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import Gate, GateOutcome, Reason, stopped
from campaigns.rules.wording import WordedEnum, duration, factor, share

NAME = "transfer"
# A product and a final gain that differ by more than this are reported.
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
    """The product of the rounds' gains beside the final gain, in the report's section on limits.

    Nowhere else are gains of different sessions multiplied. structural: kernel work, S_real.
    weights: weight caches, each capped at its bound, W_real. uncounted: what reaches no real use.
    product: of all rounds' gains as they are. whole: of the final session, None before it.
    """

    structural: AuditPart
    weights: AuditPart
    uncounted: AuditPart
    product: AuditPart
    whole: Gain | None

    @property
    def real(self) -> float:
        """The ratio of times that remains in real use, by the rounds' gains."""
        return self.structural.ratio * self.weights.ratio

    @property
    def residual(self) -> float:
        """The final gain over what remains in real use, R_real; 1 before the final session."""
        return (1 + self.whole.gain) / self.real if self.whole else 1.0

    @property
    def is_inflated(self) -> bool:
        """Whether the final gain exceeds what reaches real use, beyond GAP and its interval."""
        low = 1 + self.whole.low if self.whole else 0.0
        return self.residual > 1 + GAP and low > self.real

    @property
    def is_selected(self) -> bool:
        """Whether the product of all rounds exceeds the final gain, beyond GAP and its interval."""
        if self.whole is None:
            return False
        return self.product.ratio > max(1 + self.whole.high, (1 + GAP) * (1 + self.whole.gain))

    @property
    def parts(self) -> tuple[AuditPart, ...]:
        """The parts, and the whole; none before the final session."""
        if self.whole is None:
            return ()
        return (
            self.structural,
            self.weights,
            self.uncounted,
            self.product,
            AuditPart("Final gain, v0 and the best in one session", (), 1 + self.whole.gain),
            AuditPart("Final gain over S_real × W_real (R_real)", (), self.residual),
        )

    @property
    def words(self) -> str:
        """The conclusion in a sentence or two."""
        if self.whole is None:
            return "There is no final gain yet to compare the rounds' gains with."
        product = f"The product of the rounds' gains over v0 is {factor(self.product.ratio)}×"
        said = f"{product}, the final gain {self.whole.words}, which counts."
        if self.is_selected:
            return f"{said} Rounds are kept because they measured well, so their product is biased."
        if self.is_inflated:
            return f"{said} Only {factor(self.real)}× of it is shown to reach real use."
        return said


def audit(kept: Iterable[AcceptedRound], whole: Gain | None) -> Audit:
    """Take a campaign's gain apart by multiplying ratios, never by adding percentages.

    whole: of the incumbent over v0, measured side by side. Raises ValueError where a gain is no
    gain of times.
    """
    every: dict[int, float] = {}
    structural: dict[int, float] = {}
    weights: dict[int, float] = {}
    for one in kept:
        ratio, bucket, bound = 1 + one.gain.gain, one.declared.bucket, one.declared.bound
        if not 0 < ratio < math.inf:
            raise ValueError(f"round {one.number}: gain {one.gain.gain!r}; accepted: above −1")
        every[one.number] = ratio
        if bucket is not None and bucket.is_kernel:
            structural[one.number] = ratio
        elif bucket is Bucket.W1 and bound is not None:
            weights[one.number] = min(ratio, 1 + bound)
    rest = {n: ratio for n, ratio in every.items() if n not in structural | weights}

    def part(name: str, ratios: dict[int, float]) -> AuditPart:
        product = math.prod(ratios.values())
        return AuditPart(f"Product of the gains of {name}", tuple(ratios), product)

    return Audit(
        structural=part("kernel work (S_real)", structural),
        weights=part("weight caches, bounded (W_real)", weights),
        uncounted=part("what is not counted", rest),
        product=part("all rounds", every),
        whole=whole,
    )
