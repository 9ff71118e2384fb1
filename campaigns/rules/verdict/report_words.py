"""Sentences on what a report shows besides times: copies within timed calls, and machine code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from campaigns.evaluator.contract import (
    CopiedOutput,
    Function,
    KernelLaunch,
    MachineCode,
    Report,
    Timing,
)
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
    """As "312 instructions: vectors of 256 bits 24, loads and stores 30, calls 2 (expf)"."""
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


def launch_words(launch: KernelLaunch) -> str:
    """Registers and shared memory of one block, and the occupancy."""
    words = f"{launch.registers} registers a thread"
    words += f", {launch.shared_bytes:,} B shared memory a block"
    if launch.occupancy_percent is None:
        return words
    return f"{words}, {launch.occupancy_percent} % occupancy (estimate)"
