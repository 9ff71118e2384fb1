"""A launch in four answers of three numbers each: no text and no size of the runner's choosing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from campaigns.evaluator.contract import Launch
from campaigns.evaluator.wire import Reply

PARTS = range(4)
NOT_TOLD = -1
LARGEST = 2**31 - 1

Part = tuple[int, float, float]


def launch_part(launch: Launch | None, part: int) -> Part:
    """The runner's side: kernels and occupancy, grid, block, registers and shared memory."""
    if launch is None or part not in PARTS:
        return 0, 0.0, 0.0
    told = launch.occupancy_percent
    grid, block = (_three(sizes) for sizes in (launch.grid, launch.block))
    parts: tuple[Part, ...] = (
        (launch.kernels, float(NOT_TOLD if told is None else told), 0.0),
        grid,
        block,
        (launch.registers, float(launch.shared_bytes), 0.0),
    )
    return parts[part]


def launch_from(replies: Sequence[Reply]) -> Launch | None:
    """The judge's side; None for whatever no launch can be: the runner may say anything."""
    rows = [_whole(reply) for reply in replies]
    if len(rows) != len(PARTS) or None in rows:
        return None
    first, grid, block, used = (row for row in rows if row is not None)
    sizes = (first[0], *grid, *block)
    if min(sizes) < 1 or min(used) < 0 or not NOT_TOLD <= first[1] <= 100:
        return None
    return Launch(
        kernels=first[0],
        grid=grid,
        block=block,
        registers=used[0],
        shared_bytes=used[1],
        occupancy_percent=None if first[1] == NOT_TOLD else first[1],
    )


def _three(sizes: Sequence[int]) -> Part:
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, float(y), float(z)


def _whole(reply: Reply) -> tuple[int, int, int] | None:
    numbers = (reply.a, reply.x, reply.y)
    if not all(math.isfinite(n) and n == int(n) and abs(n) <= LARGEST for n in numbers):
        return None
    a, x, y = (int(n) for n in numbers)
    return a, x, y
