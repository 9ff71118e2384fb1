"""What a kernel's machine code should be like, and is (R28, R31): targets, each with its number.

They inform: a hypothesis may aim at one, and no verdict rests on one. The bounds are those of R28
(no spills, four of five loads as wide as they can be); a target that says nothing of a kernel, as
that of loads for one without any, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Function

# What a thread can load at once: 16 bytes on NVIDIA's and AMD's GPUs alike.
WIDEST_BYTES = 16
WIDE_SHARE = 0.8
# How the names of strategies begin that change a source of this backend.
OWN = {"cpp": "cpp.", "cuda": "cu.", "triton": "tr."}
VECTORS = ("vector_512", "vector_256", "vector_128", "vector_scalable")


@dataclass(frozen=True, slots=True)
class IsaTarget:
    """value: what it is. bound: what it should be, at most or at least. strategies: what helps.

    is_share: whether both are shares, else counts. words: what is counted.
    """

    name: str
    words: str
    value: float
    bound: float
    at_most: bool
    strategies: tuple[str, ...]
    is_share: bool = False

    @property
    def sentence(self) -> str:
        """The value and its target, as in "0 % of …; the target is at least 80 %"."""
        if self.is_share:
            value, bound = 100 * self.value, 100 * self.bound
            return f"{value:.0f} % of {self.words}; the target is {self.side} {bound:.0f} %"
        return f"{self.value:g} {self.words}; the target is {self.side} {self.bound:g}"

    @property
    def side(self) -> str:
        return "at most" if self.at_most else "at least"

    @property
    def is_met(self) -> bool:
        return self.value <= self.bound if self.at_most else self.value >= self.bound


def isa_targets(
    functions: Iterable[Function], backend: str, *, multiplies: bool = False
) -> tuple[IsaTarget, ...]:
    """Return the targets that say something of a candidate's code.

    multiplies: whether the problem is a product. backend: the language of the source;
    strategies for other languages are left out.
    """
    found = [one for one in functions if one.kinds]
    if not found:
        return ()
    on_gpu = any(one.resources or one.widths for one in found)
    targets = _of_gpu(found, multiplies) if on_gpu else _of_cpu(found)
    own = OWN.get(backend, " ")
    return tuple(
        replace(one, strategies=tuple(name for name in one.strategies if name.startswith(own)))
        for one in targets
    )


def _of_gpu(functions: list[Function], multiplies: bool) -> Iterable[IsaTarget]:
    used = [one.resources for one in functions if one.resources]
    local = _count(functions, "local")
    spilled = sum(one.spilled or 0 for one in used)
    yield IsaTarget(
        "spills", "instructions for registers that did not fit", max(local, spilled), 0, True,
        ("cu.spill", "cu.block", "cu.regtile", "tr.tile", "tr.warps"),
    )  # fmt: skip
    if used and any(one.stack_bytes is not None for one in used):
        most = max(one.stack_bytes or 0 for one in used)
        yield IsaTarget(
            "stack", "bytes of stack a thread", most, 0, True, ("cu.spill", "cu.unroll", "tr.tile")
        )
    wide = ("cu.vec128", "tr.hints")
    for name, kinds, words, helps in (
        ("wide_loads", ("global_load", "async_copy"), "loads of global memory", wide),
        ("wide_stores", ("global_store",), "stores to global memory", wide),
        ("wide_shared_loads", ("shared_load",), "loads of shared memory", wide),
    ):
        share = _wide_share(functions, kinds)
        if share is not None:
            told = f"{words} of {WIDEST_BYTES} bytes a thread, the widest"
            yield IsaTarget(name, told, share, WIDE_SHARE, False, helps, is_share=True)
    if multiplies:
        matrix = _count(functions, "matrix")
        yield IsaTarget(
            "matrix", "products of small matrices by the matrix units", matrix, 1, False,
            ("cu.tensor", "tr.dot"),
        )  # fmt: skip


def _of_cpu(functions: list[Function]) -> Iterable[IsaTarget]:
    vectors = sum(_count(functions, kind) for kind in VECTORS)
    single = _count(functions, "scalar_float")
    if vectors + single:
        yield IsaTarget(
            "vectors", "its floating-point arithmetic in vectors", vectors / (vectors + single),
            WIDE_SHARE, False, ("cpp.simd_loops",), is_share=True,
        )  # fmt: skip
    own = {one.name for one in functions}
    calls = sum(n for one in functions for name, n in one.calls.items() if name not in own)
    yield IsaTarget("calls", "calls of library functions", calls, 0, True, ("cpp.vector_exp",))


def _count(functions: Iterable[Function], kind: str) -> int:
    return sum(one.kinds.get(kind, 0) for one in functions)


def _wide_share(functions: Iterable[Function], kinds: tuple[str, ...]) -> float | None:
    counts = [one.widths.get(kind, {}) for one in functions for kind in kinds]
    total = sum(sum(one.values()) for one in counts)
    wide = sum(n for one in counts for size, n in one.items() if int(size) >= WIDEST_BYTES)
    return wide / total if total else None


@dataclass(frozen=True, slots=True)
class CodeChange:
    """One number of two candidates' code; None where one of them has it not."""

    what: str
    before: float | None
    after: float | None


def code_changes(before: Iterable[Function], after: Iterable[Function]) -> tuple[CodeChange, ...]:
    """What differs between two candidates' machine code: all functions of each together."""
    old, new = _numbers(before), _numbers(after)
    return tuple(
        CodeChange(name, old.get(name), new.get(name))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    )


def _numbers(functions: Iterable[Function]) -> Mapping[str, float]:
    found = list(functions)
    numbers: dict[str, float] = {"instructions": sum(one.instructions for one in found)}
    for one in found:
        for kind, n in one.kinds.items():
            numbers[kind] = numbers.get(kind, 0) + n
        for kind, counts in one.widths.items():
            for size, n in counts.items():
                name = f"{kind} of {size} bytes"
                numbers[name] = numbers.get(name, 0) + n
        if used := one.resources:
            for name in ("registers", "accumulators", "stack_bytes", "shared_bytes", "spilled"):
                if (value := getattr(used, name)) is not None:
                    numbers[name] = max(numbers.get(name, 0), value)
    return numbers
