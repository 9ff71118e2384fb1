"""Subclasses of `torch.autograd.Function`, whose forward launches a kernel."""

from __future__ import annotations

import ast

from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.read_sources import (
    PythonEntry,
    function_entry,
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
    return function_entry(forward, name, skipped=1)


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
