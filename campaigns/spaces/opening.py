"""What a search begins with: tiles, stages and warps that libraries use, the likeliest first."""

from __future__ import annotations

from itertools import product

from campaigns.evaluator.contract import Param
from campaigns.spaces.matmul_model import MatmulTask, knob_roles, ranked, tile_knobs
from campaigns.spaces.space import Point, Space

# Of tiles the squares and their halves, as CUTLASS and the lists of Triton's tutorials have them.
SQUARES = (64, 128, 256)
TILES = {pair for n in SQUARES for pair in ((n, n), (n, n // 2), (n // 2, n))}
SIDES = tuple(sorted({m for m, _ in TILES}))
USUAL = {"m": SIDES, "n": SIDES, "k": (16, 32, 64), "warps": (4, 8), "stages": (3, 4)}


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
