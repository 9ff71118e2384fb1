"""Patterns of the work itself: threads that take no part, pipes that are the wrong ones (R26)."""

from __future__ import annotations

from campaigns.profiles.kernel_profile import KernelProfile
from campaigns.profiles.pattern import (
    Confidence,
    CounterPattern,
    CounterSign,
    KernelWork,
    beyond,
    helps,
)

# Of a public classifier: tensor cores are idle, and the plain units work.
IDLE_PCT, WORKS_PCT = 1.0, 50.0
# Of float32 instructions, those that one could do in place of two: rule FPInstructions.
UNFUSED = 0.2
# Threads of a warp that take part, where nothing keeps one out.
WHOLE_WARP = 31.5


def _predicated(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    """Threads are there and switched off; of those that are not there `divergence` tells."""
    off = beyond("threads_on", "{0:.0f} of a warp's 32 threads are switched on", full=32)
    if beyond("threads", "")(profile, work) is not None:
        return None
    return off(profile, work)


def _branches(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    """Where no branch was counted ncu says 0 %; ways that part leave fewer threads on each."""
    if profile.values.get("threads", WHOLE_WARP) >= WHOLE_WARP:
        return None
    words = "{0:.0f} % of the branches go one way for a whole warp"
    return beyond("uniform_pct", words)(profile, work)


def _unfused(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    adds, products, fused = (profile.values.get(name) for name in ("fadd", "fmul", "ffma"))
    if adds is None or products is None or fused is None or not adds + products + fused:
        return None
    part = 2 * min(adds, products) / (adds + products + fused)
    if part < UNFUSED:
        return None
    words = f"{100 * part:.0f} % of the float32 instructions do apart what one FMA does at once"
    return CounterSign(words, ("fadd", "fmul", "ffma"), part / 2)


def _tensor_idle(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    values = profile.values
    tensor, name = values.get("tensor_pct"), "fma_pct" if "fma_pct" in values else "valu_pct"
    plain = values.get(name)
    if not work.multiplies or tensor is None or plain is None:
        return None
    if tensor >= IDLE_PCT or plain <= WORKS_PCT:
        return None
    words = f"it multiplies matrices: tensor cores at {tensor:.0f} %, plain units at {plain:.0f} %"
    return CounterSign(words, ("tensor_pct", name), min(1.0, plain / 100))


def _tensor_waits(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    tensor = profile.values.get("tensor_pct")
    if not work.multiplies or tensor is None or tensor < IDLE_PCT:
        return None
    words = "it multiplies matrices, and tensor cores work {0:.0f} % of the time"
    return beyond("tensor_pct", words, full=100)(profile, work)


LIKELY = Confidence.LIKELY
WORK_PATTERNS = (
    CounterPattern(
        "divergence",
        beyond("threads", "{0:.0f} of a warp's 32 threads take part", full=32),
        helps("cu.diverge cu.sizes"),
    ),
    CounterPattern(
        "wave_divergence",
        beyond("threads_pct", "{0:.0f} % of a wave's work-items take part", full=100),
        helps(amd="tr.mask tr.tile at.4.table"),
    ),
    CounterPattern("predicated_off", _predicated, helps("cu.diverge cu.sizes tr.mask"), LIKELY),
    CounterPattern(
        "divergent_branches",
        _branches,
        helps("cu.diverge tr.mask"),
        LIKELY,
    ),
    CounterPattern(
        "special_functions",
        beyond("special_pct", "the special function unit is at {0:.0f} %"),
        helps("cu.fastmath tr.exp2"),
    ),
    CounterPattern(
        "double_precision",
        beyond("fp64_pct", "the units of double precision are at {0:.0f} %", full=100),
        helps("tr.acc32 cu.strength"),
        LIKELY,
    ),
    CounterPattern("unfused", _unfused, helps("cu.fma cu.flags"), LIKELY),
    CounterPattern(
        "tensor_idle", _tensor_idle, helps("cu.tensor tr.dot", "tr.dot ge.1.widek"), LIKELY
    ),
    CounterPattern(
        "tensor_waits",
        _tensor_waits,
        helps("cu.cpasync cu.warpspec tr.stages", "fd.2 ge.3.pingpong ge.6.sched"),
        LIKELY,
    ),
)
