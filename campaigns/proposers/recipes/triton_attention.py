"""Triton recipes for attention: a softmax of products that goes through its keys tile by tile."""

from __future__ import annotations

import re
import textwrap

import libcst.matchers as m

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single
from campaigns.proposers.recipes.triton_products import added_kernel, own_line, read_product
from campaigns.syntax.edits import Edit, edited, replaced, sketched
from campaigns.syntax.triton_source import Kernel, Launch, TritonSource, code, given, read_triton

PARTS_OF_KEYS = "for masked in tl.static_range(2):"
WALK_APART = {
    PARTS_OF_KEYS: f"whole = whole // $block * $block\n{PARTS_OF_KEYS}",
    "for $start in range(0, $end, $block):": (
        "for $start in range(whole if masked else 0, $end if masked else whole, $block):"
    ),
    "$keys = $start + tl.arange(0, $block)": "$keys = $start + tl.arange(0, $block)",
    "$mask = $keys[:, None] < $s": "$mask = ($keys[:, None] < $s) if masked else True",
}
# A query in row r sees the keys up to the r-th, so all rows of a tile see those up to its first.
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
    rewritten = sketched(text, CAUSAL_APART)[0] or sketched(text, PLAIN_APART)[0]
    if not rewritten:
        return ()
    return single(edited(situation.source, [Edit(whole.start, whole.end, rewritten)]))


SHARED_HEADS = {
    "$head = tl.program_id(1)\n$shared = $head // ($heads // $groups)": (
        "$shared = tl.program_id(1)\n"
        "member = tl.arange(0, MEMBERS)\n"
        "$head = $shared * ($heads // $groups) + member\n"
        "is_member = member[:, None] < $heads // $groups"
    ),
    "$at = ($sequence * $heads + $head) * $d + $columns": (
        "$at = ($sequence * $heads + $head[:, None]) * $d + $columns[None, :]"
    ),
    "$q = tl.load($q_ptr + $at).to(tl.float32) * $scale": (
        "$q = tl.load($q_ptr + $at, mask=is_member, other=0.0)"
    ),
    '$peak = -float("inf")\n$total = 0.0\n$mixed = tl.zeros(($d,), tl.float32)': (
        '$peak = tl.full((MEMBERS,), -float("inf"), tl.float32)\n'
        "$total = tl.zeros((MEMBERS,), tl.float32)\n"
        "$mixed = tl.zeros((MEMBERS, $d), tl.float32)"
    ),
    "for $start in range(0, $length, $page):": "for $start in range(0, $length, $page):",
    "$k = tl.load($k_ptr + $key_at, mask=$seen[:, None], other=0.0).to(tl.float32)\n"
    "$v = tl.load($v_ptr + $key_at, mask=$seen[:, None], other=0.0).to(tl.float32)\n"
    "$scores = tl.sum($q[None, :] * $k, axis=1)\n"
    '$scores = tl.where($seen, $scores, -float("inf"))\n'
    "$higher = tl.maximum($peak, tl.max($scores, axis=0))\n"
    "$shrink = tl.exp($peak - $higher)\n"
    "$powers = tl.exp($scores - $higher)\n"
    "$total = $total * $shrink + tl.sum($powers, axis=0)\n"
    "$mixed = $mixed * $shrink + tl.sum($powers[:, None] * $v, axis=0)": (
        "$k = tl.load($k_ptr + $key_at, mask=$seen[:, None], other=0.0)\n"
        "$v = tl.load($v_ptr + $key_at, mask=$seen[:, None], other=0.0)\n"
        '$scores = tl.dot($q, tl.trans($k), input_precision="ieee") * $scale\n'
        '$scores = tl.where($seen[None, :], $scores, -float("inf"))\n'
        "$higher = tl.maximum($peak, tl.max($scores, axis=1))\n"
        "$shrink = tl.exp($peak - $higher)\n"
        "$powers = tl.exp($scores - $higher[:, None])\n"
        "$total = $total * $shrink + tl.sum($powers, axis=1)\n"
        "$powers = $powers.to($v.dtype)\n"
        '$mixed = tl.dot($powers, $v, $mixed * $shrink[:, None], input_precision="ieee")'
    ),
    "tl.store($o_ptr + $at, ($mixed / $total).to($o_ptr.dtype.element_ty))": (
        "tl.store($o_ptr + $at, ($mixed / $total[:, None]).to($o_ptr.dtype.element_ty), "
        "mask=is_member)"
    ),
}

PAIR = re.compile(r"\((\w+), (\w+)\)")


def read_decode(text: str) -> tuple[TritonSource, Kernel, Launch, re.Match[str]] | None:
    """A source with one kernel on a grid (sequences, heads) whose launch stands by itself."""
    source = read_triton(text)
    if source is None or len(source.launches) != 1 or text.count("import triton\n") != 1:
        return None
    launch = source.launches[0]
    kernel, grid = source.kernels.get(launch.kernel), PAIR.fullmatch(launch.grid)
    if kernel is None or grid is None or text.count(launch.grid) != 1 or len(source.kernels) != 1:
        return None
    return source, kernel, launch, grid


