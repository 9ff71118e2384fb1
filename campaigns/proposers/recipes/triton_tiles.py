"""Triton recipes for products of tiles: which program takes which tile, and how it moves them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single
from campaigns.proposers.recipes.triton_products import (
    GRID_2,
    lines_before,
    named_number,
    own_line,
    read_product,
    sides_of,
    torch_imported,
)
from campaigns.syntax.edits import Edit, edited, replaced, sketched
from campaigns.syntax.triton_source import Launch, TritonSource, code, given

ONE_TILE = """\
tiles_0 = tl.cdiv({}, {})
    tiles_1 = tl.cdiv({}, {})
    tile = tl.program_id(0)
    tile_0 = tile // tiles_1
    tile_1 = tile % tiles_1
    """
NUMBER = "    tile = tl.program_id(0)\n"
WALK_TILES = "tl.range(tl.program_id(0), tiles_0 * tiles_1, tl.num_programs(0)"
# The compiler can make one loop of two, and then loads for the next tile while it stores the last.
# It does not know that pointers in such a loop are neighbours, so it would load them one by one.
FLAT_TILES = f"{WALK_TILES}, flatten=DESCRIBED"
GRID_1 = re.compile(r"\((triton\.cdiv\(\w+, \w+\) \* triton\.cdiv\(\w+, \w+\)),\)")


@Recipe(
    "triton.persistent",
    "As many programs as multiprocessors",
    category=Category.LAUNCH,
    change="The grid has one program for each multiprocessor, and every one walks over tiles, as "
    "far apart as there are programs.",
    rationale="No multiprocessor waits for a new program to start, and with tensor descriptors a "
    "program loads what its next tile needs while it stores the last one.",
    risks="The outer loop takes registers. Small tiles need several programs for each "
    "multiprocessor, and lose by it.",
    expected=lambda facts: 1.01,
)
def persistent(situation: Situation) -> tuple[Variant, ...]:
    """Wrap the body of a kernel on a grid of tiles in a loop; refuse anything else.

    It takes what `triton.grouped_order` makes, and `triton.even_tiles` before and after it.
    """
    text = situation.source.text
    found = read_product(text)
    if found is None or text.count("import triton\n") != 1 or text.count(found[2].grid) != 1:
        return ()
    source, kernel, launch = found
    span = source.spans[kernel.node.body]
    body = text.encode()[span.start : span.end].decode()
    rows_and_columns, numbered = GRID_2.fullmatch(launch.grid), GRID_1.fullmatch(launch.grid)
    if rows_and_columns is not None:
        sides = sides_of(kernel, launch, rows_and_columns)
        numbers = [body.count(f"tl.program_id({axis})") for axis in (0, 1)]
        if not all(sides) or numbers != [1, 1] or "tile" in kernel.parameters:
            return ()
        for axis in (0, 1):
            body = body.replace(f"tl.program_id({axis})", f"tile_{axis}")
        body = ONE_TILE.format(*sides) + body
        tiles = "{rows} * {columns}".format(**rows_and_columns.groupdict())
    elif numbered is not None and "tiles_0 = " in body and "tiles_1 = " in body:
        tiles = numbered[1]
    else:
        return ()
    before, number, behind = body.partition(NUMBER)
    if not number or "tl.program_id" in before + behind or "return" in body:
        return ()
    walk = FLAT_TILES if "DESCRIBED" in kernel.constexprs else WALK_TILES
    walked = f"{before}    for tile in {walk}):\n" + textwrap.indent(behind, "    ")
    # None is the present device, the one on which it launches.
    most = "torch.cuda.get_device_properties(None).multi_processor_count"
    edits = [*torch_imported(text), Edit(span.start, span.end, walked)]
    edits += [replaced(text, launch.grid, f"(min({tiles}, {most}),)")]
    return single(edited(situation.source, edits))


SIDE = r"\[(?::, None|None, :)\]"
PLACES = re.compile(
    r"^(?P<in> +)(?P<name>\w+) = (?P<first>.+) \+ "
    r"(?:tl\.arange\(0, (?P<size>\w+)\)|(?P<steps>\w+))$",
    re.MULTILINE,
)
STEPS = re.compile(r"^ +(\w+) = tl\.arange\(0, (\w+)\)$", re.MULTILINE)
ADDRESS = (
    rf"(?P<pointer>\w+) \+ (?P<outer>\w+)(?P<side>{SIDE}) \* (?P<width>\w+) \+ (?P<inner>\w+){SIDE}"
)
MOVE = re.compile(
    rf"^(?P<in> +)(?:(?P<x>\w+) = tl\.load\({ADDRESS}, mask=(?P<mask>\w+), other=0\.0\)"
    rf"|tl\.store\({re.sub('<', '<to_', ADDRESS)}, (?P<value>.+), mask=(?P<to_mask>\w+)\))$",
    re.MULTILINE,
)
LIMIT = re.compile(rf"(\w+){SIDE} < (\w+)")
MASK = re.compile(rf"{LIMIT.pattern}|\({LIMIT.pattern}\) & \({LIMIT.pattern}\)")
LANGUAGE = "import triton.language as tl\n"
IMPORTED = "from triton.tools.tensor_descriptor import TensorDescriptor\n"
# The condition on which a descriptor can stand for tensor x, of rows with so many values.
ALIGNED = "x.data_ptr() % 16 == 0 and {} * x.element_size() % 16 == 0"
PICKED = """\
{0}if DESCRIBED:
{0}    {1}
{0}else:
{0}    {2}"""


@dataclass(frozen=True, slots=True)
class _Places:
    """Neighbouring places along a side of a matrix: the first one, how many, and where it ends.

    line, named: the line that sets them, and with a name for the first one.
    """

    first: str
    size: str
    end: str
    line: str
    named: str


@dataclass(frozen=True, slots=True)
class _Move:
    """The load or the store of a whole tile: how it stands there, and by a descriptor."""

    pointer: str
    outer: _Places
    inner: _Places
    line: str
    become: str


def _places(body: str) -> dict[str, _Places]:
    """By variable; none that is compared with several ends."""
    steps, found = dict(STEPS.findall(body)), {}
    for each in PLACES.finditer(body):
        name, first = each["name"], each["first"]
        size = each["size"] or steps.get(each["steps"], "")
        ends = {end for compared, end in LIMIT.findall(body) if compared == name}
        set_once = len(re.findall(rf"^ +{name}\b.*? [-+*/]?= ", body, re.MULTILINE)) == 1
        if not size or len(ends) != 1 or not set_once:
            continue
        named = each[0]
        if not first.isidentifier():
            named = f"{each['in']}first_{name} = {first}\n{each[0].replace(first, f'first_{name}')}"
            first = f"first_{name}"
        found[name] = _Places(first, size, ends.pop(), each[0], named)
    return found


def _moves(body: str) -> Iterator[_Move]:
    """Yield the loads and stores that a descriptor can do."""
    places = _places(body)
    for each in MOVE.finditer(body):
        to = "" if each["x"] else "to_"
        pointer, outer, inner = (each[to + name] for name in ("pointer", "outer", "inner"))
        masks = re.findall(rf"^ +{each[to + 'mask']} = (.+)$", body, re.MULTILINE)
        known = outer in places and inner in places and places[inner].end == each[f"{to}width"]
        if not known or not masks or not all(map(MASK.fullmatch, masks)):
            continue
        at = f"[{places[outer].first}, {places[inner].first}]"
        turned = each[f"{to}side"] != "[:, None]"
        if each["x"]:
            become = f"{each['x']} = {pointer}.load({at}){'.T' if turned else ''}"
        else:
            become = f"{pointer}.store({at}, {each['value']}{'.T' if turned else ''})"
        line = PICKED.format(each["in"], become, each[0].strip())
        yield _Move(pointer, places[outer], places[inner], each[0], line)


@Recipe(
    "triton.descriptors",
    "Move whole tiles by tensor descriptors",
    category=Category.MOVEMENT,
    change="Where rows are a multiple of 16 bytes long, tiles of A, B and C are loaded and stored "
    "through descriptors that the host makes, without pointers and masks; else as before.",
    rationale="Hopper has a unit that copies a tile to shared memory by itself: no thread computes "
    "addresses or compares them with the end, and registers are left for the sums.",
    risks="Chips without that unit get pointers from the compiler, and win nothing. The host makes "
    "descriptors anew in every call, and reads addresses for it, which reviewers are told.",
    expected=lambda facts: 1.05,
)
def descriptors(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite loads and the store of a plain product of tiles; refuse anything else.

    Whether rows and addresses allow descriptors is decided at run time. The kernel keeps its
    pointers for where they do not, and is compiled for one of the two.
    """
    text = situation.source.text
    found = read_product(text)
    if found is None or text.count(LANGUAGE) != 1 or own_line(found[2], text) is None:
        return ()
    source, kernel, launch = found
    span, passed = source.spans[kernel.node.body], given(kernel, launch)
    body = f"    {text.encode()[span.start : span.end].decode()}"
    moves, last = list(_moves(body)), f"{kernel.parameters[-1]}: tl.constexpr"
    sides = [side for move in moves for side in (move.outer, move.inner)]
    known = {move.pointer for move in moves} | {side.end for side in sides} <= passed.keys()
    # Two loads and a store, of three matrices.
    pointers = {move.pointer for move in moves}
    if not known or (len(moves), len(pointers), body.count("tl.store(")) != (3, 3, 1):
        return ()
    if not {side.size for side in sides} <= launch.numbers.keys() or text.count(last) != 1:
        return ()
    if re.search(r"\b(operands|described|DESCRIBED|first_\w+)\b", text):
        return ()
    for side in {side.line: side for side in sides}.values():
        body = body.replace(side.line, side.named)
    for move in moves:
        body = body.replace(move.line, move.become)
    body = body.replace(f"{WALK_TILES})", f"{FLAT_TILES})")
    edits = [
        replaced(text, LANGUAGE, LANGUAGE + IMPORTED),
        replaced(text, last, f"{last}, DESCRIBED: tl.constexpr"),
        Edit(span.start, span.end, body[4:]),
        *_operands(source, launch, passed, moves),
        Edit(launch.end, launch.end, ", DESCRIBED=described"),
    ]
    return single(edited(situation.source, edits))


