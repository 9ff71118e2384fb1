"""Sentences on what a report shows besides times: copies within timed calls, and machine code.

Of machine code: what it consists of, what it takes, how many blocks fit, what it should be like.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from campaigns.evaluator.contract import (
    CopiedOutput,
    Function,
    KernelLaunch,
    MachineCode,
    Report,
    Resources,
    Timing,
)
from campaigns.profiles.isa import CodeChange, IsaTarget
from campaigns.profiles.occupancy import Occupancy
from campaigns.rules.wording import amount

Arm = Literal["candidate", "incumbent"]


def copied_by(report: Report, arm: Arm = "candidate") -> tuple[CopiedOutput, ...]:
    """Each output that a call of the arm copies into in some case, at its largest."""
    copies = sorted(
        (one for _, timing in _timed(report, arm) for one in timing.copied),
        key=lambda one: one.nbytes,
    )
    return tuple({one.name: one for one in copies}.values())


def copied_words(report: Report, arm: Arm = "candidate", whose: str = "") -> str:
    """One sentence, or "". whose: the arm that another one is compared with."""
    timed = list(_timed(report, arm))
    listed = []
    for largest in copied_by(report, arm):
        same = (one for _, timing in timed for one in timing.copied if one.name == largest.name)
        upto = "up to " if len({one.nbytes for one in same}) > 1 else ""
        listed.append(f"`{largest.name}` ({upto}{amount(largest.nbytes, 'B')})")
    if not listed:
        return ""
    cases = [case for case, timing in timed if timing.copied]
    where = f"In {', '.join(cases)} each" if len(cases) < len(timed) else "Each"
    return (
        f"{where} timed call{whose and f' of {whose}'} copies {', '.join(listed)} into its place; "
        "a caller that takes the returned tensor would not pay for that."
    )


def flag_words(candidate: Sequence[str], incumbent: Sequence[str]) -> str:
    """The flags of two sources that are compiled differently; "" if they are compiled alike."""
    if tuple(candidate) == tuple(incumbent):
        return ""
    own, other = (" ".join(flags) or "none" for flags in (candidate, incumbent))
    return (
        f"The two arms are compiled with different flags: the candidate with {own}, the incumbent "
        f"with {other}."
    )


def notes_of(report: Report) -> tuple[str, ...]:
    """The report's notes, and what its timed calls copy."""
    copies = copied_words(report), copied_words(report, "incumbent", "the incumbent")
    return (*report.notes, *filter(None, copies))


def _timed(report: Report, arm: Arm) -> Iterable[tuple[str, Timing]]:
    for case in report.cases:
        timing = case.candidate if arm == "candidate" else case.incumbent
        if timing is not None:
            yield case.case, timing


# In the order of the sentence; a kind that is not listed keeps its own name.
SAID = {
    "matrix": "matrix products",
    "vector_512": "vectors of 512 bits",
    "vector_256": "vectors of 256 bits",
    "vector_128": "vectors of 128 bits",
    "vector_scalable": "scalable vectors",
    "scalar_float": "single floating-point values",
    "float64": "float64 arithmetic",
    "float32": "float32 arithmetic",
    "float16": "float16 arithmetic",
    "special": "special functions",
    "convert": "conversions",
    "integer": "integers",
    "shuffle": "shuffles",
    "global_load": "loads from global memory",
    "global_store": "stores to global memory",
    "async_copy": "asynchronous copies",
    "shared_load": "loads from shared memory",
    "shared_store": "stores to shared memory",
    "local": "local memory, as for spilled registers",
    "atomic": "atomics",
    "memory": "loads and stores",
    "barrier": "barriers",
    "branch": "branches",
    "call": "calls",
}
# Kinds that explain nothing by themselves.
UNSAID = frozenset({"other"})
# The number of functions in a sentence, longest first.
TOLD = 2


def code_words(code: MachineCode) -> str:
    """The longest functions in one line, or why there are none."""
    if not code.functions:
        return f"its instructions were not read: {code.note or 'there are none'}"
    longest = sorted(code.functions, key=lambda one: -one.instructions)
    told = "; ".join(f"{one.name}: {function_words(one)}" for one in longest[:TOLD])
    more = len(longest) - TOLD
    return f"{told}; and {more} more" if more > 0 else told


def function_words(function: Function) -> str:
    """Say "312 instructions: vectors of 256 bits 24, loads and stores 30, calls 2 (expf)"."""
    unknown = sorted(kind for kind in function.kinds if kind not in SAID and kind not in UNSAID)
    more = {"call": ", ".join(sorted(function.calls))}
    if function.widest_load_bytes:
        more["global_load"] = f"at most {function.widest_load_bytes} bytes a thread"
    parts = []
    for kind in (*SAID, *unknown):
        if count := function.kinds.get(kind, 0):
            words = f"{SAID.get(kind, kind.replace('_', ' '))} {count:,}"
            parts.append(f"{words} ({more[kind]})" if more.get(kind) else words)
    many = "instruction" if function.instructions == 1 else "instructions"
    return f"{function.instructions:,} {many}: {', '.join(parts) or 'none that compute'}"


# Field of `Resources` → what it counts, in the order of the sentence.
TAKEN = {
    "registers": "registers a thread",
    "accumulators": "of them accumulators",
    "scalars": "scalar registers a wave",
    "spilled": "registers spilled",
    "stack_bytes": "B of stack a thread",
    "shared_bytes": "B of shared memory a block",
    "threads": "threads a block",
}


def resource_words(used: Resources) -> str:
    """Say "32 registers a thread, 0 registers spilled"; what is not known is left out."""
    known = {name: getattr(used, name) for name in TAKEN}
    told = [f"{value:,} {TAKEN[name]}" for name, value in known.items() if value is not None]
    return ", ".join(told) or "what it takes is not known"


def width_words(function: Function) -> str:
    """Say "stores to global memory 2 of 16 B"; "" where it moves nothing."""
    told = []
    for kind, widths in sorted(function.widths.items()):
        sizes = sorted(widths.items(), key=lambda item: -int(item[0]))
        told.append(f"{SAID.get(kind, kind)} {' and '.join(f'{n} of {b} B' for b, n in sizes)}")
    return "; ".join(told)


def occupancy_words(found: Occupancy) -> str:
    """How many blocks and warps an SM holds, what limits them and what would fit one more."""
    words = (
        f"{found.blocks} blocks, {found.warps} of {found.most_warps} warps fit "
        f"({found.share:.0%}), limited by {found.limiter}"
    )
    return f"{words}; {found.next_step}" if found.next_step else words


def target_words(target: IsaTarget) -> str:
    """A target of the code with its number and bound, and what helps where it is not met."""
    told = f"met: {target.name}, {target.sentence}"
    return told if target.is_met else f"not {told}; try {', '.join(target.strategies)}"


def change_words(change: CodeChange) -> str:
    """Say "integer 19 → 12"; a number that one of the two has not is "none"."""
    before, after = (
        "none" if one is None else f"{one:,.0f}" for one in (change.before, change.after)
    )
    return f"{SAID.get(change.what, change.what.replace('_', ' '))} {before} → {after}"


def launch_words(launch: KernelLaunch) -> str:
    """Registers and shared memory of one block, and the occupancy, with their source."""
    words = (
        f"{launch.registers} registers a thread, {launch.shared_bytes:,} B shared memory a block"
    )
    if launch.occupancy_percent is not None:
        words += f", {launch.occupancy_percent} % occupancy that this grid can reach (estimate)"
    return f"{words}, by the driver's tracer"
