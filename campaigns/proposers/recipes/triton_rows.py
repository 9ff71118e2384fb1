"""Triton kernels of one row per program: the whole row in one block, and several short rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe
from campaigns.proposers.recipes.triton_products import own_line
from campaigns.syntax.edits import Edit, edited
from campaigns.syntax.triton_source import Kernel, Launch, TritonSource, code, given, read_triton

# Each thread holds so many values of a row; a warp has 32 threads, and a block 32 warps at most.
VALUES = (8, 16, 32)
WALK = m.For(
    target=m.Name(),
    iter=m.Call(
        func=m.Name("range"),
        args=[m.Arg(m.Integer("0")), m.Arg(m.Name()), m.Arg(m.Name())],
    ),
    orelse=None,
)
# What reads lanes beside its own, and so sees what a mask leaves out.
ACROSS = ("tl.sum", "tl.max(", "tl.min(", "tl.arg", "tl.reduce", "tl.cum", "tl.dot", "tl.sort")
INDENT = "    "


@Recipe(
    "triton.row_at_once",
    "Load the row once and keep it in registers",
    category=Category.REGISTERS,
    change="One block as wide as the row replaces the loops over short blocks: what several walks "
    "loaded is loaded once, and every step works on registers.",
    rationale="Each turn of a loop ends in a reduction over all warps that the next turn waits "
    "for, and every value is loaded once a walk; one wide load needs one reduction for each walk "
    "and keeps the whole row in flight.",
    risks="Very long rows spill registers: past 16384 columns the loops may be better.",
    expected=lambda facts: 1.8 if (facts.share or 0) < 0.6 else 1.1,
)
def row_at_once(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the first kernel whose loops all walk over one row; refuse anything else."""
    source = read_triton(situation.source.text)
    names = [launch.kernel for launch in source.launches] if source else []
    for launch in source.launches if source else ():
        kernel = source.kernels.get(launch.kernel) if source else None
        if source is None or kernel is None or names.count(kernel.name) > 1:
            continue
        walk, passed = _walk(kernel), given(kernel, launch)
        if walk is None or not {*walk} <= passed.keys():
            continue
        width, block = (passed[name] for name in walk)
        if code(block) in launch.grid:
            continue
        body, number = source.spans[kernel.node.body], source.spans[block]
        whole = f"triton.next_power_of_2({code(width)})"
        lines = f"\n{INDENT}".join(_flat(kernel, _apart(passed)))
        edits = [Edit(body.start, body.end, lines), Edit(number.start, number.end, whole)]
        if "num_warps" in launch.keywords:
            return (Variant("whole rows", edited(situation.source, edits)),)
        return tuple(
            Variant(
                f"{values} values a thread",
                edited(situation.source, [*edits, _warps(launch, whole, values)]),
                {"values": values},
            )
            for values in VALUES
        )
    return ()


def _warps(launch: Launch, whole: str, values: int) -> Edit:
    """The launch gets as many warps as give each thread so many values of a row."""
    return Edit(launch.end, launch.end, f", num_warps=min(32, max(1, {whole} // {32 * values}))")


def _walk(kernel: Kernel) -> tuple[str, str] | None:
    """The parameters that are the width of a row and of a block; None where loops differ."""
    text, body = code(kernel.node.body), kernel.node.body.body
    found = {code(one.iter) for one in body if isinstance(one, cst.For) and m.matches(one, WALK)}
    loops = m.findall(kernel.node.body, m.For() | m.While())
    walks = [one for one in body if m.matches(one, WALK)]
    if len(found) != 1 or len(loops) != len(walks) or "None" in text:
        return None
    args = cst.ensure_type(cst.ensure_type(walks[0], cst.For).iter, cst.Call).args
    width, block = code(args[1].value), code(args[2].value)
    known = width in kernel.parameters and width not in kernel.constexprs
    # A row of several: its address is a multiple of the width.
    return (width, block) if known and block in kernel.constexprs and f"* {width}" in text else None


def _apart(passed: Mapping[str, cst.BaseExpression]) -> bool:
    """Say whether the launch passes no value twice, so that two pointers are two tensors."""
    texts = [code(value) for value in passed.values()]
    return len({*texts}) == len(texts)


def _flat(kernel: Kernel, apart: bool) -> Iterator[str]:
    """The kernel's lines with the body of every loop once, and without what is known already."""
    statements: list[cst.BaseStatement | cst.BaseSmallStatement] = []
    for one in kernel.node.body.body:
        statements += _turn(one) if isinstance(one, cst.For) else [one]
    known = _Values(apart, kernel.parameters)
    for number, one in enumerate(statements):
        later = "\n".join(map(code, statements[number + 1 :]))
        text = known.written(one, masked=any(word in later for word in ACROSS))
        yield from (line.rstrip() for line in text.rstrip("\n").split("\n") if text)


def _turn(loop: cst.For) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
    """The body of a loop in its first turn, where its variable is zero."""
    name = m.Name(cst.ensure_type(loop.target, cst.Name).value)
    added = m.BinaryOperation(left=name, operator=m.Add())
    body = m.replace(
        loop.body, added, lambda node, _: cst.ensure_type(node, cst.BinaryOperation).right
    )
    body = m.replace(body, name, lambda node, _: cst.Integer("0"))
    return cst.ensure_type(body, cst.IndentedBlock).body


