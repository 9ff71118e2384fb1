"""Commands that collect what the rules read, for a host that kopt does not run on.

Options are those of "Nsight Compute CLI" and of ROCm's pages "Using rocprofv3" and "Using thread
trace". AMD's were run on no card.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from campaigns.evaluator.contract.programs import NCU, NCU_TABLE, ncu_counting
from campaigns.profiles import amd
from campaigns.profiles.kernel_profile import Vendor
from campaigns.profiles.metrics import DEFAULT_COUNTERS

# A block of an AMD card counts few things at once; more than four of L2's in one run hung gfx942.
PASS_COUNTERS, L2 = 4, "TCC_"
# Large enough for a kernel of some milliseconds; one compute unit of each traced engine.
TRACE = ("--att", "--att-target-cu", "1", "--att-buffer-size", "0x6000000")


def commands(vendor: Vendor, kernel: str, program: Sequence[str]) -> tuple[str, ...]:
    """One a line of a shell. kernel: its name as the source has it."""
    if vendor is Vendor.NVIDIA:
        only = ("--kernel-name-base", "function", "--kernel-name", f"regex:^{re.escape(kernel)}$")
        counted = ncu_counting(DEFAULT_COUNTERS)
        told = (*NCU_TABLE, "--log-file", "profile.csv")
        as_is = ("--clock-control", "none", "--launch-count", "3")
        return (shlex.join((NCU, *told, *only, *as_is, *counted, *program)),)
    only = ("--kernel-include-regex", f"^{re.escape(kernel)}", "--kernel-iteration-range", "[1-3]")
    passes = [("--pmc", *names, "--output-format", "csv") for names in _passes()]
    return tuple(
        shlex.join(("rocprofv3", *what, *only, "-d", f"pass_{n}", "--", *program))
        for n, what in enumerate((*passes, TRACE), 1)
    )


def _passes() -> list[tuple[str, ...]]:
    followed = {amd.METRICS[name].counter for name, _, _ in amd.FORMULAS}
    names = [name for name in amd.DEFAULT_COUNTERS if name not in followed]
    groups = [[n for n in names if n.startswith(L2) is of_l2] for of_l2 in (False, True)]
    return [
        tuple(group[at : at + PASS_COUNTERS])
        for group in groups
        for at in range(0, len(group), PASS_COUNTERS)
    ]
