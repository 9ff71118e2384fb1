"""Reads Triton sources with libcst: kernels, their constexpr parameters and their launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """

    kernel: str
    grid: str
    numbers: Mapping[str, Number]
    keywords: tuple[str, ...]
    shared: frozenset[str]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """One `@triton.jit` function: parameter names in order and which are constexpr."""

    name: str
    parameters: tuple[str, ...]
    constexprs: frozenset[str]
    node: cst.FunctionDef


@dataclass(frozen=True, slots=True)
class TritonSource:
    """A whole file: its text, kernels by name, and launches in source order."""

    text: str
    module: cst.Module
    kernels: Mapping[str, Kernel]
    launches: tuple[Launch, ...]


def read_triton(text: str) -> TritonSource | None:
    """Parse a file; None when it is not Python."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(text))
    except cst.ParserSyntaxError:
        return None
    reader = _CallCollector(wrapper)
    wrapper.module.visit(reader)
    launches = tuple(reader.launch(call) for call in reader.calls)
    return TritonSource(text, wrapper.module, reader.kernels, launches)


def code(node: cst.CSTNode) -> str:
    """A node as source text."""
    return cst.Module([]).code_for_node(node)


class _CallCollector(cst.CSTVisitor):
    """Collects kernels, integer bindings and launch calls in one pass."""

    def __init__(self, wrapper: MetadataWrapper) -> None:
        self.spans = wrapper.resolve(ByteSpanPositionProvider)
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
            pairs = zip(target.elements, value.elements, strict=False)
            for left, right in pairs:
                self._bind(left.value, right.value)
        else:
            self._bind(target, value)

    def _bind(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        if isinstance(target, cst.Name):
            self.bindings.setdefault(target.value, []).append(value)

    def visit_Call(self, node: cst.Call) -> None:
        if m.matches(node.func, m.Subscript(value=m.Name())):
            self.calls.append(node)

    def launch(self, call: cst.Call) -> Launch:
        """Describe one launch call."""
        subscript = cst.ensure_type(call.func, cst.Subscript)
        grid = self._grid(subscript.slice)
        numbers: dict[str, Number] = {}
        shared = set()
        keywords = [arg for arg in call.args if arg.keyword is not None]
        for arg in keywords:
            name = arg.keyword.value if arg.keyword is not None else ""
            number = self._number(arg.value)
            if number is not None:
                numbers[name] = number
                if isinstance(arg.value, cst.Integer) and arg.value.value in _integers(grid):
                    shared.add(name)
        last = call.args[-1].value if call.args else call.func
        return Launch(
            kernel=cst.ensure_type(subscript.value, cst.Name).value,
            grid=code(grid),
            numbers=numbers,
            keywords=tuple(arg.keyword.value for arg in keywords if arg.keyword is not None),
            shared=frozenset(shared),
            start=self._span(call).start,
            end=self._span(last).end,
        )

    def _grid(self, slices: Sequence[cst.SubscriptElement]) -> cst.CSTNode:
        index = slices[0].slice
        grid = index.value if isinstance(index, cst.Index) else index
        if isinstance(grid, cst.Name) and len(self.bindings.get(grid.value, ())) == 1:
            return self.bindings[grid.value][0]
        return grid

    def _number(self, value: cst.BaseExpression) -> Number | None:
        name = ""
        if isinstance(value, cst.Name) and len(self.bindings.get(value.value, ())) == 1:
            name, value = value.value, self.bindings[value.value][0]
        if not isinstance(value, cst.Integer):
            return None
        return Number(int(value.value.replace("_", ""), 0), self._span(value), name)

    def _span(self, node: cst.CSTNode) -> Span:
        found = self.spans[node]
        return Span(found.start, found.start + found.length)


def _integers(node: cst.CSTNode) -> set[str]:
    return {n.value for n in m.findall(node, m.Integer()) if isinstance(n, cst.Integer)}
