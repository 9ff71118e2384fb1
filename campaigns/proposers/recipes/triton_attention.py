"""Triton recipes for attention: a softmax of products that goes through its keys tile by tile."""

from __future__ import annotations

import textwrap

import libcst.matchers as m

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single
from campaigns.proposers.recipes.triton_products import read_product
from campaigns.syntax.edits import Edit, edited, sketched

PARTS_OF_KEYS = "for masked in tl.static_range(2):"
WALK_APART = {
    PARTS_OF_KEYS: f"whole = whole // $block * $block\n{PARTS_OF_KEYS}",
    "for $start in range(0, $end, $block):": (
        "for $start in range(whole if masked else 0, $end if masked else whole, $block):"
    ),
    "$keys = $start + tl.arange(0, $block)": "$keys = $start + tl.arange(0, $block)",
    "$mask = $keys[:, None] < $s": "$mask = ($keys[:, None] < $s) if masked else True",
}
# Of a query in row r, the keys up to the r-th: those up to a tile's first row all its rows see.
CAUSAL_APART = {
    "$rows = tl.program_id(0) * $height + tl.arange(0, $height)": (
        "$rows = tl.program_id(0) * $height + tl.arange(0, $height)"
    ),
    "$end = $s\nif $causal:\n    $end = tl.minimum($s, tl.program_id(0) * $height + $height)": (
        "$end = $s\nwhole = $s\nif $causal:\n"
        "    $end = tl.minimum($s, tl.program_id(0) * $height + $height)\n"
        "    whole = tl.minimum($s, tl.program_id(0) * $height + 1)"
    ),
    **WALK_APART,
    "$seen = $keys[None, :] < $s\nif $causal:\n"
    "    $seen = $seen & ($keys[None, :] <= $rows[:, None])\n"
    '$scores = tl.where($seen, $scores, -float("inf"))': (
        "if masked:\n    $seen = $keys[None, :] < $s\n    if $causal:\n"
        "        $seen = $seen & ($keys[None, :] <= $rows[:, None])\n"
        '    $scores = tl.where($seen, $scores, -float("inf"))'
    ),
}
PLAIN_APART = {
    **WALK_APART,
    PARTS_OF_KEYS: f"whole = $s // $block * $block\n{PARTS_OF_KEYS}",
    '$scores = tl.where($keys[None, :] < $s, $scores, -float("inf"))': (
        'if masked:\n    $scores = tl.where($keys[None, :] < $s, $scores, -float("inf"))'
    ),
}


@Recipe(
    "triton.apart_masks",
    "Take the tiles that need no mask first",
    category=Category.INSTRUCTIONS,
    change="The walk over the keys becomes two: one over the tiles that every query sees whole, "
    "without a mask, and one over the rest, at the diagonal and at the end, with masks.",
    rationale="Comparisons and selections of every score take as many instructions as the softmax "
    "itself; all tiles but the last few need none of them.",
    risks="The loop is compiled twice. Short sequences have few whole tiles.",
    expected=lambda facts: 1.15,
)
def apart_masks(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite a walk over keys whose masks are of the end and the diagonal; refuse any other."""
    found = read_product(situation.source.text)
    loops = m.findall(found[1].node.body, m.For() | m.While()) if found else ()
    if found is None or len(loops) != 1 or "masked" in situation.source.text:
        return ()
    source, kernel, _ = found
    whole, loop = source.spans[kernel.node], source.spans[loops[0]]
    raw = source.text.encode()
    begin = raw.rfind(b"\n", 0, loop.start) + 1
    lines = raw[begin : loop.end].decode()
    indent = " " * (loop.start - begin)
    wrapped = f"{indent}{PARTS_OF_KEYS}\n{textwrap.indent(lines, '    ')}"
    text = raw[whole.start : begin].decode() + wrapped + raw[loop.end : whole.end].decode()
    rewritten = sketched(text, CAUSAL_APART) or sketched(text, PLAIN_APART)
    if not rewritten:
        return ()
    return single(edited(situation.source, [Edit(whole.start, whole.end, rewritten)]))