@dataclass(frozen=True, slots=True)
class _Load:
    """`tl.load(pointer, mask=…, other=…)` and what follows it, such as `.to(tl.float32)`."""

    pointer: str
    mask: str
    other: str
    behind: str


class _Values:
    """What variables hold, while statements follow each other.

    apart: whether two pointers among the parameters are never to the same tensor.
    """

    def __init__(self, apart: bool, parameters: Sequence[str]) -> None:
        self._apart, self._parameters = apart, parameters
        # By variable the expression that it holds, with masks written out; and the loads of those.
        self._held: dict[str, cst.BaseExpression] = {}

    def written(self, one: cst.CSTNode, *, masked: bool) -> str:
        """A statement as it is needed; "" where its variable holds the value already.

        masked: whether what follows may read lanes that a mask leaves out.
        """
        text, small = code(one), None
        if isinstance(one, cst.SimpleStatementLine) and len(one.body) == 1:
            small = one.body[0]
        if isinstance(small, cst.Assign) and m.matches(small, m.Assign([m.AssignTarget(m.Name())])):
            name = code(small.targets[0].target)
            value = self._written_out(small.value)
            same = self._holder(name, value, masked=masked)
            if same == name:
                return ""
            self._forget(name)
            if not _reads(value, name):
                self._held[name] = value
            return f"{name} = {same}" if same else text
        if isinstance(small, cst.AugAssign):
            self._forget(code(small.target))
        elif isinstance(small, cst.Expr) and m.matches(small.value, m.Call()):
            self._forget_stored(cst.ensure_type(small.value, cst.Call))
        else:
            self._held.clear()
        return text

    def _written_out(self, value: cst.BaseExpression) -> cst.BaseExpression:
        """With comparisons in the place of the variables that hold them."""
        masks = {n: held for n, held in self._held.items() if isinstance(held, cst.Comparison)}

        def written_out(node: cst.CSTNode, _: object) -> cst.Comparison:
            return masks[cst.ensure_type(node, cst.Name).value]

        found = m.replace(value, m.Name(m.MatchIfTrue(masks.__contains__)), written_out)
        return found if isinstance(found, cst.BaseExpression) else value

    def _holder(self, name: str, value: cst.BaseExpression, *, masked: bool) -> str:
        """The expression that has the value by a variable; "" where none holds it."""
        if name in self._held and code(self._held[name]) == code(value):
            return name
        wanted = _load_of(value)
        for other, held in self._held.items() if wanted else ():
            load = _load_of(held)
            if load is None or wanted is None or not wanted.behind.startswith(load.behind):
                continue
            if (load.pointer, load.mask) != (wanted.pointer, wanted.mask):
                continue
            if load.other == wanted.other or not masked:
                return other + wanted.behind.removeprefix(load.behind)
        return ""

    def _forget(self, name: str) -> None:
        kept = {n: held for n, held in self._held.items() if n != name and not _reads(held, name)}
        self._held = kept

    def _forget_stored(self, call: cst.Call) -> None:
        """What was loaded from where this call may write."""
        written = self._tensor(code(call.args[0].value)) if call.args else ""
        for name, held in list(self._held.items()):
            load = _load_of(held)
            read = self._tensor(load.pointer) if load else ""
            if load and not (self._apart and written and read and written != read):
                del self._held[name]

    def _tensor(self, pointer: str) -> str:
        """The parameter that an address begins with; "" where it begins with anything else."""
        base = pointer.partition(" ")[0]
        return base if base in self._parameters else ""


def _load_of(value: cst.BaseExpression) -> _Load | None:
    behind = ""
    while m.matches(value, m.Call(func=m.Attribute(attr=m.Name("to")))):
        call = cst.ensure_type(value, cst.Call)
        inner = cst.ensure_type(call.func, cst.Attribute).value
        behind = code(value).removeprefix(code(inner)) + behind
        value = inner
    if not m.matches(value, m.Call(func=m.Attribute(m.Name("tl"), m.Name("load")))):
        return None
    args = cst.ensure_type(value, cst.Call).args
    named = {arg.keyword.value: code(arg.value) for arg in args if arg.keyword is not None}
    if len(args) - len(named) != 1 or named.keys() - {"mask", "other"}:
        return None
    return _Load(code(args[0].value), named.get("mask", ""), named.get("other", ""), behind)


def _reads(node: cst.CSTNode, name: str) -> bool:
    return bool(m.findall(node, m.Name(name)))


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


def rows_together(given_source: Source, values: int) -> Source | None:
    """A kernel of one row per program with as many rows in each as make up so many values.

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
        many = f"many = max(1, {values} // {code(passed[width])})\n{line[1]}"
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
        if any(_reads(value, known) for known in of_row):
            of_row.add(name)
    for call in _calls(kernel, "tl.load", "tl.store"):
        if not any(_reads(call.args[0].value, known) for known in of_row):
            continue
        masks = [arg.value for arg in call.args if arg.keyword and arg.keyword.value == "mask"]
        at = source.spans[masks[0] if masks else call.args[-1].value]
        if masks:
            yield Edit(at.start, at.start, "(")
        text = f") & ({row} < height)" if masks else f", mask={row} < height"
        yield Edit(at.end, at.end, text)
