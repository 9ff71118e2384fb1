"""Triton recipes, for plain kernels that are recognised from their syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single, template
from campaigns.proposers.recipes.triton_products import own_line
from campaigns.proposers.recipes.triton_rows import reads
from campaigns.syntax.edits import Edit, edited, replaced
from campaigns.syntax.triton_source import (
    Kernel,
    Launch,
    TritonSource,
    code,
    given,
    read_triton,
)

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


STEPS = 2
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
    edits = [
        replaced(source.text, last, f"{last}, STEPS: tl.constexpr"),
        replaced(source.text, body[0], LOOP.format(name=body["name"]) + indented),
        replaced(source.text, launch.grid, f"(triton.cdiv(N, {grid['size']} * {STEPS}),)"),
        Edit(size.start, size.end, str(BLOCK)),
        Edit(launch.end, launch.end, f", STEPS={STEPS}"),
    ]
    return single(edited(source, edits))


VALUES = 1024


@Recipe(
    "triton.rows_per_program",
    "Take several short rows per program",
    category=Category.LAUNCH,
    change="Each program loads, reduces and writes as many rows as make up 1024 values, and one "
    "row where that is longer.",
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
        together = rows_together(source)
        return single(together) if together else ()
    found = read_plain(source.text, situation.op)
    if found is None or loops(found[0]) or not row_per_program(*found):
        return ()
    text = template(f"triton_{situation.op}_rows.py.txt")
    return single(Source(source.name, text, source.flags))


TWO_WALKS = re.compile(
    r"^(?P<in> +)for (?P<at>\w+) in (?P<range>range\(.+\)):\n(?P<body>(?:(?P=in)    .*\n)+?)"
    r"(?P=in)    (?P<peak>\w+) = tl\.maximum\((?P=peak), tl\.max\((?P<x>.+), axis=0\)\)\n"
    r"(?P=in)(?P<total>\w+) = 0\.0\n"
    r"(?P=in)for (?P=at) in (?P=range):\n(?P=body)"
    r"(?P=in)    (?P=total) \+= tl\.sum\(tl\.exp\((?P=x) - (?P=peak)\), axis=0\)\n",
    re.MULTILINE,
)
ONE_WALK = """\
{in}{total} = 0.0
{in}for {at} in {range}:
{body}{in}    higher = tl.maximum({peak}, tl.max({x}, axis=0))
{in}    base = tl.where(higher == -float("inf"), 0.0, higher)
{in}    {total} *= tl.exp({peak} - base)
{in}    {total} += tl.sum(tl.exp({x} - base), axis=0)
{in}    {peak} = higher
"""


@Recipe(
    "triton.one_walk",
    "Find the peak and the sum of a row in one walk",
    category=Category.MOVEMENT,
    change="The walk that finds the largest value also adds up the exponentials; the sum so far is "
    "scaled down whenever a larger value is found.",
    rationale="A row too long for registers is read once a walk, and one of the walks falls away: "
    "the online softmax of Milakov and Gimelshein (arXiv 1805.02867).",
    risks="Each turn scales the sum once more. Sums are rounded in another way.",
    expected=lambda facts: 1.3 if (facts.share or 0) < 0.7 else 1.02,
)
def one_walk(situation: Situation) -> tuple[Variant, ...]:
    """Merge two walks over the same blocks, of the peak and of the sum; refuse anything else."""
    text = situation.source.text
    walks = list(TWO_WALKS.finditer(text))
    if len(walks) != 1 or re.search(r"\b(higher|base)\b", text):
        return ()
    merged = ONE_WALK.format(**walks[0].groupdict())
    return single(edited(situation.source, [replaced(text, walks[0][0], merged)]))


FOLDS = frozenset(("tl.sum", "tl.max", "tl.min", "tl.argmax", "tl.argmin"))
# What works on each value by itself, whatever shape it comes in.
BY_VALUE = frozenset(
    (
        *("float", "range", "tl.program_id", "tl.arange", "tl.load", "tl.store", "tl.where"),
        *("tl.maximum", "tl.minimum", "tl.abs", "tl.exp", "tl.exp2", "tl.log", "tl.sqrt"),
        *("tl.rsqrt", "tl.sigmoid"),
    )
)
ALL_ROWS = "(tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]"


def rows_together(given_source: Source) -> Source | None:
    """A kernel of one row per program with as many rows in each as make up `VALUES`.

    The values of a row stand side by side and what it comes to is a column, so that all that works
    value by value stays as it is. None for a kernel that does anything else.
    """
    source = read_triton(given_source.text)
    names = [launch.kernel for launch in source.launches] if source else []
    for launch in source.launches if source else ():
        kernel = source.kernels.get(launch.kernel) if source else None
        line = own_line(launch, given_source.text)
        index = cst.ensure_type(launch.call.func, cst.Subscript).slice[0].slice
        if source is None or kernel is None or line is None or names.count(kernel.name) > 1:
            continue
        row, width, last = _row_of(kernel), _width(kernel), kernel.node.params.params[-1]
        passed, clear = given(kernel, launch), not re.search(r"\b(height|ROWS|many)\b", source.text)
        # Blocks of a vector are one row.
        is_block = f"{row} * {width}" in code(kernel.node)
        if not row or is_block or width not in passed or not clear or last.annotation is None:
            continue
        if not m.matches(index, m.Index(m.Tuple([m.Element()]))):
            continue
        count = (
            cst.ensure_type(cst.ensure_type(index, cst.Index).value, cst.Tuple).elements[0].value
        )
        many = f"many = max(1, {VALUES} // {code(passed[width])})\n{line[1]}"
        grid, end = source.spans[count], source.spans[last.annotation].end
        edits = [
            *_widened(source, kernel, row),
            Edit(end, end, ", height, ROWS: tl.constexpr"),
            Edit(launch.start, launch.start, many),
            Edit(grid.start, grid.end, f"triton.cdiv({code(count)}, many)"),
            Edit(launch.end, launch.end, f", height={code(count)}, ROWS=many"),
        ]
        return edited(given_source, edits)
    return None


def _row_of(kernel: Kernel) -> str:
    """The variable of the program's row, where all that is done suits several rows; else ""."""
    body = kernel.node.body
    calls = {code(cst.ensure_type(one, cst.Call).func) for one in m.findall(body, m.Call())}
    known = {name for name in calls if name in BY_VALUE | FOLDS or name.endswith(".to")}
    shaped = m.If() | m.While() | m.Return() | m.IfExp() | m.Subscript()
    rows = re.findall(
        r"^(\w+) = tl\.program_id\(0\)(?:\.to\(tl\.int64\))?$",
        "\n".join(code(one).strip() for one in body.body),
        re.MULTILINE,
    )
    text = code(body)
    once = len(rows) == 1 and text.count("tl.program_id") == 1
    folds = sum(text.count(f"{name}(") for name in FOLDS)
    if not once or calls != known or m.findall(body, shaped) or folds != text.count(", axis=0)"):
        return ""
    return rows[0] if all(_keeps_shapes(kernel, loop) for loop in m.findall(body, m.For())) else ""


