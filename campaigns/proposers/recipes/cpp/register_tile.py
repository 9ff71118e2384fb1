"""C++: compute a matrix product in tiles whose sums stay in vector registers."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single, template
from campaigns.proposers.recipes.cpp.loops import NATIVE_FLAGS
from campaigns.proposers.recipes.cpp.matmul_nest import MatmulNest, recognise
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.c_family import functions, parse
from campaigns.syntax.edits import Edit, edited

LOOP = """\
for (int i = 0; i < {rows}; i += ROWS) {{
        const float* left = {left} + static_cast<long>(i) * {inner};
        float* out = {product} + static_cast<long>(i) * {columns};
        const int rows = {rows} - i < ROWS ? {rows} - i : ROWS;
        tile_row(left, {right}, out, rows, {inner}, {columns});
    }}"""


@recipe(
    About(
        id="cpp.register_tile",
        title="Keep a tile of sums in vector registers",
        bucket=Bucket.K1,
        backend="cpp",
        category=Category.REGISTERS,
        change="The three loops become tiles of ROWS x LANES outputs: one vector of B is loaded "
        "per term and used for ROWS rows of A; sums stay in registers until the tile is done.",
        rationale="The naive nest reads B down its columns, one scalar per multiply-add, and every "
        "sum waits for its own last addition; a register tile uses each loaded vector ROWS times "
        "and keeps ROWS independent sums going.",
        risks="Needs vector registers of its own size to pay; the last columns of a width that is "
        "no multiple of LANES are computed twice.",
        expected=lambda facts: 20.0,
        ops=("matmul",),
    )
)
def register_tile(situation: Situation) -> tuple[Variant, ...]:
    """Replace a naive nest; refuse anything else."""
    source = situation.source
    nest, root = recognise(source.text), parse(source.text)
    if nest is None or root is None:
        return ()
    solve = functions(root)["solve"]
    linkage = solve.parent if solve.parent is not None else solve
    place = linkage.start_byte if linkage.type == "linkage_specification" else solve.start_byte
    edits = [
        Edit(place, place, template("register_tile.cpp") + "\n"),
        Edit(nest.outer.start_byte, nest.outer.end_byte, _loop(nest)),
    ]
    return single(edited(source, edits, flags=NATIVE_FLAGS))


def _loop(nest: MatmulNest) -> str:
    return LOOP.format(
        rows=nest.rows,
        left=nest.left,
        right=nest.right,
        product=nest.product,
        inner=nest.inner,
        columns=nest.columns,
    )
