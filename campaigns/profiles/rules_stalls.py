"""Patterns of waiting: what most warps wait for, where issue slots are free (R26).

STALLED and the share of free slots are of Nsight Compute's rule CPIStall. Of AMD a thread trace
tells: stalled cycles for an issued instruction, and the share of all cycles that is stalled.
"""

from __future__ import annotations

from campaigns.profiles.classify import HIGH_PCT, worst_stall
from campaigns.profiles.kernel_profile import KernelProfile, Vendor
from campaigns.profiles.metrics import STALLS, metric_of
from campaigns.profiles.pattern import (
    Check,
    Confidence,
    CounterPattern,
    CounterSign,
    KernelWork,
    helps,
)

STALLED, FREE = 0.3, 0.2
# A fixed time between dependent instructions is hidden, not taken away: it tells no share.
HIDDEN = "stall_wait"
READY = "stall_not_selected"
# Of a stall that tops the list: what helps.
AGAINST = {
    "stall_long_scoreboard": helps("cu.ilp cu.cpasync tr.stages", "fd.1 ge.5.vmcnt tr.stages"),
    "stall_short_scoreboard": helps("cu.shuffle cu.fastmath", "fd.3 ge.3.a0 ge.4.xor"),
    "stall_lg_throttle": helps("cu.vec128 cu.smem.tile", "fd.5 ge.7.preissue tr.hints"),
    "stall_mio_throttle": helps("cu.regtile cu.shuffle", "fd.8 ge.4.ds2 ge.2.direct"),
    "stall_barrier": helps("cu.syncwarp cu.shuffle", "ge.3.pingpong ge.3.prodcons"),
    "stall_math_pipe_throttle": helps("cu.tensor cu.strength", "ge.1.widek ge.6.sched"),
    "stall_no_instruction": helps("cu.unroll"),
    "stall_imc_miss": helps("cu.constmem cu.lut"),
    "stall_membar": helps("cu.fence"),
    "stall_drain": helps("cu.coalesce cu.vec128"),
    "stall_wait": helps("cu.ilp cu.unroll"),
    "stall_branch_resolving": helps("cu.diverge cu.unroll"),
    "stall_gmma": helps("cu.warpspec cu.ktiles"),
    "stall_scalar_memory": helps(amd="tr.hoist tr.constexpr"),
}


def _stalled(name: str) -> Check:
    """The stall that most warps are in, where neither issue slots nor memory are at their limit."""

    def check(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
        values = profile.values
        counted = "stalled_pct" if profile.vendor is Vendor.AMD else "issue_pct"
        if counted not in values:
            return None
        free = values[counted] / 100 if counted == "stalled_pct" else 1 - values[counted] / 100
        worst, share = worst_stall(values)
        # What is at the memory's limit waits for it, whatever hides the waiting.
        is_limit = name == "stall_long_scoreboard" and values.get("memory_pct", 0.0) >= HIGH_PCT
        if free <= FREE or worst != name or share < STALLED or is_limit:
            return None
        words = f"{100 * share:.0f} % of the stalls are {metric_of(name, profile.vendor).meaning}"
        return CounterSign(words, (name, counted), None if name == HIDDEN else share * free)

    return check


def _enough_warps(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    ready, there = profile.values.get(READY), profile.values.get("occupancy_pct")
    if ready is None or there is None:
        return None
    waiting = ready + sum(profile.values[name] for name in STALLS if name in profile.values)
    part = ready / waiting if waiting else 0.0
    if part < STALLED:
        return None
    words = f"{100 * part:.0f} % of the waiting warps are ready: more of them would not help"
    return CounterSign(words, (READY, "occupancy_pct"))


LIKELY = Confidence.LIKELY
STALL_PATTERNS = (
    *(CounterPattern(name, _stalled(name), ids, LIKELY) for name, ids in AGAINST.items()),
    CounterPattern("enough_warps", _enough_warps, helps("cu.regtile cu.coarsen"), LIKELY),
)
