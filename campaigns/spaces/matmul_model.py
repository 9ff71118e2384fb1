"""Ranks the tiles of a matrix product by a model of waves, pipelines and arithmetic intensity.

The model is coarse and knows no instruction of any chip: what it puts first is worth a first try,
no more. Its constants are of the size that data-centre GPUs have; only the order that they give
matters. A search begins with the tiles, stages and warps that libraries use, in that order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import ceil, sqrt
from typing import NamedTuple

from campaigns.evaluator.contract import Param
from campaigns.spaces.space import Point, Space

# Between asking for a tile in memory and having it, and between two steps of a block, in seconds.
LOAD_LATENCY_S = 8e-7
BARRIER_S = 3e-8
# The part of a wait that no pipeline hides.
EXPOSED = 0.1
# How much faster caches deliver than memory, where neighbouring tiles share operands.
CACHE_FACTOR = 2.0
# Warps that keep a multiprocessor's schedulers busy.
BUSY_WARPS = 8
THREADS_PER_WARP = 32
# Registers of a thread that are left for sums.
SUM_REGISTERS = 168

# Of tiles the squares and their halves, as CUTLASS and the lists of Triton's tutorials have them.
SQUARES = (64, 128, 256)
TILES = {pair for n in SQUARES for pair in ((n, n), (n, n // 2), (n // 2, n))}
SIDES = tuple(sorted({m for m, _ in TILES}))
# The model ranks at most this many points, and a search begins with the best of them.
MODELLED, MODEL_SEEDS = 20_000, 12
USUAL = {"m": SIDES, "n": SIDES, "k": (16, 32, 64), "warps": (4, 8), "stages": (3, 4)}


@dataclass(frozen=True, slots=True)
class MatmulShape:
    """An m × k matrix times a k × n one; element_bytes: the size of what is multiplied."""

    m: int
    n: int
    k: int
    element_bytes: int


@dataclass(frozen=True, slots=True)
class MatmulDevice:
    """What the model asks of a device, from cited values; peak in operations of the data's type."""

    multiprocessors: int
    bandwidth_bytes_per_s: float
    peak_flops: float
    shared_bytes_per_multiprocessor: int | None = None


@dataclass(frozen=True, slots=True)
class MatmulTask:
    """One product on one device."""

    shape: MatmulShape
    device: MatmulDevice


@dataclass(frozen=True, slots=True)
class TileKnobs:
    """The names of the knobs that the model reads; one that a point lacks counts as `UNSAID`."""

    m: str = "BLOCK_M"
    n: str = "BLOCK_N"
    k: str = "BLOCK_K"
    warps: str = "num_warps"
    stages: str = "num_stages"


UNSAID = {"m": 64, "n": 64, "k": 32, "warps": 4, "stages": 3}


ROLES = {axis: rf"(^|_)(BLOCK|TILE|B)_?(SIZE_?)?{axis}$" for axis in "mnk"}
ROLES |= {"warps": "(^|_)num_warps$", "stages": "(^|_)num_stages$"}


def knob_roles(space: Space) -> dict[str, str]:
    """Which knob sizes what of a tile and its schedule; empty where two knobs have one role."""
    found: dict[str, str] = {}
    for role, pattern in ROLES.items():
        names = [k.name for k in space.knobs if re.search(pattern, k.name, re.IGNORECASE)]
        if len(names) > 1:
            return {}
        if names:
            found[role] = names[0]
    return found


def tile_knobs(space: Space) -> TileKnobs | None:
    """The knobs that size the tiles of a product, by their names; None where that is not clear."""
    found = knob_roles(space)
    return TileKnobs(**found) if {"m", "n"} <= set(found) else None


def library_grid(space: Space, task: MatmulTask | None = None) -> list[Point]:
    """The legal points of that grid, the other knobs as they are; none where no knob is of it.

    task: the product that the kernel computes: a model ranks the points then. Else those come
    first that are the fewest steps away from the source.
    """
    roles = knob_roles(space)
    known = {knob.name: knob.values for knob in space.knobs}
    choices: dict[str, list[Param]] = {
        name: [value for value in USUAL[role] if value in known[name]] or [space.defaults[name]]
        for role, name in roles.items()
    }
    sides = [roles[side] for side in "mn" if side in roles]
    found: list[Point] = []
    for chosen in product(*choices.values()) if choices else ():
        point = {**space.defaults, **dict(zip(choices, chosen, strict=True))}
        is_tile = len(sides) < 2 or tuple(point[side] for side in sides) in TILES
        if is_tile and not space.is_legal(point):
            found.append(point)
    knobs = tile_knobs(space)
    if task is not None and knobs is not None:
        return ranked(found, task.shape, task.device, knobs)

    def steps(point: Point) -> int:
        places = ((known[n].index(point[n]), known[n].index(space.defaults[n])) for n in choices)
        return sum(abs(there - here) for there, here in places)

    return sorted(found, key=steps)


