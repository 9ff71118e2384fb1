"""Patterns of a launch: too few blocks, a last load that is not full, what fits an SM (R26)."""

from __future__ import annotations

import math

from campaigns.profiles.classify import HIGH_PCT, OCCUPIED, TAIL_WAVES
from campaigns.profiles.kernel_profile import KernelProfile, Vendor
from campaigns.profiles.metrics import metric_of
from campaigns.profiles.pattern import (
    Check,
    Confidence,
    CounterPattern,
    CounterSign,
    KernelWork,
    helps,
)

FEW_FIT_PCT = 50.0
EVEN = 0.9
# A last load that is emptier than this of all loads together is worth another shape.
FULL_LOADS = 0.8
THREADS = {Vendor.NVIDIA: 32, Vendor.AMD: 64}
LIMITS = tuple(f"limit_{what}" for what in ("registers", "shared", "warps", "blocks"))


def _small_grid(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    grid, sms = profile.values.get("grid"), profile.values.get("sms")
    if grid is None or sms is None or grid >= sms:
        return None
    unit = metric_of("sms", profile.vendor).meaning
    words = f"it has {grid:.0f} of the blocks that {sms:.0f} {unit} need"
    return CounterSign(words, ("grid", "sms"), 1 - grid / sms)


def _few_waves(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    """Blocks for every SM, but not for its room, and nothing at its limit (rule SpeedOfLight)."""
    values = profile.values
    waves, grid, sms = (values.get(name) for name in ("waves", "grid", "sms"))
    busiest = max(values.get("sm_pct", 100.0), values.get("memory_pct", 100.0))
    if waves is None or grid is None or sms is None or grid < sms:
        return None
    if waves >= 1 or busiest >= HIGH_PCT:
        return None
    words = f"its blocks fill {100 * waves:.0f} % of the room once, and nothing is at its limit"
    return CounterSign(words, ("waves", "grid", "sm_pct", "memory_pct"))


def _tail(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    waves, mean = profile.values.get("waves"), profile.ratio("busy_cycles", "busiest_cycles")
    if waves is None or mean is None or not 1 < waves < TAIL_WAVES or mean >= EVEN:
        return None
    words = f"{waves:.3g} loads of blocks: a mean SM works {100 * mean:.0f} % of the time"
    return CounterSign(words, ("waves", "busy_cycles", "busiest_cycles"), 1 - mean)


def _partial_wave(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    """The last load is far from full. SMs that were counted as even say that it costs nothing."""
    waves, mean = profile.values.get("waves"), profile.ratio("busy_cycles", "busiest_cycles")
    if waves is None or not 1 < waves < TAIL_WAVES or (mean is not None and mean >= EVEN):
        return None
    full = waves / math.ceil(waves)
    if full >= FULL_LOADS:
        return None
    words = f"{waves:.3g} loads of blocks take the time of {math.ceil(waves)}"
    return CounterSign(words, ("waves",), 1 - full)


def _limited(what: str, bound: float = FEW_FIT_PCT) -> Check:
    def check(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
        values = profile.values
        limits = {name: values[name] for name in LIMITS if name in values}
        most = values.get("occupancy_most_pct")
        if most is None or most > bound or what not in limits:
            return None
        if limits[what] > min(limits.values()):
            return None
        meaning = metric_of(what, profile.vendor).meaning
        words = f"{limits[what]:.0f} {meaning} on an SM, {most:.0f} % of its warps"
        shown = (what, "occupancy_most_pct", "registers", "sum_registers", "shared_bytes", "block")
        return CounterSign(words, shown)

    return check


def _gap(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    there, most = profile.values.get("occupancy_pct"), profile.values.get("occupancy_most_pct")
    if there is None or most is None or most <= FEW_FIT_PCT or there >= OCCUPIED * most:
        return None
    # Other patterns report a grid that is too small for the device.
    if profile.values.get("waves", 1.0) < 1:
        return None
    words = f"{there:.0f} % of the warps are there, {most:.0f} % fit: blocks are uneven"
    return CounterSign(words, ("occupancy_pct", "occupancy_most_pct", "waves"))


def _partial_warps(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
    block, size = profile.values.get("block"), THREADS[profile.vendor]
    if not block or not block % size:
        return None
    idle = 1 - block / (size * math.ceil(block / size))
    words = f"blocks of {block:.0f} threads leave {100 * idle:.0f} % of their warps' lanes empty"
    return CounterSign(words, ("block",), idle)


LIKELY = Confidence.LIKELY
_MORE_BLOCKS = helps("cu.blockperrow cu.splitk tr.splitk", "tr.splitk fd.10 tr.tile")
LAUNCH_PATTERNS = (
    CounterPattern("small_grid", _small_grid, _MORE_BLOCKS),
    CounterPattern("few_waves", _few_waves, _MORE_BLOCKS, LIKELY),
    CounterPattern("tail_wave", _tail, helps("cu.persistent tr.persist")),
    CounterPattern(
        "partial_wave",
        _partial_wave,
        helps("cu.persistent tr.persist", "tr.persist ge.13.persistid"),
        LIKELY,
    ),
    CounterPattern(
        "occupancy_by_registers",
        _limited("limit_registers"),
        helps("cu.block cu.regtile", "ge.12.quantum ge.12.agpr tr.wpe"),
        LIKELY,
    ),
    CounterPattern(
        "occupancy_by_shared",
        _limited("limit_shared"),
        helps("cu.smemspill cu.block", "ge.7.splitlds tr.tile"),
        LIKELY,
    ),
    # A block that takes many slots leaves a rest of them empty, never half.
    CounterPattern(
        "occupancy_by_warps",
        _limited("limit_warps", 80.0),
        helps("cu.block cu.sizes", "tr.warps tr.tile"),
        LIKELY,
    ),
    CounterPattern(
        "occupancy_by_blocks", _limited("limit_blocks"), helps("cu.block cu.coarsen"), LIKELY
    ),
    CounterPattern("occupancy_gap", _gap, helps("cu.persistent tr.persist", "tr.persist"), LIKELY),
    CounterPattern("partial_warps", _partial_warps, helps("cu.block cu.sizes", "tr.warps tr.tile")),
)
