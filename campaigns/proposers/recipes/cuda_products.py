"""CUDA recipes for products with a thread for each output, whatever is computed of their sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import Template

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, filled, template
from campaigns.spaces.c_launches import CudaLaunch, kernels_of, launches_of
from campaigns.syntax.c_family import (
    counted_loop,
    names_in,
    parse,
    statements,
    text_of,
)
from campaigns.syntax.cuda_source import (
    PLACES,
    SAME,
    UNIT,
    Strides,
    ThreadWork,
    accesses,
    is_plain,
    lines,
    needed,
    pointers_of,
    thread_work,
    without_unused,
    words,
)
from campaigns.syntax.edits import Edit, edited

# The rows and columns of a tile, and what they are divided by.
Tile = tuple[int, int, int, int]
TILES: tuple[Tile, ...] = ((64, 64, 4, 4), (128, 128, 8, 8), (16, 64, 2, 4))
TENSOR_TILES: tuple[Tile, ...] = ((128, 128, 2, 4), (64, 64, 2, 2), (16, 64, 1, 4))
# How the right factor lies in shared memory: columns side by side, or the inner dimension.
BY_COLUMN = {
    "right_k": "place / COLUMNS",
    "right_column": "place % COLUMNS",
    "right_shape": "[DEPTH][COLUMNS + RUN]",
    "right_order": "row_major",
    "right_tile": "[step][aside]",
    "right_line": "COLUMNS + RUN",
    "right_place": "[$k - begin][$column - leftmost]",
    "right_count": "$k < $depth ? $columns - $column : 0",
}
BY_DEPTH = {
    "right_k": "place % DEPTH",
    "right_column": "place / DEPTH",
    "right_shape": "[COLUMNS][DEPTH + RUN]",
    "right_order": "col_major",
    "right_tile": "[aside][step]",
    "right_line": "DEPTH + RUN",
    "right_place": "[$column - leftmost][$k - begin]",
    "right_count": "$column < $columns ? $depth - $k : 0",
}


@dataclass(frozen=True, slots=True)
class ProductKernel:
    """A kernel with a thread for each output.

    parts: what templates name of it, as text. launch: its only one. grid: in tiles. runs: of each
    factor the variable along which its values are neighbours, or "". is_skinny: a block has a row.
    """

    node: Node
    parts: dict[str, str]
    launch: CudaLaunch
    grid: str
    runs: tuple[str, ...]
    is_skinny: bool


def read_product(text: str, kind: str) -> ProductKernel | None:
    """The first kernel of a source that is such a product; None where the template `kind` clashes.

    Precondition: one loop adds up products of two factors, of which one depends on the row and the
    other on the column; what stands before it only declares, and what it reads is not written.
    """
    root, taken = parse(text, cuda=True), words(template(kind)) - PLACES
    if root is None:
        return None
    for name, kernel in kernels_of(root).items():
        launches = [launch for launch in launches_of(root) if launch.kernel == name]
        work = thread_work(kernel)
        if work is None or len(launches) != 1 or names_in(kernel) & taken:
            continue
        sides = _sides(work, launches[0])
        if len(sides) == 2 and (found := _product(work, launches[0], sides)):
            return found
    return None


def _sides(work: ThreadWork, launch: CudaLaunch) -> list[tuple[str, str]]:
    """What limits the columns and what the rows in the kernel, each with the argument for it.

    Rows without a limit in the kernel have as many blocks as the grid is high.
    """
    given = launch.given(work.kernel)
    high = [text_of(side) for side in launch.grid.named_children][1:]
    names = [name for name, passed in given.items() if [passed] == high]
    limits = [work.indices[axis].limit for axis in "xy" if axis in work.indices]
    chosen = [limit or next(iter(names), "") for limit in limits]
    return [(name, given[name]) for name in chosen if name in given]


def _product(
    work: ThreadWork, launch: CudaLaunch, sides: list[tuple[str, str]]
) -> ProductKernel | None:
    loops = [node for node in work.statements if node.type == "for_statement"]
    loop = counted_loop(loops[0]) if len(loops) == 1 else None
    body = statements(loop.body) if loop is not None else []
    if loop is None or len(body) != 1 or (loop.start, loop.step) != ("0", "1"):
        return None
    number = work.statements.index(loops[0])
    before, after = work.statements[:number], work.statements[number + 1 :]
    kinds = [one.type for one in (*before, *body)]
    if kinds != [*number * ["declaration"], "expression_statement"] or not is_plain(
        [*before, *body, *after], work.kernel
    ):
        return None
    # `sum += left * right;`
    term = body[0].named_children[0].children
    operators = [node.type for node in (*term[1:2], *term[-1:], *term[-1].children[1:2])]
    total, factors = text_of(term[0]), term[-1].named_children
    integers = {one.kind for one in work.indices.values()} == {"int"}
    if operators != ["+=", "binary_expression", "*"] or not integers:
        return None
    starts = re.search(rf"float {total} = 0(\.0*)?f?;", lines(before))
    pointers = pointers_of(work.kernel)
    written = {pointers.get(one.base, "") for one in accesses(after) if one.written}
    read = {pointers.get(one.base, "") for one in accesses([*before, *body])}
    row, column, k = work.indices["y"].name, work.indices["x"].name, loop.variable
    if column in names_in(factors[0]) or column in needed(before, factors[0])[1]:
        factors = factors[::-1]
    needs = [needed(before, factor) for factor in factors]
    used = [names & {row, column, total} for _, names in needs]
    if not starts or used != [{row}, {column}] or not written.isdisjoint(read):
        return None
    parts = {
        "head": text_of(work.kernel).partition("{")[0],
        "ending": lines(after),
        "needs": needed(before, *after, without=total)[0],
        "depth": loop.stop,
        **dict(zip(("row", "column", "k", "sum"), (row, column, k, total), strict=True)),
        **dict(zip(("columns", "rows"), (limit for limit, _ in sides), strict=True)),
    }
    for side, factor, (declared, _) in zip(("left", "right"), factors, needs, strict=True):
        parts |= {side: text_of(factor), f"{side}_needs": declared}
        parts[f"{side}_value"] = lines(one.node for one in accesses([factor]))
    runs = (_run(factors[0], before, k), _run(factors[1], before, k, column))
    wide, high = (passed for _, passed in sides)
    grid = f"dim3(({wide} + COLUMNS - 1) / COLUMNS, ({high} + ROWS - 1) / ROWS)"
    return ProductKernel(work.kernel, parts, launch, grid, runs, not work.indices["y"].by_thread)


def _run(factor: Node, before: Sequence[Node], *variables: str) -> str:
    """Along which of the variables a factor reads neighbours; "" for none."""
    for variable in variables:
        strides = Strides(variable).declare(before)
        found = [(strides.of(one.node.named_children[0]), one) for one in accesses([factor])]
        runs = [(base, strides.of(one.index)) for base, one in found] == [(SAME, UNIT)]
        if runs and not strides.whole:
            return variable
    return ""


def _variants(
    source: Source, found: ProductKernel, kind: str, tiles: Iterable[Tile]
) -> tuple[Variant, ...]:
    """A variant for each size of a tile, those of few rows first where a block has one row."""
    lies = BY_DEPTH if found.runs[1] == found.parts["k"] else BY_COLUMN
    fields = {name: Template(text).substitute(found.parts) for name, text in lies.items()}
    shape = found.launch.shape
    launch = Edit(shape.start_byte, shape.end_byte, f"<<<{found.grid}, PRODUCT_THREADS>>>")
    # The old grid and what it is made of.
    grid = re.findall(r"dim3 \w+\([^;]+\);", source.text)
    old = re.findall(r"\w+", f"{text_of(shape)} {grid}")
    made = []
    for size in sorted(tiles, key=lambda tile: tile[0] if found.is_skinny else 0):
        numbers = dict(zip(("tile_rows", "tile_columns", "down", "across"), size, strict=True))
        text = filled(template(kind), {**found.parts, **fields, **numbers})
        kernel = Edit(found.node.start_byte, found.node.end_byte, text.strip())
        new = edited(source, [kernel, launch])
        new = Source(new.name, without_unused(new.text, old), new.flags)
        made.append(Variant(f"{size[0]} x {size[1]}", new, numbers))
    return tuple(made)


@Recipe(
    "cuda.tile_product",
    "Keep a square of sums per thread, over tiles in shared memory",
    category=Category.MOVEMENT,
    change="A block copies a tile of each factor into shared memory, and every thread adds up "
    "DOWN x ACROSS outputs in registers; what is computed of a factor or a sum stays as it is.",
    rationale="With one output per thread each multiply-add waits for two loads from global "
    "memory; a tile is loaded once for all outputs of a block, and each value that a thread reads "
    "from it serves a row or a column of its sums.",
    risks="More registers per thread and fewer blocks: small products may not fill the chip.",
    expected=lambda facts: 6.0,
)
def tile_product(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite a product with a thread for each output (`read_product`); refuse any other."""
    found = read_product(situation.source.text, "product_tiles.cu")
    return _variants(situation.source, found, "product_tiles.cu", TILES) if found else ()


@Recipe(
    "cuda.tensor_cores",
    "Multiply on tensor cores",
    category=Category.INSTRUCTIONS,
    change="Tiles of bfloat16 in shared memory are multiplied by tensor cores (nvcuda::wmma) with "
    "sums in float32; what is computed of a sum stays as it is.",
    rationale="The multiply-add units of a GPU reach a small part of what its tensor cores do, and "
    "values of bfloat16 need no conversion there.",
    risks="Tiles of 128 x 128 leave a chip idle that has few of them.",
    expected=lambda facts: 20.0,
)
def tensor_cores(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite such a product of two factors in bfloat16, the left one along the inner dimension."""
    found = read_product(situation.source.text, "product_tensor_cores.cu")
    if found is None or not all(found.runs):
        return ()
    for side in ("left", "right"):
        value, needs = found.parts[f"{side}_value"], found.parts[f"{side}_needs"]
        # Addresses of what lies beyond the last row are computed too.
        if found.parts[side] != f"__bfloat162float({value})" or "[" in needs:
            return ()
    return _variants(situation.source, found, "product_tensor_cores.cu", TENSOR_TILES)
