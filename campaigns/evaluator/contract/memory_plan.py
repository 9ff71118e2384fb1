"""How the judge's memory is spent, decided before any of it is allocated.

Slots, the judge's copy of the inputs, expected answers and what the reference needs beside them fit
into a stated share of what is free: half, or more where a single call would not fit otherwise. A
call that is far larger than the cache needs few slots: its own size keeps the cache cold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.evaluator.contract import Protocol
from campaigns.evaluator.contract.layout import Layout

SHARE, MOST_SHARE = 0.5, 0.9
MIB, GIB = 1 << 20, 1 << 30
# Enough slots for bursts of two lengths; with fewer, more memory or less precision is tried first.
ENOUGH_SLOTS = 4
# What a question to the reference takes, in sizes of its arguments: the arguments, the answers
# twice, and half as much again for what it computes in between. In float64 an answer to compare
# with is kept, too; many small calls are asked about together and replayed, which keeps what lies
# in between.
QUESTION, RAISED, REPLAYED = 2.5, 3, 5
# The largest question, as a share of what is planned with; and the least of it on a CPU, whose
# caches it should fit.
PIECE_PART, CPU_PIECE_BYTES = 1 / 32, 64 * MIB
# The largest part for unusual inputs that are kept from arm to arm.
KEPT_PART, MOST_KEPT = 1 / 16, 4 * GIB
# A context of the driver in each of eight processes, four of which are in reserve, and what
# libraries load into it.
CONTEXTS_BYTES = 6 * GIB
# What shifted inputs of a burst are made from, in sizes of one call's inputs.
WINDOWS = 6
# What unusual inputs take while they are made and judged, in sizes of a call in float64.
SETS = 4


@dataclass(frozen=True, slots=True)
class CaseNeed:
    """Bytes of one call: its slot, the part that is given, and its arguments raised to float64."""

    stride: int
    given: int
    raised: int

    @classmethod
    def of(cls, layout: Layout) -> CaseNeed:
        raised = sum(
            8 * arg.count if "float" in arg.dtype else arg.nbytes for arg in layout.tensors
        )
        return cls(layout.stride, sum(arg.nbytes for arg in layout.given), raised)


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What may be allocated, in bytes.

    arena: the slots of one arm. piece: one question to the reference. kept: unusual inputs of all
    cases. free, share: what is free, and how much of it is planned with. can_be_raised: whether the
    reference may run in float64. arms: how many arenas there are.
    """

    arena: int
    piece: int
    kept: int
    free: int
    share: float
    can_be_raised: bool
    arms: int

    def slots(self, stride: int, most: int) -> int:
        """How many slots of that many bytes an arena holds, up to `most`."""
        return min(most, self.arena // stride)

    def makes_sets(self, layout: Layout) -> bool:
        """Say whether unusual inputs of a case can be made at its size."""
        return SETS * CaseNeed.of(layout).raised <= self.share * self.free - self.arms * self.arena

    def checked_at_once(self, layout: Layout, most: int) -> int:
        """How many calls are held with their inputs and exact answers, from 1 to `most`."""
        return max(1, min(most, self.kept // (2 * CaseNeed.of(layout).raised)))

    @property
    def words(self) -> str:
        raised = "" if self.can_be_raised else "; too little for answers in float64"
        return (
            f"{self.share:.0%} of {_size(self.free)} free: {self.arms} × {_size(self.arena)} of "
            f"slots, answers in pieces of {_size(self.piece)}{raised}"
        )


class DoesNotFit(ValueError):
    """No plan fits; the message has the arithmetic."""


def plan_memory(
    needs: Sequence[CaseNeed],
    free: int,
    protocol: Protocol,
    *,
    arms: int,
    on_gpu: bool,
    shift: bool,
) -> MemoryPlan:
    """The first plan with enough slots, else the first that fits. Raises DoesNotFit.

    needs: of every case. free: bytes. protocol: has the most slots and bytes of one arm, but for a
    few slots of large calls. shift: whether inputs of a burst are windows into one set, or one set
    a slot.
    """
    found, most_slots, most_bytes = None, max(protocol.max_slots, 2), protocol.arena_mib * MIB
    for share, raised in ((SHARE, True), (MOST_SHARE, True), (MOST_SHARE, False)):
        usable = share * free - (CONTEXTS_BYTES if on_gpu else 0)
        piece = int(PIECE_PART * usable) if on_gpu else CPU_PIECE_BYTES
        kept = min(int(KEPT_PART * usable), MOST_KEPT)
        fewest, arena = most_slots, 0
        for need in needs:
            held = WINDOWS * need.given if shift else need.given
            one = RAISED * need.raised if raised else QUESTION * need.stride
            question = max(one, REPLAYED * min(piece, usable))
            each = arms * need.stride + (0 if shift else need.given)
            slots = int((usable - kept - held - question) // each)
            slots = max(0, min(slots, most_slots, max(ENOUGH_SLOTS, most_bytes // need.stride)))
            fewest, arena = min(fewest, slots), max(arena, slots * need.stride)
        plan = MemoryPlan(arena, piece, kept, free, share, raised, arms)
        if fewest >= min(ENOUGH_SLOTS, most_slots):
            return plan
        found = found or (plan if fewest else None)
    if found is None:
        raise DoesNotFit(_arithmetic(needs, free, arms))
    return found


def _arithmetic(needs: Sequence[CaseNeed], free: int, arms: int) -> str:
    largest = max(needs, key=lambda need: need.stride)
    question = QUESTION * largest.stride
    least = arms * largest.stride + 2 * largest.given + question
    return (
        f"a call of the largest case takes {_size(largest.stride)}: {arms} × that for the arms, "
        f"2 × {_size(largest.given)} of inputs and {_size(question)} for the reference are "
        f"{_size(least)}, and {MOST_SHARE:.0%} of {_size(free)} can be had; choose smaller cases"
    )


def _size(count: float) -> str:
    return f"{count / GIB:.3g} GiB" if count >= GIB / 10 else f"{count / MIB:.3g} MiB"
