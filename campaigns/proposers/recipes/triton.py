"""Triton recipes, for plain kernels that are recognised from their syntax tree."""

from __future__ import annotations

import re

import libcst as cst
import libcst.matchers as m

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single, template
from campaigns.syntax.edits import Edit, edited, replaced
from campaigns.syntax.triton_source import Kernel, Launch, TritonSource, code, given, read_triton

READS = frozenset(("tl.program_id", "tl.arange", "tl.load", "tl.store"))
MATHS = {
    "softmax": frozenset(("tl.exp", "tl.max", "tl.sum", "float")),
    "layernorm": frozenset(("tl.sum", "tl.where", "tl.rsqrt", "tl.sqrt", "range")),
    "vector_add": frozenset[str](),
}
NEEDED = {
    "softmax": {"tl.exp", "tl.max", "tl.sum"},
    "layernorm": {"tl.sum"},
    "vector_add": {"tl.load"},
}


def read_plain(text: str, op: str) -> tuple[Kernel, Launch] | None:
    """The one kernel and launch of a source that computes `op` in the plain way, else None."""
    source = read_triton(text)
    if source is None or len(source.kernels) != 1 or len(source.launches) != 1 or op not in MATHS:
        return None
    kernel, launch = next(iter(source.kernels.values())), source.launches[0]
    found = m.findall(kernel.node.body, m.Call())
    calls = {code(call.func) for call in found if isinstance(call, cst.Call)}
    if launch.kernel != kernel.name or calls - READS - MATHS[op] or not NEEDED[op] <= calls:
        return None
    return kernel, launch


def read_product(text: str) -> tuple[TritonSource, Kernel, Launch] | None:
    """A source that multiplies tiles, with its one kernel and launch; else None."""
    source = read_triton(text)
    if source is None or len(source.kernels) != 1 or len(source.launches) != 1:
        return None
    kernel, launch = next(iter(source.kernels.values())), source.launches[0]
    found = launch.kernel == kernel.name and "tl.dot" in code(kernel.node)
    return (source, kernel, launch) if found else None


def program_ids(kernel: Kernel) -> dict[int, str]:
    """Variables that hold a program's own number, by grid axis."""
    found: dict[int, str] = {}
    for node in m.findall(kernel.node.body, m.Assign(value=m.Call())):
        assign = cst.ensure_type(node, cst.Assign)
        call = cst.ensure_type(assign.value, cst.Call)
        if code(call.func) == "tl.program_id" and len(call.args) == 1:
            axis = code(call.args[0].value)
            if axis.isdigit():
                found[int(axis)] = code(assign.targets[0].target)
    return found


def loops(kernel: Kernel) -> bool:
    """Whether the kernel walks over its data in loops."""
    return bool(m.findall(kernel.node.body, m.For() | m.While()))


def row_per_program(kernel: Kernel, launch: Launch) -> bool:
    """Whether each program takes one whole row: a grid of N, and no block of two dimensions."""
    return launch.grid.replace(" ", "") == "(N,)" and "[:, None]" not in code(kernel.node.body)


STEPS = (1, 2, 4)
BLOCK = 512
BODY = re.compile(
    r"^    (?P<name>\w+) = tl\.program_id\(0\)\n(?P<rest>(?:    .*\n)+)", re.MULTILINE
)
GRID = re.compile(r"\(triton\.cdiv\(N, (?P<size>\w+)\),\)")
LOOP = """\
    for step in tl.static_range(STEPS):
        {name} = tl.program_id(0) * STEPS + step
"""


