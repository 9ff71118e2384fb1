"""What the model of a matrix product puts first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import SHIPPED
from campaigns.spaces.find import space_of
from campaigns.spaces.matmul_model import (
    MatmulDevice,
    MatmulShape,
    TileKnobs,
    ranked,
    tile_knobs,
)
from campaigns.spaces.space import Knob, Space
from tests.campaigns.spaces.device import HOPPER

# 132 multiprocessors, 3.35 TB/s, and 67 Tflop/s in single precision.
DEVICE = MatmulDevice(132, 3.35e12, 67e12, 228 * 1024)
LARGE = MatmulShape(4096, 4096, 4096, 4)
MIDDLE = MatmulShape(1024, 1024, 1024, 4)
SMALL = MatmulShape(256, 256, 4096, 4)


@pytest.fixture(scope="module")
def points():
    source = Source("v0.py", (SHIPPED / "matmul" / "v0.py").read_text())
    return list(space_of(source, "triton", replace(HOPPER, registers_per_thread=None)).points())


def area(point):
    return point["BLOCK_M"] * point["BLOCK_N"]


def test_it_gives_every_point_back(points):
    found = ranked(points, MIDDLE, DEVICE)
    assert len(found) == len(points)
    assert all(point in points for point in found[:20])


def test_it_wants_large_tiles_for_large_matrices_and_small_ones_for_small(points):
    first = {shape: ranked(points, shape, DEVICE)[:10] for shape in (LARGE, SMALL)}
    assert min(map(area, first[LARGE])) > 8 * max(map(area, first[SMALL]))


def test_it_never_begins_with_one_stage_or_more_sums_than_registers(points):
    for shape in (LARGE, MIDDLE, SMALL):
        for point in ranked(points, shape, DEVICE)[:10]:
            assert point["num_stages"] > 1
            assert area(point) / (32 * point["num_warps"]) <= 168


def test_what_was_best_on_an_h100_is_in_the_first_fiftieth(points):
    best = {"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 32, "num_warps": 8, "num_stages": 3}
    assert ranked(points, MIDDLE, DEVICE).index(best) < len(points) / 50


def test_it_reads_the_names_of_the_tiles():
    names = ("k_BLOCK_SIZE_M", "k_BLOCK_SIZE_N", "k_BLOCK_SIZE_K", "k_num_warps")
    space = Space(tuple(Knob(name, (16, 32), 16) for name in names))
    found = TileKnobs(*names, stages="num_stages")
    assert tile_knobs(space) == found
    assert ranked(space.points(), LARGE, DEVICE, found)[0]["k_BLOCK_SIZE_M"] == 32


def test_it_does_not_guess_among_two_products_or_none():
    two = Space(tuple(Knob(n, (1, 2), 1) for n in ("a_BM", "b_BM", "BN")))
    assert tile_knobs(two) is None
    assert tile_knobs(Space((Knob("BLOCK", (1, 2), 1),))) is None
