"""Patterns of memory: scattered or narrow accesses, spills, conflicts, atomics, caches (R26)."""

from __future__ import annotations

from campaigns.profiles.classify import HIGH_PCT, stall_shares
from campaigns.profiles.kernel_profile import KernelProfile
from campaigns.profiles.pattern import (
    Check,
    Confidence,
    CounterPattern,
    CounterSign,
    KernelWork,
    beyond,
    helps,
)

# Sectors of 32 bytes that a warp's request for neighbours takes: at most, and of 4 bytes a thread.
MOST_SECTORS, NARROW_SECTORS = 16.0, 4.0
# From this share of stalls on, the queue of memory instructions counts as full.
QUEUED = 0.3
CONFLICTS = 0.3
# A kernel that keeps nothing busy and asks for an atomic as often as for every fifth load.
IDLE_PCT, ATOMIC_SHARE = 10.0, 0.2
# Local loads to global ones, where registers fit.
LOCAL = 0.05
# Instructions that spill to requests of local loads.
SPILT = 0.01
# Bytes of DRAM to the least: read anew, and so often that L2 does not hold what is read again.
OVER, THRASH, L2_FINDS_PCT = 1.2, 1.5, 50.0
# Reads of 32 bytes among all that leave L2: FlyDSL takes less for whole lines.
SMALL_READS = 0.05
_MOVED = ("dram_read_bytes", "dram_write_bytes")


