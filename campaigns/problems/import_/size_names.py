"""What a source calls the sides of its tensors, and which of them its kernels need as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from campaigns.problems.import_.read_sources import is_jitted

# Argument → axis, from the end where negative → name.
Sides = Mapping[str, Mapping[int, str]]
QUERIES = ("q", "k", "v", "query", "key", "value")
HEADS = {0: "B", 1: "H", 2: "S", 3: "D"}


def side_names(tree: ast.Module, function: str) -> Sides:
    """The names that a function gives to sides of what it is given, as in `M, K = a.shape`."""
    found: dict[str, dict[int, str]] = {}
    for name, tensor, axis in _named_sides(tree, function):
        found.setdefault(tensor, {}).setdefault(axis, name)
    return found


def of_role(argument: str, dimensions: int) -> Mapping[int, str]:
    """What the sides of such an argument are called where nobody says."""
    return HEADS if argument.lower() in QUERIES and dimensions == len(HEADS) else {}


def powers_of_two(tree: ast.Module, function: str) -> set[str]:
    """The sizes, by their names in a function, that its Triton kernels have as `tl.arange` ends.

    Triton refuses any other number there. A size that is rounded up first is none of them.
    """
    kernels = {one.name: one for one in _functions(tree) if is_jitted(one)}
    found = set()
    for node in (one for body in _bodies(tree, function) for one in ast.walk(body)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Subscript):
            continue
        kernel = kernels.get(ast.unparse(node.func.value))
        if kernel is None:
            continue
        taken = [arg.arg for arg in kernel.args.args]
        given = [*zip(taken, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
        ends = _range_ends(kernel)
        found |= {value.id for name, value in given if name in ends and isinstance(value, ast.Name)}
    return found


def _range_ends(kernel: ast.FunctionDef) -> set[str]:
    calls = (one for one in ast.walk(kernel) if isinstance(one, ast.Call))
    ranges = (one for one in calls if ast.unparse(one.func).endswith("arange"))
    return {end.id for one in ranges for end in one.args[1:] if isinstance(end, ast.Name)}


def _named_sides(tree: ast.Module, function: str) -> Iterator[tuple[str, str, int]]:
    """(name, tensor, axis)"""
    for node in (one for body in _bodies(tree, function) for one in ast.walk(body)):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and not isinstance(value, ast.Tuple):
            tensor, axis = _side(value)
            names = [one.id if isinstance(one, ast.Name) else "" for one in target.elts]
            if tensor and axis is None and all(names):
                yield from ((name, tensor, place) for place, name in enumerate(names))
            continue
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = [*zip(target.elts, value.elts, strict=False)]
        for one, source in pairs:
            tensor, axis = _side(source)
            if tensor and axis is not None and isinstance(one, ast.Name):
                yield one.id, tensor, axis


def _side(node: ast.expr) -> tuple[str, int | None]:
    """The tensor and axis of `x.shape[-1]` or `x.size(0)`. `x.shape` has no axis."""
    match node:
        case ast.Attribute(value=ast.Name(id=tensor), attr="shape"):
            return tensor, None
        case ast.Call(func=ast.Attribute(value=ast.Name(id=tensor), attr="size"), args=[]):
            return tensor, None
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=tensor), attr="shape"), slice=at):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name(id=tensor), attr="size"), args=[at]):
            pass
        case _:
            return "", None
    try:
        axis = ast.literal_eval(at)
    except ValueError:
        axis = None
    return (tensor, axis) if isinstance(axis, int) else ("", None)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))


def _bodies(tree: ast.Module, function: str) -> Iterator[ast.AST]:
    """The function, or the class, of that name."""
    defined = (ast.FunctionDef, ast.ClassDef)
    return (one for one in tree.body if isinstance(one, defined) and one.name == function)
