"""What a search begins with, and how soon it is near the best of a recorded product."""

from __future__ import annotations

from statistics import median

import pytest

from campaigns.benchmarks.landscapes.replay import RecordedSpace, ReplayLimits, replay
from campaigns.spaces.matmul_model import (
    MatmulDevice,
    MatmulShape,
    MatmulTask,
    library_grid,
    ranked,
)
from campaigns.spaces.space import Knob, Space
from campaigns.strategies.registry import DEFAULT, strategy_named
from tests.campaigns.benchmarks.landscapes.roofline import product_landscape, product_space

H100 = MatmulDevice(132, 3.35e12, 67e12, 228 * 1024)
TASK = MatmulTask(MatmulShape(1024, 1024, 1024, 4), H100)
NAMES = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps", "num_stages")


@pytest.fixture(scope="module")
def space():
    return product_space()


def test_a_product_begins_with_library_tiles_the_likeliest_first(space):
    grid = library_grid(space, TASK)
    assert len(grid) == 78
    assert not any(map(space.is_legal, grid))
    assert {point["BLOCK_K"] for point in grid} == {16, 32, 64}
    assert {(p["BLOCK_M"], p["BLOCK_N"]) for p in grid} >= {(64, 128), (128, 256), (32, 64)}
    assert (32, 32) not in {(p["BLOCK_M"], p["BLOCK_N"]) for p in grid}
    # Measured as the best of 243 on an H100.
    assert dict(zip(NAMES, (64, 128, 64, 8, 3), strict=True)) in grid[:8]


def test_a_large_product_begins_with_large_tiles(space):
    large = MatmulTask(MatmulShape(4096, 4096, 4096, 4), H100)
    first = library_grid(space, large)[0]
    assert first["BLOCK_M"] * first["BLOCK_N"] == 128 * 256


def test_another_kernel_begins_near_its_source():
    knobs = (
        Knob("BLOCK_M", (16, 32, 64, 128), 64),
        Knob("num_warps", (1, 2, 4, 8), 2),
        Knob("FAST", (False, True), True),
    )
    grid = library_grid(Space(knobs))
    assert [tuple(point.values()) for point in grid[:2]] == [(64, 4, True), (32, 4, True)]
    assert len(grid) == 6


def test_a_value_that_no_library_uses_stays_as_it_is():
    knobs = (Knob("BLOCK_M", (8, 16), 16), Knob("num_warps", (2, 4), 2))
    assert library_grid(Space(knobs)) == [{"BLOCK_M": 16, "num_warps": 4}]


def test_without_a_tile_or_a_warp_there_is_no_grid():
    assert library_grid(Space((Knob("UNROLL", (1, 2, 4), 1),))) == []


def needed(landscape, seeds):
    """Evaluations to within 2 %, the median over searches."""
    recorded = RecordedSpace(landscape)

    def make(space, seed):
        return strategy_named(DEFAULT)(space, seed, seeds)

    limits = ReplayLimits(budget=100, batch=8, margin=0.02)
    counts = [replay(recorded, make, seed, limits).evaluations_to(0.02) for seed in range(3)]
    return median(count or 101 for count in counts)


def test_it_is_near_the_best_long_before_the_first_of_the_model_alone(space):
    landscape = product_landscape(7)
    model = ranked(space.points_at_most(20_000), TASK.shape, TASK.device)[:12]
    grid = library_grid(space, TASK)[:24]
    assert needed(landscape, [space.defaults, *grid]) <= 16
    assert needed(landscape, [space.defaults, *model]) > 32
