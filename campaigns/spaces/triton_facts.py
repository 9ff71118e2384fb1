"""What a Triton kernel does with its compile-time numbers: the shapes that they give to tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from campaigns.syntax.triton_source import Kernel, code

SHAPED = ("zeros", "full")


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """How tensors of one kernel are sized, as expressions over its parameters.

    extents: the lengths of tensors along one axis. axes: the most axes of a tensor.
    has_dot: whether it multiplies matrices. sums, depth: the two sides of the tile of sums that a
    product in a loop is added to, and the tile of the axis that is summed over, where they can be
    told. is_exact: whether its products are asked for in full single precision, which matrix units
    do not have. asserted: the conditions of `tl.static_assert`.
    """

    extents: tuple[ast.expr, ...]
    axes: int
    has_dot: bool
    is_exact: bool
    sums: tuple[ast.expr, ast.expr] | None
    depth: ast.expr | None
    asserted: tuple[str, ...]

    @property
    def tiles(self) -> frozenset[str]:
        """The parameters that size a tensor."""
        nodes = (node for extent in self.extents for node in ast.walk(extent))
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def kernel_facts(kernel: Kernel) -> KernelFacts:
    """Read one kernel."""
    tree = ast.parse(code(kernel.node))
    ranges = [call.args[1] for call in _calls(tree, "arange") if len(call.args) > 1]
    extents = {ast.unparse(extent): extent for extent in ranges}
    sums = _sums(tree)
    sides = {ast.unparse(side) for side in sums or ()}
    rest = [extent for text, extent in extents.items() if text not in sides]
    return KernelFacts(
        extents=tuple(extents.values()),
        axes=max(map(_axes, ast.walk(tree))),
        has_dot=any(_calls(tree, "dot")),
        is_exact=any(map(_is_exact, _calls(tree, "dot"))),
        sums=sums,
        depth=rest[0] if sums and len(rest) == 1 else None,
        asserted=tuple(ast.unparse(c.args[0]) for c in _calls(tree, "static_assert") if c.args),
    )


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Calls of `tl.name` or of `name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == name:
            yield node


def _is_exact(call: ast.Call) -> bool:
    given = {word.arg: ast.unparse(word.value) for word in call.keywords}
    return given.get("input_precision") == "'ieee'" or given.get("allow_tf32") == "False"


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _axes(node: ast.AST) -> int:
    """The axes of `x[:, None]`; 1 for any other node."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return 1
    parts = node.slice.elts
    broadcast = any(isinstance(part, ast.Constant) and part.value is None for part in parts)
    return len(parts) if broadcast else 1


def _sums(tree: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The shape of the one tile that products are added to in a loop."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    products = [call for loop in loops for call in _calls(loop, "dot")]
    added = {name.id for call in products for name in ast.walk(call) if isinstance(name, ast.Name)}
    added |= {
        node.target.id
        for loop in loops
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and any(_calls(node.value, "dot"))
    }
    shapes = [shape for name, shape in _tiles_of_zeros(tree) if name in added]
    return shapes[0] if len(shapes) == 1 else None


def _tiles_of_zeros(tree: ast.AST) -> Iterator[tuple[str, tuple[ast.expr, ast.expr]]]:
    """Variables that begin as a two-dimensional tile, with its shape."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = node.value
        if isinstance(value, ast.Call) and _called(value) in SHAPED and value.args:
            shape = value.args[0]
            if isinstance(shape, ast.Tuple | ast.List) and len(shape.elts) == 2:
                yield node.targets[0].id, (shape.elts[0], shape.elts[1])