@Recipe(
    "triton.blocks_per_program",
    "Give each thread four values, and each program several blocks",
    category=Category.LAUNCH,
    change="Each program works through STEPS neighbouring blocks of 512 values, four a "
    "thread, in a loop that is unrolled at compile time.",
    rationale="A block of few values per program spends its time on starting programs, and a "
    "thread with one value loads 4 bytes at a time; four neighbours are one 16-byte load.",
    risks="Fewer programs: short vectors may not fill the chip.",
    expected=lambda facts: 1.4 if (facts.share or 0) < 0.7 else 1.04,
    ops=("vector_add",),
)
def blocks_per_program(situation: Situation) -> tuple[Variant, ...]:
    """Wrap the body of a plain element-wise kernel in a loop; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, "vector_add")
    if found is None or set(program_ids(found[0])) != {0}:
        return ()
    kernel, launch = found
    body = BODY.search(source.text)
    grid = GRID.fullmatch(launch.grid)
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    once = all(source.text.count(part) == 1 for part in (last, launch.grid))
    known = "BLOCK" in launch.numbers and "BLOCK" in kernel.constexprs
    if body is None or grid is None or not once or not known or " for " in body["rest"]:
        return ()
    indented = "".join(f"    {line}" for line in body["rest"].splitlines(keepends=True))
    size = launch.numbers["BLOCK"].span
    variants = []
    for steps in STEPS:
        edits = [
            replaced(source.text, last, f"{last}, STEPS: tl.constexpr"),
            replaced(source.text, body[0], LOOP.format(name=body["name"]) + indented),
            replaced(source.text, launch.grid, f"(triton.cdiv(N, {grid['size']} * {steps}),)"),
            Edit(size.start, size.end, str(BLOCK)),
            Edit(launch.end, launch.end, f", STEPS={steps}"),
        ]
        variants.append(Variant(f"{steps} blocks", edited(source, edits), {"steps": steps}))
    return tuple(variants)


MASKS = re.compile(
    r"^(?P<in>[ ]+)(?P<a>\w+) = \((?P<row>\w+)\[:, None\] < M\) & \((?P<k>\w+)\[None, :\] < K\)\n"
    r"[ ]+(?P<b>\w+) = \((?P=k)\[:, None\] < K\) & \((?P<col>\w+)\[None, :\] < N\)\n",
    re.MULTILINE,
)
EVEN = """\
{in}if EVEN_K:
{in}    {a} = {row}[:, None] < M
{in}    {b} = {col}[None, :] < N
{in}else:
{in}    {a} = ({row}[:, None] < M) & ({k}[None, :] < K)
{in}    {b} = ({k}[:, None] < K) & ({col}[None, :] < N)
"""


@Recipe(
    "triton.even_tiles",
    "Drop the inner masks of whole tiles",
    category=Category.INSTRUCTIONS,
    change="EVEN_K, fixed at compile time, removes the inner dimension from the masks of A "
    "and B where it is a multiple of BLOCK_K.",
    rationale="The comparison with K sits in the inner loop, costs instructions in every turn "
    "and keeps the loads from being issued early; for whole tiles it never applies.",
    risks="Two compiled versions where sizes of both kinds occur.",
    expected=lambda facts: 1.09,
)
def even_tiles(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the masks of a plain tile kernel; refuse anything else."""
    source = situation.source
    found = read_product(source.text)
    masks = list(MASKS.finditer(source.text))
    if found is None or len(masks) != 1:
        return ()
    _, kernel, launch = found
    inner = given(kernel, launch).get("K")
    depth = launch.numbers.get("BLOCK_K") if inner and code(inner) == "K" else None
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    taken = "EVEN_K" in code(kernel.node)
    if depth is None or taken or "BLOCK_K" not in kernel.constexprs or source.text.count(last) != 1:
        return ()
    text, mask = source.text, masks[0]
    name = depth.name or "block_k"
    edits = [
        replaced(text, last, f"{last}, EVEN_K: tl.constexpr"),
        replaced(text, mask[0], EVEN.format(**mask.groupdict())),
        Edit(launch.end, launch.end, f", EVEN_K=K % {name} == 0"),
    ]
    if not depth.name:
        # One place for the number, so that whoever changes it later changes both of its uses.
        line = text.encode()[: launch.start].rsplit(b"\n", 1)[-1].decode()
        binding = f"{name} = {depth.value}\n{line}"
        edits.append(Edit(launch.start, launch.start, binding))
        edits.append(Edit(depth.span.start, depth.span.end, name))
    return single(edited(source, edits))


