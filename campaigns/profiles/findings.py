"""Patterns in a kernel's counters that are known to cost time, each with the numbers that show it.

Several may hold; which one limits the kernel is `classify`'s answer. A pattern without its counters
says nothing. STALLED and ISSUING_PCT are of Nsight Compute's rule CPIStall; the other bounds are
ours, held by kernels whose cause is known (docs/benchmarks/bottlenecks.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from campaigns.profiles.classify import HIGH_PCT, TAIL_WAVES, worst_stall
from campaigns.profiles.metrics import METRICS
from campaigns.profiles.ncu import KernelProfile


class Confidence(StrEnum):
    """How surely the pattern costs time here."""

    SURE = "sure"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class ProfileFinding:
    """evidence: metric → value. strategies: of the catalogue. share: of the time that it may take,
    at most and by its own counters; None where they do not tell."""

    name: str
    words: str
    confidence: Confidence
    evidence: Mapping[str, float]
    strategies: tuple[str, ...]
    share: float | None = None


# The most sectors of 32 bytes that a warp's request for neighbours takes: 16 bytes a thread.
MOST_SECTORS = 16.0
CONFLICTS, SPILLS_PCT = 0.3, 1.0
# A kernel that keeps nothing busy and asks for an atomic as often as for every fifth load.
IDLE_PCT, ATOMIC_SHARE = 10.0, 0.2
STALLED, ISSUING_PCT = 0.3, 80.0
FEW_FIT_PCT, FULL_WARP = 50.0, 24.0
EVEN = 0.9
SPECIAL_PCT = 60.0

Rule = Callable[[KernelProfile], ProfileFinding | None]
SURE, LIKELY = Confidence.SURE, Confidence.LIKELY
# Of a stall that tops the list: what helps.
AGAINST_STALLS = {
    "stall_long_scoreboard": ("cu.ilp", "cu.cpasync", "tr.stages"),
    "stall_short_scoreboard": ("cu.shuffle", "cu.fastmath"),
    "stall_lg_throttle": ("cu.vec128", "cu.smem.tile"),
    "stall_mio_throttle": ("cu.regtile", "cu.shuffle"),
    "stall_barrier": ("cu.syncwarp", "cu.shuffle"),
    "stall_math_pipe_throttle": ("cu.tensor", "cu.strength"),
    "stall_no_instruction": ("cu.unroll",),
}


def findings(profile: KernelProfile) -> tuple[ProfileFinding, ...]:
    """All that hold: the sure ones first, and then the largest share of the time."""
    found = [one for rule in RULES if (one := rule(profile))]
    return tuple(sorted(found, key=lambda one: (one.confidence != SURE, -(one.share or 0.0))))


def _uncoalesced(word: str) -> Rule:
    sectors, requests = f"{word}_sectors", f"{word}_requests"

    def rule(profile: KernelProfile) -> ProfileFinding | None:
        each = profile.ratio(sectors, requests)
        # One more for arrays that begin anywhere.
        if each is None or each <= MOST_SECTORS + 1:
            return None
        words = f"a warp's {word} touches {each:.0f} sectors; neighbours take 4 to 16"
        helps = ("cu.coalesce", "cu.smem.tile", "cu.swizzle.grid")
        return ProfileFinding(
            f"uncoalesced_{word}s", words, SURE, _shown(profile, sectors, requests), helps
        )

    return rule


def _small_grid(profile: KernelProfile) -> ProfileFinding | None:
    grid, sms = profile.values.get("grid"), profile.values.get("sms")
    if grid is None or sms is None or grid >= sms:
        return None
    words = f"it has {grid:.0f} of the blocks that {sms:.0f} SMs need"
    helps = ("cu.blockperrow", "cu.splitk", "tr.splitk")
    share = 1 - grid / sms
    return ProfileFinding("small_grid", words, SURE, _shown(profile, "grid", "sms"), helps, share)


def _tail(profile: KernelProfile) -> ProfileFinding | None:
    waves, mean = profile.values.get("waves"), profile.ratio("busy_cycles", "busiest_cycles")
    if waves is None or mean is None or not 1 < waves < TAIL_WAVES or mean >= EVEN:
        return None
    words = f"{waves:.3g} loads of blocks: a mean SM works {mean:.0%} of the time"
    shown = _shown(profile, "waves", "busy_cycles", "busiest_cycles")
    return ProfileFinding(
        "tail_wave", words, SURE, shown, ("cu.persistent", "tr.persist"), 1 - mean
    )


def _spills(profile: KernelProfile) -> ProfileFinding | None:
    share, loads = profile.values.get("spill_pct"), profile.values.get("local_loads")
    if not loads or share is None or share < SPILLS_PCT:
        return None
    words = "registers that did not fit go through memory"
    shown = _shown(profile, "spill_pct", "local_loads", "registers")
    return ProfileFinding("spills", words, SURE, shown, ("cu.spill", "cu.block", "cu.regtile"))


def _conflicts(profile: KernelProfile) -> ProfileFinding | None:
    share = profile.ratio("shared_conflicts", "shared_passes")
    if share is None or share < CONFLICTS:
        return None
    words = f"{share:.0%} of the passes of shared memory are conflicts"
    shown = _shown(profile, "shared_conflicts", "shared_passes")
    return ProfileFinding("bank_conflicts", words, SURE, shown, ("cu.smem.pad", "cu.smem.swizzle"))


def _contended(profile: KernelProfile) -> ProfileFinding | None:
    values = profile.values
    atomics = values.get("reductions", 0.0) + values.get("atomics", 0.0)
    busiest = max(values.get("sm_pct", 100.0), values.get("memory_pct", 100.0))
    if busiest >= IDLE_PCT or atomics <= ATOMIC_SHARE * values.get("load_requests", 0.0):
        return None
    words = "atomics of many threads at few places wait for each other"
    shown = _shown(profile, "reductions", "atomics", "load_requests", "memory_pct")
    helps = ("cu.shuffle", "cu.smem.tile")
    return ProfileFinding("contended_atomics", words, SURE, shown, helps, 1 - busiest / 100)


def _limited(what: str, helps: tuple[str, ...]) -> Rule:
    def rule(profile: KernelProfile) -> ProfileFinding | None:
        limits = {n: v for n, v in profile.values.items() if n.startswith("limit_")}
        most = profile.values.get("occupancy_most_pct")
        if most is None or most > FEW_FIT_PCT or what not in limits:
            return None
        if limits[what] > min(limits.values()):
            return None
        words = f"{limits[what]:.0f} {METRICS[what].meaning} on an SM, {most:.0f} % of its warps"
        shown = _shown(profile, what, "occupancy_most_pct", "registers", "shared_bytes")
        name = what.replace("limit", "occupancy_by")
        return ProfileFinding(name, words, LIKELY, shown, helps)

    return rule


def _divergent(profile: KernelProfile) -> ProfileFinding | None:
    threads = profile.values.get("threads")
    if threads is None or threads >= FULL_WARP:
        return None
    words = f"{threads:.0f} of a warp's 32 threads take part"
    helps = ("cu.diverge", "cu.sizes")
    return ProfileFinding(
        "divergence", words, SURE, _shown(profile, "threads"), helps, 1 - threads / 32
    )


def _special(profile: KernelProfile) -> ProfileFinding | None:
    share = profile.values.get("special_pct")
    if share is None or share < SPECIAL_PCT:
        return None
    words = f"the special function unit is at {share:.0f} %"
    shown = _shown(profile, "special_pct")
    return ProfileFinding("special_functions", words, SURE, shown, ("cu.fastmath", "tr.exp2"))


def _stalled(profile: KernelProfile) -> ProfileFinding | None:
    """The stall that most warps are in, where neither issue slots nor memory are at their limit."""
    values = profile.values
    issuing = values.get("issue_pct")
    if issuing is None or issuing >= ISSUING_PCT:
        return None
    worst, share = worst_stall(values)
    # What is at the memory's limit waits for it, whatever hides the waiting.
    is_limit = worst == "stall_long_scoreboard" and values.get("memory_pct", 0.0) >= HIGH_PCT
    if share < STALLED or worst not in AGAINST_STALLS or is_limit:
        return None
    words = f"{share:.0%} of the stalls are {METRICS[worst].meaning}"
    shown, helps = _shown(profile, worst, "issue_pct"), AGAINST_STALLS[worst]
    return ProfileFinding(worst, words, LIKELY, shown, helps, share * (1 - issuing / 100))


def _shown(profile: KernelProfile, *names: str) -> dict[str, float]:
    return {name: profile.values[name] for name in names if name in profile.values}


RULES: tuple[Rule, ...] = (
    _uncoalesced("load"),
    _uncoalesced("store"),
    _small_grid,
    _tail,
    _spills,
    _conflicts,
    _contended,
    _limited("limit_registers", ("cu.block", "cu.regtile")),
    _limited("limit_shared", ("cu.smemspill", "cu.block")),
    _divergent,
    _special,
    _stalled,
)
