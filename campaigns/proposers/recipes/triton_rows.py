"""Triton kernels of one row per program: the whole row in one block, and several short rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single
from campaigns.proposers.recipes.triton_products import own_line
from campaigns.syntax.edits import Edit, edited
from campaigns.syntax.triton_source import (
    Kernel,
    Launch,
    Span,
    TritonSource,
    code,
    given,
    read_triton,
)

# Each thread holds so many values of a row; a warp has 32 threads, and a block 32 warps at most.
VALUES = 16
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
    risks="Long rows need many registers; those of more than 32768 values keep the loops.",
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
        number = source.spans[block]
        whole = f"triton.next_power_of_2({code(width)})"
        lines = f"\n{INDENT}".join(_flat(kernel, _apart(passed)))
        wide = _Wide(source, kernel, launch, lines, number, code(width))
        warps = "" if "num_warps" in launch.keywords else WARPS.format(whole, 32 * VALUES)
        edits = wide.edits(situation, whole, warps)
        return single(edited(situation.source, edits)) if edits else ()
    return ()


# The launch gets enough warps to leave each thread the given number of values of a row.
WARPS = ", num_warps=min(32, max(1, {} // {}))"
# A thread has too few registers for its part of a longer row.
LONGEST = 32768


@dataclass(frozen=True, slots=True)
class _Wide:
    """A kernel that walks over rows, its launch, and its lines for a row in one block.

    number: where the launch says how wide a block is. width: the length of a row there.
    """

    source: TritonSource
    kernel: Kernel
    launch: Launch
    lines: str
    number: Span
    width: str

    def edits(self, situation: Situation, whole: str, warps: str) -> list[Edit]:
        """The kernel rewritten; beside the one that walks, where the cases have longer rows, too.

        Empty where all rows are longer.
        """
        lengths = re.findall(rf"\b{re.escape(self.width)}=(\d+)", " ".join(situation.classes))
        are_long = [int(length) > LONGEST for length in lengths]
        body, call = self.source.spans[self.kernel.node.body], self.source.spans[self.launch.call]
        number, text = self.number, self.source.text.encode()
        if not any(are_long):
            return [
                Edit(body.start, body.end, self.lines),
                Edit(number.start, number.end, whole),
                Edit(self.launch.end, self.launch.end, warps),
            ]
        line, name = own_line(self.launch, self.source.text), self.kernel.name
        function = self.source.spans[self.kernel.node]
        head = text[function.start : body.start].decode()
        plain = [code(one.decorator) for one in self.kernel.node.decorators] == ["triton.jit"]
        if all(are_long) or line is None or not plain or f"whole_{name}" in self.source.text:
            return []
        indent, before = line[1], text[call.start : number.start]
        behind, rest = text[number.end : self.launch.end], text[self.launch.end : call.end]
        launched = f"whole_{before.decode()}{whole}{behind.decode()}{warps}{rest.decode()}"
        walked = text[call.start : call.end].decode().replace("\n", f"\n{INDENT}")
        whole_kernel = head.replace(f"def {name}(", f"def whole_{name}(") + self.lines
        apart = f"if {self.width} <= {LONGEST}:\n{indent}{INDENT}{launched}\n{indent}else:\n"
        return [
            Edit(function.start, function.start, f"{whole_kernel}\n\n\n@triton.jit\n"),
            Edit(call.start, call.end, f"{apart}{indent}{INDENT}{walked}"),
        ]


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
            if not reads(value, name):
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
        kept = {n: held for n, held in self._held.items() if n != name and not reads(held, name)}
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


def reads(node: cst.CSTNode, name: str) -> bool:
    return bool(m.findall(node, m.Name(name)))
