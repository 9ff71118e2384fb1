"""Triton: compute the tiles of a matrix product in groups that share operands in the L2 cache."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single
from campaigns.proposers.recipes.triton.plain_kernels import program_ids, read_plain
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.edits import Edit, edited, replaced
from campaigns.syntax.triton_source import Kernel, code

GROUP = 8
ORDER = """\
    tiles_m = tl.cdiv({rows}, {tile_m})
    tiles_n = tl.cdiv({columns}, {tile_n})
    tile = tl.program_id(0)
    group = tile // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    {m} = group * GROUP + tile % (GROUP * tiles_n) % height
    {n} = tile % (GROUP * tiles_n) // height
"""


@recipe(
    About(
        id="triton.grouped_order",
        title="Walk the tiles in groups",
        bucket=Bucket.K1,
        backend="triton",
        category=Category.MOVEMENT,
        change="The grid becomes one-dimensional and consecutive programs take tiles from a group "
        f"of {GROUP} tile rows.",
        rationale="Programs that run at the same time then read the same few tiles of A and B, "
        "which stay in the L2 cache, instead of a whole stripe each.",
        risks="No effect where both matrices fit into the L2 cache anyway.",
        expected=lambda facts: 1.07,
        ops=("matmul",),
    )
)
def grouped_order(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the order of a kernel on a (rows, columns) grid; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, "matmul")
    if found is None:
        return ()
    _, kernel, launch = found
    sizes = _sizes(kernel)
    grid = launch.grid.strip("()").replace(" ", "").split("),")
    if sizes is None or len(grid) != 2 or not grid[0].startswith("triton.cdiv(M,"):
        return ()
    text = source.text
    m, n = program_ids(kernel)[0], program_ids(kernel)[1]
    lines = [f"    {m} = tl.program_id(0)\n", f"    {n} = tl.program_id(1)\n"]
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    if any(text.count(part) != 1 for part in ("".join(lines), launch.grid, last)):
        return ()
    order = ORDER.format(m=m, n=n, **sizes)
    edits = [
        replaced(text, "".join(lines), order),
        replaced(text, last, f"{last}, GROUP: tl.constexpr"),
        replaced(text, launch.grid, _flat(launch.grid)),
        Edit(launch.end, launch.end, f", GROUP={GROUP}"),
    ]
    return single(edited(source, edits))


def _sizes(kernel: Kernel) -> dict[str, str] | None:
    """The names of the sizes and tile sizes, where the kernel names them as usual."""
    names = {"rows": "M", "columns": "N", "tile_m": "BLOCK_M", "tile_n": "BLOCK_N"}
    known = set(kernel.parameters)
    plain = set(program_ids(kernel)) == {0, 1} and set(names.values()) <= known
    return names if plain and "GROUP" not in code(kernel.node) else None


def _flat(grid: str) -> str:
    """`(a, b)` as `(a * b,)`."""
    first, second = grid.strip()[1:-1].split("), ")
    return f"({first}) * {second},)"
