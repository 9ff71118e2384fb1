"""Subclasses of `torch.autograd.Function`, whose forward launches a kernel."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.read_sources import (
    PythonEntry,
    function_entry,
    is_none,
    parsed,
    python_entry,
)

APPLY = "apply"


def launching_entry(text: str, file_name: str, wanted: str = "") -> PythonEntry:
    """What `python_entry` finds, or the autograd.Function that is wanted or the only one.

    Raises DraftError, which lists what there is.
    """
    tree = parsed(text, file_name)
    own = autograd_entry(tree, wanted)
    if wanted and own is not None:
        return own
    try:
        return python_entry(text, file_name, wanted)
    except DraftError as error:
        if own is not None:
            return own
        if error.field == "entry" and (more := ", ".join(_functions(tree))):
            raise DraftError("entry", f"{error.message}, {more}") from None
        raise


def autograd_entry(tree: ast.Module, wanted: str = "") -> PythonEntry | None:
    """The class of that name, or the one that `name = Class.apply` stands for; else the only one.

    Its forward is called, by position, without the context.
    """
    classes = _functions(tree)
    name = _aliases(tree).get(wanted, wanted)
    if not wanted and len(classes) == 1:
        name = next(iter(classes))
    forward = next(
        (n for n in getattr(classes.get(name), "body", ()) if getattr(n, "name", "") == "forward"),
        None,
    )
    if not isinstance(forward, ast.FunctionDef):
        return None
    entry = function_entry(forward, tree, name)
    return replace(entry, aliases=frozenset(n for n, one in _aliases(tree).items() if one == name))


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What is called instead of a class: `layer_norm = LayerNorm.apply`."""
    return {
        target.id: node.value.value.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == APPLY
        and isinstance(node.value.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _functions(tree: ast.Module) -> dict[str, ast.ClassDef]:
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        node.name: node
        for node in classes
        if any(ast.unparse(base).split(".")[-1] == "Function" for base in node.bases)
    }


def differentiable(tree: ast.Module, name: str, takes: Sequence[str]) -> list[str]:
    """The arguments that a backward may give a gradient for; all, where it says nothing of None."""
    own = getattr(_functions(tree).get(name), "body", ())
    backward = next((one for one in own if getattr(one, "name", "") == "backward"), None)
    returned = (
        []
        if backward is None
        else [
            one.value.elts
            for one in ast.walk(backward)
            if isinstance(one, ast.Return) and isinstance(one.value, ast.Tuple)
        ]
    )
    return [
        argument
        for place, argument in enumerate(takes)
        if not returned or any(place >= len(one) or not is_none(one[place]) for one in returned)
    ]