@Recipe(
    "triton.share_heads",
    "Serve all query heads of a key head at once",
    category=Category.MOVEMENT,
    change="One program takes all query heads that share a head of keys and values, 16 rows or "
    "more, and multiplies them by tl.dot, rows beyond the last head being zeros.",
    rationale="With a program for every query head the same keys and values are loaded once for "
    "each of them; a block of queries needs them once, and its products run on the matrix units.",
    risks="Fewer programs: with few sequences they do not fill the chip until the keys are split, "
    "too. Powers are rounded to the type of the values.",
    expected=lambda facts: 1.5,
)
def share_heads(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite decoding with a program for each query head, whose keys are not split yet.

    `triton.split_keys` and `triton.exp2` take what it makes; it takes nothing that they made.
    """
    text = situation.source.text
    found = read_decode(text)
    if found is None:
        return ()
    source, kernel, launch, grid = found
    whole, passed = source.spans[kernel.node], given(kernel, launch)
    rewritten, words = sketched(text.encode()[whole.start : whole.end].decode(), SHARED_HEADS)
    if not rewritten or not {words["heads"], words["groups"]} <= passed.keys():
        return ()
    heads, groups = (code(passed[words[name]]) for name in ("heads", "groups"))
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    if rewritten.count(last) != 1 or grid[2] != heads:
        return ()
    rewritten = rewritten.replace(last, f"{last}, MEMBERS: tl.constexpr")
    members = f", MEMBERS=max(16, triton.next_power_of_2({heads} // {groups}))"
    edits = [
        Edit(whole.start, whole.end, rewritten),
        replaced(text, launch.grid, f"({grid[1]}, {groups})"),
        Edit(launch.end, launch.end, members),
    ]
    return single(edited(situation.source, edits))


PARTS = 8
COMBINE_PARTS = """\
@triton.jit
def combine_parts(parts_ptr, o_ptr, rows, D: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, D)
    places = tl.arange(0, PARTS) * rows + row
    mixed = tl.load(parts_ptr + places[:, None] * D + columns[None, :])
    peaks = tl.load(parts_ptr + PARTS * rows * D + places)
    totals = tl.load(parts_ptr + PARTS * rows * (D + 1) + places)
    shares = tl.exp(peaks - tl.max(peaks, axis=0))
    o = tl.sum(mixed * shares[:, None], axis=0) / tl.sum(totals * shares, axis=0)
    tl.store(o_ptr + row * D + columns, o.to(o_ptr.dtype.element_ty))


"""


def _split_sketch(
    side: str, across: str, axis: int, mask: str, nothing: tuple[str, str]
) -> dict[str, str]:
    """How a kernel changes whose query is one row, or a block of rows with `[:, None]` as side."""
    row = f"$sequence * $heads + $head{side}"
    kept = (
        "$sequence = tl.program_id(0)",
        f"$at = ({row}) * $d + $columns{across}",
        "$peak = {}\n$total = {}".format(*nothing),
    )
    highest = f"$higher = tl.maximum($peak, tl.max($scores, axis={axis}))"
    mixed = f"($mixed / $total{side}).to($o_ptr.dtype.element_ty)"
    return {
        **{line: line for line in kept},
        "for $start in range(0, $length, $page):": (
            "for $start in range(tl.program_id(2) * $page, $length, PARTS * $page):"
        ),
        highest: highest,
        f"tl.store($o_ptr + $at, {mixed}{mask})": (
            "count = tl.num_programs(0) * $heads\n"
            "part = tl.program_id(2) * count\n"
            f"tl.store($o_ptr + part * $d + $at, $mixed{mask})\n"
            f"peaks_at = $o_ptr + PARTS * count * $d + part + {row}\n"
            f"tl.store(peaks_at, $peak{side}{mask})\n"
            f"tl.store(peaks_at + PARTS * count, $total{side}{mask})"
        ),
    }


SPLIT_ROW = _split_sketch("", "", 0, "", ('-float("inf")', "0.0"))
NOTHING = (
    'tl.full(($members,), -float("inf"), tl.float32)',
    "tl.zeros(($members,), tl.float32)",
)
SPLIT_BLOCK = _split_sketch("[:, None]", "[None, :]", 1, ", mask=$mask", NOTHING)


@Recipe(
    "triton.split_keys",
    "Split the keys of a head among programs",
    category=Category.LAUNCH,
    change="Several programs share the keys of one head: each writes its peak, total and mixed "
    "values in float32, and a second kernel combines them.",
    rationale="Few sequences of many keys make few programs, each of which walks over its keys "
    "alone while most multiprocessors idle; the parts of one sequence can be read by all at once.",
    risks="The parts are written and read once more, which costs where sequences are short or "
    "many.",
    expected=lambda facts: 1.5 if (facts.share or 0) < 0.7 else 1.05,
)
def split_keys(situation: Situation) -> tuple[Variant, ...]:
    """Split the walk of decoding that begins with nothing; refuse any other.

    It takes what `triton.share_heads` and `triton.exp2` make; they take nothing that it made.
    """
    text = situation.source.text
    found = read_decode(text)
    if found is None or re.search(r"\b(parts|sums)\b", text):
        return ()
    source, kernel, launch, grid = found
    whole, passed = source.spans[kernel.node], given(kernel, launch)
    before = text.encode()[whole.start : whole.end].decode()
    rewritten, words = sketched(before, SPLIT_ROW)
    if not rewritten:
        rewritten, words = sketched(before, SPLIT_BLOCK)
    last, line = f"{kernel.parameters[-1]}: tl.constexpr", own_line(launch, text)
    if line is None or rewritten.count(last) != 1:
        return ()
    if not {words["heads"], words["d"], words["o_ptr"]} <= passed.keys():
        return ()
    begin, indent = line
    heads, width, answer = (code(passed[words[name]]) for name in ("heads", "d", "o_ptr"))
    address, end = source.spans[passed[words["o_ptr"]]], source.spans[launch.call].end
    sums, rows = f"parts * {grid[1]} * {heads} * ({width} + 2)", f"{grid[1]} * {heads}"
    combine = COMBINE_PARTS.replace("tl.exp(", "tl.exp2(" if "tl.exp2(" in before else "tl.exp(")
    edits = [
        *added_kernel(text, combine),
        Edit(
            *(whole.start, whole.end),
            rewritten.replace(last, f"{last}, PARTS: tl.constexpr"),
        ),
        replaced(text, launch.grid, f"({grid[1]}, {grid[2]}, parts)"),
        Edit(address.start, address.end, "sums"),
        Edit(launch.end, launch.end, ", PARTS=parts"),
        Edit(
            *(end, end),
            f"\n{indent}combine_parts[({rows},)](sums, {answer}, {rows}, D={width}, PARTS=parts)",
        ),
    ]
    empty = f"sums = torch.empty({sums}, dtype=torch.float32, device={answer}.device)"
    edits.append(Edit(begin, begin, f"{indent}parts = {PARTS}\n{indent}{empty}\n"))
    return single(edited(situation.source, edits))


KEYS = 128


def _turn_sketch(begin: str, step: str) -> dict[str, str]:
    """How a kernel changes that goes through pages one by one, in steps as these."""
    return {
        "$places = tl.arange(0, $size)": "$places = tl.arange(0, KEYS)",
        f"for $start in range({begin}, $length, {step}$size):": (
            f"for $start in range({begin.replace('$size', 'KEYS')}, $length, {step}KEYS):"
        ),
        "$page = tl.load($table_ptr + $sequence * $pages + $start // $size).to(tl.int64)": (
            "token = $start + $places\n"
            "page_at = $table_ptr + $sequence * $pages + token // $size\n"
            "$page = tl.load(page_at, mask=token < $length, other=0).to(tl.int64)"
        ),
        "$at = (($page * $size + $places[:, None]) * $groups + $shared) * $d + $columns[None, :]": (
            "$at = ($page * $size + token % $size)[:, None] * $groups + $shared\n"
            "$at = $at * $d + $columns[None, :]"
        ),
    }


TURNS = (_turn_sketch("0", ""), _turn_sketch("tl.program_id(2) * $size", "PARTS * "))


@Recipe(
    "triton.keys_per_turn",
    "Take the keys of several pages in a turn",
    category=Category.MOVEMENT,
    change="A turn of the loop takes 128 keys, each from the page that the table names, "
    "where it took those of one page.",
    rationale="A page holds few kilobytes, and a turn waits for its loads and for the reductions "
    "of its scores; more keys in a turn keep more loads in flight and are reduced together.",
    risks="More registers. The last turn of a short sequence is mostly masked.",
    expected=lambda facts: 1.4 if (facts.share or 0) < 0.6 else 1.05,
)
def keys_per_turn(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite a walk over pages, before or after the other recipes for decoding."""
    text = situation.source.text
    source = read_triton(text)
    for launch in source.launches if source else ():
        kernel = source.kernels.get(launch.kernel) if source else None
        if source is None or kernel is None or re.search(r"\b(KEYS|token|page_at)\b", text):
            continue
        whole, last = source.spans[kernel.node], f"{kernel.parameters[-1]}: tl.constexpr"
        before = text.encode()[whole.start : whole.end].decode()
        made = [after for sketch in TURNS if (after := sketched(before, sketch)[0])]
        if len(made) == 1 and made[0].count(last) == 1:
            after = made[0].replace(last, f"{last}, KEYS: tl.constexpr")
            edit = Edit(whole.start, whole.end, after)
            return single(
                edited(situation.source, [edit, Edit(launch.end, launch.end, f", KEYS={KEYS}")])
            )
    return ()