def ranked(
    points: Iterable[Point],
    shape: MatmulShape,
    device: MatmulDevice,
    knobs: TileKnobs = TileKnobs(),
) -> list[Point]:
    """The points, the one that the model takes for fastest first."""
    return sorted(points, key=lambda point: _seconds(point, knobs, shape, device))


class Modelled(NamedTuple):
    """What the model ranks first, and how much faster than the source it takes the best."""

    points: tuple[Point, ...] = ()
    gain: float = 1.0


def fastest_modelled(space: Space, task: MatmulTask | None) -> Modelled:
    """The points to begin a search with; none where the kernel is no product of known shape."""
    knobs = tile_knobs(space)
    if task is None or knobs is None:
        return Modelled()
    best = ranked(space.points_at_most(MODELLED), task.shape, task.device, knobs)[:MODEL_SEEDS]
    present, *others = (
        _seconds(point, knobs, task.shape, task.device) for point in (space.defaults, *best)
    )
    return Modelled(tuple(best), present / min(others, default=present))


class _Tile(NamedTuple):
    m: int
    n: int
    k: int
    warps: int
    stages: int


def _seconds(point: Point, knobs: TileKnobs, shape: MatmulShape, device: MatmulDevice) -> float:
    """What the product is estimated to take."""
    tile = _Tile(*(int(point.get(getattr(knobs, role), UNSAID[role])) for role in _Tile._fields))
    blocks = ceil(shape.m / tile.m) * ceil(shape.n / tile.n)
    each = ceil(blocks / device.multiprocessors)
    at_once = min(each, _resident(tile, shape, device))
    steps = ceil(shape.k / tile.k)
    step = _step_seconds(tile, shape, device, at_once)
    filled = LOAD_LATENCY_S + (tile.stages - 1) * _load_seconds(tile, shape, device)
    return each / at_once * (steps * step + filled)


def _step_seconds(tile: _Tile, shape: MatmulShape, device: MatmulDevice, at_once: int) -> float:
    """One step along k of all blocks that a multiprocessor works on at once."""
    threads = tile.warps * THREADS_PER_WARP
    sums = tile.m * tile.n / threads
    reuse = sqrt(sums) / (sqrt(sums) + 2)
    busy = min(1.0, sqrt(at_once * tile.warps / BUSY_WARPS))
    spilled = max(1.0, sums / SUM_REGISTERS) ** 2
    peak = device.peak_flops / device.multiprocessors
    compute = 2 * tile.m * tile.n * tile.k / (peak * reuse * busy) * spilled * at_once
    load = _load_seconds(tile, shape, device) * at_once
    if tile.stages == 1:
        return compute + load + LOAD_LATENCY_S / at_once + BARRIER_S
    waiting = LOAD_LATENCY_S / (tile.stages - 1)
    return max(compute, load, waiting) + EXPOSED * waiting + BARRIER_S


def _load_seconds(tile: _Tile, shape: MatmulShape, device: MatmulDevice) -> float:
    """One block's operands of one step, at a multiprocessor's share of what caches deliver."""
    share = CACHE_FACTOR * device.bandwidth_bytes_per_s / device.multiprocessors
    return (tile.m + tile.n) * tile.k * shape.element_bytes / share


def _resident(tile: _Tile, shape: MatmulShape, device: MatmulDevice) -> int:
    """The blocks that a multiprocessor holds at once, as far as registers and shared memory go."""
    sums = tile.m * tile.n / (tile.warps * THREADS_PER_WARP)
    by_registers = int(2 * BUSY_WARPS / tile.warps * min(4.0, SUM_REGISTERS / max(sums, 1)))
    if device.shared_bytes_per_multiprocessor is None:
        return max(1, by_registers)
    stage = (tile.m + tile.n) * tile.k * shape.element_bytes
    by_shared = device.shared_bytes_per_multiprocessor // (stage * max(1, tile.stages - 1))
    return max(1, min(by_registers, by_shared))
