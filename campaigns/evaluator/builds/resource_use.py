"""What compilers say of registers, spills, stack and shared memory, in the largest kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable

from campaigns.evaluator.contract import BuildFacts

# Of `ptxas -v`, a line each; see "ptxas options" in the manual of nvcc.
STACK = re.compile(r"(\d+) bytes stack frame")
SPILLS = re.compile(r"(\d+) bytes spill stores")
REGISTERS = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
# Of `cuobjdump --dump-resource-usage`.
LISTED = {
    "registers": re.compile(r"\bREG:(\d+)"),
    "stack_bytes": re.compile(r"\bSTACK:(\d+)"),
    "shared_bytes": re.compile(r"\bSHARED:(\d+)"),
    "spill_bytes": re.compile(r"\bLOCAL:(\d+)"),
}


def facts_from_ptxas(log: str) -> BuildFacts:
    """What `ptxas -v` printed; of several kernels the most of each."""
    return BuildFacts(
        registers=_most(REGISTERS, log),
        spill_bytes=_most(SPILLS, log),
        stack_bytes=_most(STACK, log),
        shared_bytes=_most(SHARED, log) or (0 if REGISTERS.search(log) else None),
    )


def facts_from_listing(listing: str, shared_bytes: Iterable[int]) -> BuildFacts:
    """What `cuobjdump` listed. shared_bytes: asked for at the launches, as Triton does."""
    found = {name: _most(pattern, listing) for name, pattern in LISTED.items()}
    found["shared_bytes"] = max([found["shared_bytes"] or 0, *shared_bytes])
    return BuildFacts(**found)


def _most(pattern: re.Pattern[str], text: str) -> int | None:
    return max(map(int, pattern.findall(text)), default=None)