GROUP = 8
ORDER = """\
tiles_0 = tl.cdiv({rows}, {height})
    tiles_1 = tl.cdiv({columns}, {width})
    tile = tl.program_id(0)
    group = tile // (GROUP * tiles_1)
    height = min(tiles_0 - group * GROUP, GROUP)
    tile_0 = group * GROUP + tile % (GROUP * tiles_1) % height
    tile_1 = tile % (GROUP * tiles_1) // height
    """
GRID_2 = re.compile(
    r"\((?P<rows>triton\.cdiv\((\w+), (\w+)\)), (?P<columns>triton\.cdiv\((\w+), (\w+)\))\)"
)


@Recipe(
    "triton.grouped_order",
    "Walk the tiles in groups",
    category=Category.MOVEMENT,
    change="The grid becomes one-dimensional and consecutive programs take tiles from a group "
    f"of {GROUP} tile rows.",
    rationale="Programs that run at the same time then read the same few tiles of A and B, "
    "which stay in the L2 cache, instead of a whole stripe each.",
    risks="No effect where both matrices fit into the L2 cache anyway.",
    expected=lambda facts: 1.07,
)
def grouped_order(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the order of a kernel on a (rows, columns) grid; refuse anything else."""
    text = situation.source.text
    found = read_product(text)
    grid = GRID_2.fullmatch(" ".join(found[2].grid.split())) if found else None
    if found is None or grid is None:
        return ()
    source, kernel, launch = found
    body, last = code(kernel.node.body), f"{kernel.parameters[-1]}: tl.constexpr"
    # The kernel's own names of what the grid is made of.
    named = {code(value): name for name, value in given(kernel, launch).items()}
    sides = [named.get(grid[number], "") for number in (2, 3, 5, 6)]
    numbers = [f"tl.program_id({axis})" for axis in (0, 1)]
    calls = [text.count(part) for part in (*numbers, last)]
    if not all(sides) or calls != [1, 1, 1] or body.count("tl.program_id") != 2:
        return ()
    start = source.spans[kernel.node.body].start
    order = ORDER.format(**dict(zip(("rows", "height", "columns", "width"), sides, strict=True)))
    edits = [
        Edit(start, start, order),
        *(replaced(text, part, f"tile_{axis}") for axis, part in enumerate(numbers)),
        replaced(text, last, f"{last}, GROUP: tl.constexpr"),
        replaced(text, launch.grid, f"({grid['rows']} * {grid['columns']},)"),
        Edit(launch.end, launch.end, f", GROUP={GROUP}"),
    ]
    return single(edited(situation.source, edits))


VALUES = (512, 1024, 2048)


@Recipe(
    "triton.rows_per_program",
    "Take several short rows per program",
    category=Category.LAUNCH,
    change="Each program loads, reduces and writes as many rows as make up 512, 1024 or 2048 "
    "values, and one row where that is longer.",
    rationale="Starting a program costs the same for a short row as for a long one, and a "
    "row of 128 values leaves each of its threads a single one; several rows put several "
    "independent loads in flight.",
    risks="Fewer programs and more registers in each, so too many rows leave processors idle.",
    expected=lambda facts: 1.5 if (facts.share or 0) < 0.6 else 1.02,
    ops=("softmax", "layernorm"),
)
def rows_per_program(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that loads one row per program at once; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, situation.op)
    if found is None or loops(found[0]) or not row_per_program(*found):
        return ()
    text = template(f"triton_{situation.op}_rows.py.txt")
    variants = []
    for values in VALUES:
        set_to = text.replace("VALUES = 512", f"VALUES = {values}")
        made = Source(source.name, set_to, source.flags)
        variants.append(Variant(f"{values} values", made, {"values": values}))
    return tuple(variants)
