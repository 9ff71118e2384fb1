"""Reads how a CUDA source launches its kernels: which kernel, and how many threads a block has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from campaigns.syntax.c_family import declared_name, functions, parameters, text_of, walk


@dataclass(frozen=True, slots=True)
class CudaLaunch:
    """One `kernel<<<grid, block, …>>>(…)`. sides: what the block's lengths are written as.

    shape: all that stands between the name and the arguments.
    """

    kernel: str
    node: Node
    shape: Node
    grid: Node
    sides: tuple[Node, ...]

    @property
    def threads(self) -> str:
        """The threads of a block, as C."""
        sides = map(text_of, self.sides)
        return " * ".join(s if s.isidentifier() or s.isdigit() else f"({s})" for s in sides)

    def given(self, kernel: Node) -> dict[str, str]:
        """What it passes, by parameter; {} unless its shape is a grid and a block alone."""
        names = [name for _, name in parameters(kernel)]
        arguments = self.node.child_by_field_name("arguments")
        passed = [text_of(one) for one in arguments.named_children] if arguments else []
        plain = len(self.shape.named_children) == 2 and len(passed) == len(names)
        return dict(zip(names, passed, strict=True)) if plain else {}

    @property
    def square(self) -> set[str]:
        """What a block of several equal sides has for each; empty for any other block."""
        sides = {text_of(side) for side in self.sides}
        return sides if len(sides) == 1 and len(self.sides) > 1 else set()


def launches_of(root: Node) -> Iterator[CudaLaunch]:
    """Every launch, in source order."""
    for call in walk(root, "call_expression"):
        configuration = next(
            (n for n in call.named_children if n.type == "kernel_call_syntax"), None
        )
        kernel = call.child_by_field_name("function")
        if configuration is None or kernel is None or len(configuration.named_children) < 2:
            continue
        grid, block = configuration.named_children[:2]
        inside = enclosing_function(call)
        sides = tuple(_sides(block, inside))
        grid = _dim3(text_of(grid), inside) or grid
        yield CudaLaunch(text_of(kernel).split("<")[0], call, configuration, grid, sides)


def enclosing_function(node: Node) -> Node:
    """The function that a node is in, or the whole file."""
    while node.type != "function_definition" and node.parent is not None:
        node = node.parent
    return node


def kernels_of(root: Node) -> dict[str, Node]:
    """The functions that a host launches, by name."""
    found = functions(root)
    return {name: node for name, node in found.items() if "__global__" in _head(node)}


def is_on_device(function: Node) -> bool:
    """Whether a function runs on the device."""
    head = _head(function)
    return "__global__" in head or "__device__" in head


def _head(function: Node) -> str:
    """The text of a function before its body."""
    return text_of(function).split("{")[0]


def _sides(block: Node, inside: Node) -> list[Node]:
    """The lengths of a block that is one number, `dim3(…)` or a variable of these."""
    if block.type == "call_expression":
        arguments = block.child_by_field_name("arguments")
        return list(arguments.named_children) if arguments is not None else []
    if block.type == "identifier":
        value = _dim3(text_of(block), inside)
        return list(value.named_children) if value is not None else [block]
    return [block]


def _dim3(name: str, inside: Node) -> Node | None:
    """The arguments that a `dim3` variable of this name is made from."""
    for declaration in walk(inside, "declaration"):
        if text_of(declaration.child_by_field_name("type")) == "dim3":
            for declarator in declaration.children_by_field_name("declarator"):
                if declared_name(declarator) == name:
                    kinds = ("argument_list", "parameter_list", "initializer_list")
                    return next(walk(declarator, *kinds), None)
    return None
