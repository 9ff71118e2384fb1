"""Triton: change the tile of a matrix product together with its warps and stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.triton.plain_kernels import read_plain
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.edits import Edit, edited
from campaigns.syntax.triton_source import Launch


@dataclass(frozen=True, slots=True)
class TileShape:
    """A tile with the threads and the pipeline depth that suit it."""

    m: int
    n: int
    k: int
    warps: int
    stages: int


SHAPES = (
    TileShape(128, 64, 32, 8, 4),
    TileShape(64, 128, 32, 8, 4),
    TileShape(64, 64, 16, 4, 4),
    TileShape(128, 128, 16, 8, 3),
)


@recipe(
    About(
        id="triton.tile_shapes",
        title="Try tiles with the warps and stages that suit them",
        bucket=Bucket.K1,
        backend="triton",
        category=Category.LAUNCH,
        change="BLOCK_M x BLOCK_N x BLOCK_K, num_warps and num_stages change together, in four "
        "combinations.",
        rationale="A tile's sums must fit the registers of its warps and its operands the shared "
        "memory of its stages, so changing one number at a time passes over the good combinations.",
        risks="Larger tiles leave processors idle when the matrix has few of them.",
        expected=lambda facts: 1.1,
        ops=("matmul",),
    )
)
def tile_shapes(situation: Situation) -> tuple[Variant, ...]:
    """Set the numbers at the launch; refuse a source whose launch does not name them."""
    source = situation.source
    found = read_plain(source.text, "matmul")
    if found is None or not {"BLOCK_M", "BLOCK_N", "BLOCK_K"} <= set(found[2].numbers):
        return ()
    launch = found[2]
    present = [set(launch.keywords) & {"num_warps", "num_stages"}]
    if launch.shared or present[0] - set(launch.numbers):
        return ()
    return tuple(
        Variant(
            label=f"{s.m}x{s.n}x{s.k}, {s.warps} warps, {s.stages} stages",
            source=edited(source, _edits(launch, s)),
            params={"tile": f"{s.m}x{s.n}x{s.k}", "warps": s.warps, "stages": s.stages},
        )
        for s in SHAPES
    )


def _edits(launch: Launch, shape: TileShape) -> Iterator[Edit]:
    wanted = {
        "BLOCK_M": shape.m,
        "BLOCK_N": shape.n,
        "BLOCK_K": shape.k,
        "num_warps": shape.warps,
        "num_stages": shape.stages,
    }
    for name, value in wanted.items():
        if name in launch.numbers:
            span = launch.numbers[name].span
            yield Edit(span.start, span.end, str(value))
        else:
            yield Edit(launch.end, launch.end, f", {name}={value}")