def _operands(
    source: TritonSource,
    launch: Launch,
    passed: Mapping[str, cst.BaseExpression],
    moves: Sequence[_Move],
) -> Iterator[Edit]:
    """What the host does before the launch: descriptors in the place of tensors where it can."""
    names: dict[str, str] = {}
    for size in {side.size: None for move in moves for side in (move.outer, move.inner)}:
        names[size], named = named_number(source.text, launch, size)
        yield from named
    tensors, widths, described = [], [], []
    for number, move in enumerate(moves):
        tensor, at = code(passed[move.pointer]), source.spans[passed[move.pointer]]
        rows, width = (code(passed[side.end]) for side in (move.outer, move.inner))
        block = f"[{names[move.outer.size]}, {names[move.inner.size]}]"
        tensors.append(tensor)
        widths.append(width)
        described.append(f"TensorDescriptor({tensor}, [{rows}, {width}], [{width}, 1], {block})")
        yield Edit(at.start, at.end, f"operands[{number}]")
    lines = [
        f"operands = ({', '.join(tensors)})",
        "described = all(",
        f"    {ALIGNED.format('width')}",
        f"    for x, width in zip(operands, ({', '.join(widths)}))",
        ")",
        "if described:",
        "    operands = (",
        *(f"        {each}," for each in described),
        "    )",
    ]
    _, indent = own_line(launch, source.text) or (0, "")
    yield lines_before(launch, indent, lines)


