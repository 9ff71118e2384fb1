"""C++ recipes for a matrix product written as three counted loops."""

from __future__ import annotations

import re

from tree_sitter import Node

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single, template
from campaigns.proposers.recipes.cpp_loops import NATIVE_FLAGS, SIMD_FLAGS
from campaigns.syntax.c_family import Loop, counted_loop, functions, parse, statements, text_of
from campaigns.syntax.edits import Edit, edited


def recognise(situation: Situation) -> tuple[Node, dict[str, str]] | None:
    """The outer loop of the naive row-column-term nest in `solve`, and its names.

    It is product[rows, columns] = sum over inner of left[rows, inner] right[inner, columns]. None
    when the source is anything else.
    """
    root = parse(situation.source.text)
    solve = functions(root).get("solve") if root is not None else None
    body = solve.child_by_field_name("body") if solve is not None else None
    listed = statements(body) if body is not None else []
    loops = [node for node in listed if node.type == "for_statement"]
    if len(loops) != 1 or any(n.type not in ("for_statement", "preproc_call") for n in listed):
        return None
    rows = _unit(loops[0])
    middle = statements(rows.body) if rows is not None else []
    columns = _unit(middle[0]) if len(middle) == 1 else None
    parts = statements(columns.body) if columns is not None else []
    terms = _unit(parts[1]) if len(parts) == 3 else None
    if rows is None or columns is None or terms is None or len(statements(terms.body)) != 1:
        return None
    squeezed = [re.sub(r"\s", "", text_of(node)) for node in (parts[0], terms.body, parts[2])]
    i, j, k = rows.variable, columns.variable, terms.variable
    pattern = (
        rf"float(?P<s>\w+)=0(\.0?f?)?;\|\{{?(?P=s)\+=(?P<left>\w+)\[{i}\*{terms.stop}\+{k}\]\*"
        rf"(?P<right>\w+)\[{k}\*{columns.stop}\+{j}\];\}}?\|"
        rf"(?P<product>\w+)\[{i}\*{columns.stop}\+{j}\]=(?P=s);"
    )
    found = re.fullmatch(pattern, "|".join(squeezed))
    if found is None:
        return None
    sizes = {"rows": rows.stop, "inner": terms.stop, "columns": columns.stop}
    return loops[0], found.groupdict() | sizes


def _unit(node: Node) -> Loop | None:
    loop = counted_loop(node) if node.type == "for_statement" else None
    return loop if loop is not None and (loop.start, loop.step) == ("0", "1") else None


NEST = """\
for (int i = 0; i < {rows}; ++i) {{
        float* out = {product} + static_cast<long>(i) * {columns};
        for (int j = 0; j < {columns}; ++j) {{
            out[j] = 0.0f;
        }}
        for (int k = 0; k < {inner}; ++k) {{
            const float factor = {left}[static_cast<long>(i) * {inner} + k];
            const float* row = {right} + static_cast<long>(k) * {columns};
            #pragma omp simd
            for (int j = 0; j < {columns}; ++j) {{
                out[j] += factor * row[j];
            }}
        }}
    }}"""


@Recipe(
    "cpp.interchange",
    "Walk along rows in the innermost loop",
    category=Category.MOVEMENT,
    change="Row-column-term order becomes row-term-column: each value of A is multiplied into "
    "a whole row of B and added to a row of C.",
    rationale="In the naive order neighbouring turns read B a whole row apart, so each load "
    "uses 4 bytes of a cache line and nothing vectorises; along a row all of it is used.",
    risks="C is read and written once per term, so it has to stay in the cache.",
    expected=lambda facts: 8.0,
    ops=("matmul",),
)
def interchange(situation: Situation) -> tuple[Variant, ...]:
    """Replace a naive nest; refuse anything else."""
    found = recognise(situation)
    if found is None:
        return ()
    outer, names = found
    edit = Edit(outer.start_byte, outer.end_byte, NEST.format(**names))
    return single(edited(situation.source, [edit], flags=SIMD_FLAGS))


LOOP = """\
for (int i = 0; i < {rows}; i += ROWS) {{
        const float* left = {left} + static_cast<long>(i) * {inner};
        float* out = {product} + static_cast<long>(i) * {columns};
        const int rows = {rows} - i < ROWS ? {rows} - i : ROWS;
        tile_row(left, {right}, out, rows, {inner}, {columns});
    }}"""


@Recipe(
    "cpp.register_tile",
    "Keep a tile of sums in vector registers",
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
def register_tile(situation: Situation) -> tuple[Variant, ...]:
    """Replace a naive nest; refuse anything else."""
    found = recognise(situation)
    if found is None:
        return ()
    outer, names = found
    top = outer
    while top.parent is not None and top.type != "function_definition":
        top = top.parent
    if top.parent is not None and top.parent.type == "linkage_specification":
        top = top.parent
    edits = [
        Edit(top.start_byte, top.start_byte, template("register_tile.cpp") + "\n"),
        Edit(outer.start_byte, outer.end_byte, LOOP.format(**names)),
    ]
    return single(edited(situation.source, edits, flags=NATIVE_FLAGS))
