"""Reads Triton sources with libcst: kernels, their constexpr parameters and their launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst
import libcst.matchers as m
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes [start, end) of the source."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Number:
    """An integer literal and where it stands; name: the variable that it reaches a call by."""

    value: int
    span: Span
    name: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """One `kernel[grid](…)`.

    numbers: keyword arguments that are integers, literally or through one binding in reach.
    keywords: all keyword names. grid: the text of the grid. start: where the call begins.
    end: where a further argument fits.
    shared: keywords whose literal value also stands in the grid, so that the two belong together.
    call: the node itself.
    """

    kernel: str
    grid: str
    numbers: Mapping[str, Number]
    keywords: tuple[str, ...]
    shared: frozenset[str]
    start: int
    end: int
    call: cst.Call


@dataclass(frozen=True, slots=True)
class Kernel:
    """One `@triton.jit` function: parameter names in order and which are constexpr."""

    name: str
    parameters: tuple[str, ...]
    constexprs: frozenset[str]
    node: cst.FunctionDef


@dataclass(frozen=True, slots=True)
class TritonSource:
    """A whole file: its text, kernels by name, and launches in source order.

    bindings: what each variable is set to, wherever that stands. spans: where each node stands.
    """

    text: str
    module: cst.Module
    kernels: Mapping[str, Kernel]
    launches: tuple[Launch, ...]
    bindings: Mapping[str, Sequence[cst.BaseExpression]]
    spans: Mapping[cst.CSTNode, Span]

    def resolved(self, node: cst.CSTNode) -> cst.CSTNode:
        """What a variable with one binding is set to; any other node as it is."""
        if isinstance(node, cst.Name) and len(self.bindings.get(node.value, ())) == 1:
            return self.bindings[node.value][0]
        return node

    def number(self, node: cst.CSTNode) -> Number | None:
        """The integer that a node is, literally or through one binding; else None."""
        value = self.resolved(node)
        if not isinstance(value, cst.Integer):
            return None
        name = node.value if isinstance(node, cst.Name) else ""
        return Number(int(value.value.replace("_", ""), 0), self.spans[value], name)


def read_triton(text: str) -> TritonSource | None:
    """Parse a file; None when it is not Python."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(text))
    except cst.ParserSyntaxError:
        return None
    reader = _CallCollector(wrapper)
    wrapper.module.visit(reader)
    found = TritonSource(text, wrapper.module, reader.kernels, (), reader.bindings, reader.spans)
    return replace(found, launches=tuple(_launch(call, found) for call in reader.calls))


def given(kernel: Kernel, launch: Launch) -> Mapping[str, cst.BaseExpression]:
    """What a launch passes, by parameter; empty where it passes what is not written in the call."""
    plain: list[cst.BaseExpression] = []
    for arg in launch.call.args:
        if arg.star and not (arg.star == "*" and isinstance(arg.value, cst.Tuple)):
            return {}
        if isinstance(arg.value, cst.Tuple) and arg.star:
            plain += [element.value for element in arg.value.elements]
        elif arg.keyword is None:
            plain.append(arg.value)
    named = {arg.keyword.value: arg.value for arg in launch.call.args if arg.keyword is not None}
    return dict(zip(kernel.parameters, plain, strict=False)) | named


def code(node: cst.CSTNode) -> str:
    """A node as source text."""
    return cst.Module([]).code_for_node(node)


class _CallCollector(cst.CSTVisitor):
    """Collects kernels, integer bindings and launch calls in one pass."""

    def __init__(self, wrapper: MetadataWrapper) -> None:
        found = wrapper.resolve(ByteSpanPositionProvider)
        self.spans = {n: Span(at.start, at.start + at.length) for n, at in found.items()}
        self.kernels: dict[str, Kernel] = {}
        self.calls: list[cst.Call] = []
        self.bindings: dict[str, list[cst.BaseExpression]] = {}

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        if not any(code(d.decorator) in ("triton.jit", "jit") for d in node.decorators):
            return True
        constexprs = {
            p.name.value
            for p in node.params.params
            if p.annotation is not None and "constexpr" in code(p.annotation.annotation)
        }
        names = tuple(p.name.value for p in node.params.params)
        self.kernels[node.name.value] = Kernel(node.name.value, names, frozenset(constexprs), node)
        return False

    def visit_Assign(self, node: cst.Assign) -> None:
        if len(node.targets) != 1:
            return
        target, value = node.targets[0].target, node.value
        if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
            given = zip(target.elements, value.elements, strict=False)
            pairs = [(left.value, right.value) for left, right in given]
        else:
            pairs = [(target, value)]
        for name, bound in pairs:
            if isinstance(name, cst.Name):
                self.bindings.setdefault(name.value, []).append(bound)

    def visit_Call(self, node: cst.Call) -> None:
        if m.matches(node.func, m.Subscript(value=m.Name())):
            self.calls.append(node)


def _launch(call: cst.Call, source: TritonSource) -> Launch:
    """Describe one launch call."""
    subscript = cst.ensure_type(call.func, cst.Subscript)
    index = subscript.slice[0].slice
    grid = source.resolved(index.value if isinstance(index, cst.Index) else index)
    in_grid = {n.value for n in m.findall(grid, m.Integer()) if isinstance(n, cst.Integer)}
    numbers: dict[str, Number] = {}
    shared = set()
    keywords = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    for name, value in keywords.items():
        if (number := source.number(value)) is not None:
            numbers[name] = number
            if isinstance(value, cst.Integer) and value.value in in_grid:
                shared.add(name)
    last = call.args[-1].value if call.args else call.func
    return Launch(
        kernel=cst.ensure_type(subscript.value, cst.Name).value,
        grid=code(grid),
        numbers=numbers,
        keywords=tuple(keywords),
        shared=frozenset(shared),
        start=source.spans[call].start,
        end=source.spans[last].end,
        call=call,
    )