KEYS_BY_POINTER = """\
$key_at = ($shared * $s + $keys[:, None]) * $d + $columns[None, :]
$k = tl.load($k_ptr + $key_at, mask=$key_mask, other=0.0)
$v = tl.load($v_ptr + $key_at, mask=$key_mask, other=0.0)"""
# Beyond the last key of a head stand those of the next one, which may be infinite.
KEYS_BY_DESCRIPTOR = """\
if DESCRIBED:
    $k = $k_ptr.load([$shared * $s + $start, 0])
    $v = tl.where($key_mask, $v_ptr.load([$shared * $s + $start, 0]), 0.0)
else:
"""
DESCRIBED_KEYS = {
    "$keys = $start + tl.arange(0, $block)": "$keys = $start + tl.arange(0, $block)",
    KEYS_BY_POINTER: KEYS_BY_DESCRIPTOR + textwrap.indent(KEYS_BY_POINTER, "    "),
}


@Recipe(
    "triton.describe_keys",
    "Move keys and values by tensor descriptors",
    category=Category.MOVEMENT,
    change="Where the rows of a head are a multiple of 16 bytes long, tiles of keys and values are "
    "loaded through descriptors that the host makes; else as before.",
    rationale="Hopper has a unit that copies a tile to shared memory by itself: no thread computes "
    "addresses, and registers are left for the mixed values.",
    risks="Short heads win little. The host makes descriptors anew in every call, and reads "
    "addresses for it, which reviewers are told.",
    expected=lambda facts: 1.06,
)
def describe_keys(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the loads of attention whose keys stand in one matrix; refuse anything else.

    It takes what `triton.apart_masks` and `triton.exp2` make, and they take what it makes.
    """
    text = situation.source.text
    found = read_product(text)
    if found is None or text.count(LANGUAGE) != 1 or re.search("(?i)described", text):
        return ()
    source, kernel, launch = found
    whole, passed = source.spans[kernel.node], given(kernel, launch)
    before = text.encode()[whole.start : whole.end].decode()
    rewritten, words = sketched(before, DESCRIBED_KEYS)
    last, line = f"{kernel.parameters[-1]}: tl.constexpr", own_line(launch, text)
    if line is None or rewritten.count(last) != 1 or words["block"] not in launch.numbers:
        return ()
    if not {words["k_ptr"], words["v_ptr"], words["d"]} <= passed.keys():
        return ()
    keys, values = (passed[words[name]] for name in ("k_ptr", "v_ptr"))
    width, (block, named) = code(passed[words["d"]]), named_number(text, launch, words["block"])
    by_descriptor = (
        f"TensorDescriptor(x, [x.numel() // {width}, {width}], [{width}, 1], [{block}, {width}])"
    )
    lines = (
        f"moved = ({code(keys)}, {code(values)})",
        "described = all(",
        f"    {ALIGNED.format(width)} for x in moved",
        ")",
        "if described:",
        f"    moved = tuple({by_descriptor} for x in moved)",
    )
    at = [source.spans[one] for one in (keys, values)]
    edits = [
        replaced(text, LANGUAGE, LANGUAGE + IMPORTED),
        Edit(
            *(whole.start, whole.end), rewritten.replace(last, f"{last}, DESCRIBED: tl.constexpr")
        ),
        *named,
        lines_before(launch, line[1], lines),
        *(Edit(span.start, span.end, f"moved[{number}]") for number, span in enumerate(at)),
        Edit(launch.end, launch.end, ", DESCRIBED=described"),
    ]
    return single(edited(situation.source, edits))