def _uncoalesced(word: str) -> Check:
    sectors, requests = f"{word}_sectors", f"{word}_requests"

    def check(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
        each = profile.ratio(sectors, requests)
        # One more for arrays that begin anywhere.
        if each is None or each <= MOST_SECTORS + 1:
            return None
        words = f"a warp's {word} touches {each:.0f} sectors; neighbours take 4 to 16"
        return CounterSign(words, (sectors, requests))

    return check


def _narrow(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    each = profile.ratio("load_sectors", "load_requests")
    queued = stall_shares(profile.values).get("stall_lg_throttle", 0.0)
    if each is None or not 0 < each <= NARROW_SECTORS + 1 or queued < QUEUED:
        return None
    share = f"{100 * queued:.0f} % of the stalls"
    words = f"a warp's load brings {each:.0f} sectors, 16 fit, and {share} queue"
    return CounterSign(words, ("load_sectors", "load_requests", "stall_lg_throttle"))


def _spills(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    part = profile.ratio("spills", "local_loads")
    if part is None or part < SPILT:
        return None
    words = "registers that did not fit go through memory"
    return CounterSign(words, ("spills", "local_loads", "registers"))


def _local(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    to_global = profile.ratio("local_loads", "load_requests")
    spilt = profile.ratio("spills", "local_loads")
    # Of registers that did not fit `spills` tells.
    if to_global is None or to_global < LOCAL or spilt is None or spilt >= SPILT:
        return None
    many = f"{100 * to_global:.0f} % as many local loads as global ones"
    words = f"arrays that registers cannot hold: {many}"
    return CounterSign(words, ("local_loads", "load_requests", "spills"))


def _conflicts(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    part = profile.ratio("shared_conflicts", "shared_passes")
    shown = ("shared_conflicts", "shared_passes", "conflict_pct")
    stalled = profile.values.get("conflict_pct")
    if part is None or part < CONFLICTS:
        return beyond("conflict_pct", "bank conflicts stall LDS {0:.0f} % of the time", full=100)(
            profile, work
        )
    words = f"{100 * part:.0f} % of the passes of shared memory are conflicts"
    return CounterSign(words, shown, None if stalled is None else min(1.0, stalled / 100))


def _contended(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    values = profile.values
    atomics = values.get("reductions", 0.0) + values.get("atomics", 0.0)
    busiest = max(values.get("sm_pct", 100.0), values.get("memory_pct", 100.0))
    if busiest >= IDLE_PCT or atomics <= ATOMIC_SHARE * values.get("load_requests", 0.0):
        return None
    words = "atomics of many threads at few places wait for each other"
    shown = ("reductions", "atomics", "load_requests", "memory_pct")
    return CounterSign(words, shown, 1 - busiest / 100)


def _thrash(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    """What is read again is not in L2. A kernel that streams misses as well: it reads all once."""
    hit = profile.values.get("l2_hit_pct")
    if hit is None or hit >= L2_FINDS_PCT:
        return None
    over = _over(profile, work)
    if over is not None and over >= THRASH:
        words = f"L2 finds {hit:.0f} %, and DRAM moves {over:.1f} times the least bytes"
        return CounterSign(words, ("l2_hit_pct", *_MOVED), 1 - 1 / over)
    if over is None and work.multiplies and profile.values.get("dram_pct", 0.0) >= HIGH_PCT:
        words = f"L2 finds {hit:.0f} % of what a product of matrices reads again"
        return CounterSign(words, ("l2_hit_pct", "dram_pct"))
    return None


def _over_fetch(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    over = _over(profile, work)
    if over is None or over < OVER:
        return None
    words = f"DRAM moves {over:.2f} times the least bytes"
    return CounterSign(words, _MOVED, 1 - 1 / over)


def _over(profile: KernelProfile, work: KernelWork) -> float | None:
    """What is written may stay in L2, so this is the least that it can be."""
    if profile.dram_bytes is None or work.least_bytes is None:
        return None
    return profile.dram_bytes / work.least_bytes


def _small_reads(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    part = profile.ratio("reads_32b", "reads")
    if part is None or part < SMALL_READS:
        return None
    words = f"{100 * part:.0f} % of the reads that leave L2 are of 32 bytes: lines are used in part"
    return CounterSign(words, ("reads_32b", "reads"))


_SCATTERED = "cu.coalesce cu.smem.tile cu.swizzle.grid"
LIKELY = Confidence.LIKELY
MEMORY_PATTERNS = (
    CounterPattern("uncoalesced_loads", _uncoalesced("load"), helps(_SCATTERED)),
    CounterPattern("uncoalesced_stores", _uncoalesced("store"), helps(_SCATTERED)),
    CounterPattern("narrow_loads", _narrow, helps("cu.vec128 tr.hints cu.coarsen"), LIKELY),
    CounterPattern("spills", _spills, helps("cu.spill cu.block cu.regtile")),
    CounterPattern("local_arrays", _local, helps("cu.unroll cu.spill cu.smemspill"), LIKELY),
    CounterPattern(
        "scratch",
        beyond("scratch_bytes", "{0:.0f} bytes a work-item go through memory for registers"),
        helps(amd="ge.12.agpr ge.12.liveness tr.tile"),
        LIKELY,
    ),
    CounterPattern(
        "bank_conflicts", _conflicts, helps("cu.smem.pad cu.smem.swizzle", "fd.3 ge.4.xor")
    ),
    CounterPattern("contended_atomics", _contended, helps("cu.shuffle cu.smem.tile")),
    CounterPattern(
        "l2_thrash",
        _thrash,
        helps("cu.swizzle.grid tr.swizzle cu.l2.persist", "tr.swizzle ge.13.wgm ge.13.xcd"),
        LIKELY,
    ),
    CounterPattern(
        "over_fetch",
        _over_fetch,
        helps("cu.fuse cu.smem.tile cu.online", "tr.fuse tr.rowonce ge.9.areuse"),
        LIKELY,
    ),
    CounterPattern("small_reads", _small_reads, helps(amd="tr.hints tr.tile fd.4"), LIKELY),
    CounterPattern(
        "memory_unit_stalled",
        beyond("memory_stalled_pct", "the memory unit is stalled {0:.0f} % of the time", full=100),
        helps(amd="fd.5 tr.fuse tr.hints"),
        LIKELY,
    ),
    CounterPattern(
        "write_unit_stalled",
        beyond("write_stalled_pct", "the write unit is stalled {0:.0f} % of the time", full=100),
        helps(amd="fd.7 ge.7.cshuffle tr.fuse"),
        LIKELY,
    ),
    CounterPattern(
        "shared_memory_queue",
        beyond("shared_stalled_pct", "vector units wait for LDS {0:.0f} % of the time", full=100),
        helps(amd="fd.8 ge.2.direct ge.4.ds2"),
        LIKELY,
    ),
)
