"""Triton recipes, for plain kernels that are recognised from their syntax tree."""

from __future__ import annotations

import re

import libcst as cst
import libcst.matchers as m

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, template
from campaigns.proposers.recipes.triton_rows import rows_together
from campaigns.syntax.edits import Edit, edited, replaced
from campaigns.syntax.triton_source import Kernel, Launch, code, read_triton

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
)
def rows_per_program(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite a kernel that loads one row per program at once; refuse anything else."""
    source = situation.source
    if situation.op not in ("softmax", "layernorm"):
        together = [(values, rows_together(source, values)) for values in VALUES]
        return tuple(Variant(f"{n} values", one, {"values": n}) for n, one in together if one)
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