def _keeps_shapes(kernel: Kernel, loop: cst.CSTNode) -> bool:
    """Say whether a loop changes values of rows that were there before it, and no single number."""
    changed = {
        code(cst.ensure_type(one, cst.AugAssign).target) for one in m.findall(loop, m.AugAssign())
    }
    changed |= {name for name, _ in _assigned(loop)}
    before = [(name, value) for name, value in _assigned(kernel.node.body) if name in changed]
    inside = {value for _, value in _assigned(loop)}
    return all("tl.load" in code(value) for _, value in before if value not in inside)


def _assigned(node: cst.CSTNode) -> list[tuple[str, cst.BaseExpression]]:
    found = [cst.ensure_type(one, cst.Assign) for one in m.findall(node, m.Assign())]
    return [(code(one.targets[0].target), one.value) for one in found]


def _width(kernel: Kernel) -> str:
    """The parameter that every row's values are counted by; "" where there are several."""
    calls = [cst.ensure_type(one, cst.Call) for one in _calls(kernel, "tl.arange")]
    widths = {code(one.args[-1].value) for one in calls if code(one.args[0].value) == "0"}
    return widths.pop() if len(widths) == 1 and widths <= kernel.constexprs else ""


def _calls(kernel: Kernel, *names: str) -> Iterator[cst.Call]:
    for one in m.findall(kernel.node.body, m.Call()):
        call = cst.ensure_type(one, cst.Call)
        if code(call.func) in names:
            yield call


def _widened(source: TritonSource, kernel: Kernel, row: str) -> Iterator[Edit]:
    """Each row's values side by side, what they come to in a column, and no row beyond the last."""
    for call in _calls(kernel, "tl.program_id", "tl.arange"):
        at = source.spans[call]
        is_row = code(call.func) == "tl.program_id"
        yield Edit(at.start, at.end, ALL_ROWS if is_row else f"{code(call)}[None, :]")
    for call in _calls(kernel, *FOLDS):
        at = source.spans[call.args[-1].value]
        yield Edit(at.start, at.end, "1, keep_dims=True")
    of_row = {row}
    for name, value in _assigned(kernel.node.body):
        if any(reads(value, known) for known in of_row):
            of_row.add(name)
    for call in _calls(kernel, "tl.load", "tl.store"):
        if not any(reads(call.args[0].value, known) for known in of_row):
            continue
        masks = [arg.value for arg in call.args if arg.keyword and arg.keyword.value == "mask"]
        at = source.spans[masks[0] if masks else call.args[-1].value]
        if masks:
            yield Edit(at.start, at.start, "(")
        text = f") & ({row} < height)" if masks else f", mask={row} < height"
        yield Edit(at.end, at.end, text)
