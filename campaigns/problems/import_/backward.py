"""Gradients: an example call `f(x, w).backward(dy)` asks for those of x and w, not for f(x, w).

A function that gives them is added to the kernel's file and to the reference's; both run what they
have forward and then backward through torch's autograd. A subclass of `torch.autograd.Function`
whose forward launches a kernel is read as well.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from campaigns.problems.import_.draft import FLOATS, DraftError, Given, ReferenceCode
from campaigns.problems.import_.example_calls import read_call
from campaigns.problems.import_.read_sources import (
    PythonEntry,
    function_entry,
    parsed,
    python_entry,
)
from campaigns.problems.import_.updates import is_none
from campaigns.problems.import_.written import TensorValue

APPLY = "apply"
INCOMING = "grad_out"
NEEDED = "needed: f(…).backward(torch.randn(…)), with what comes in, in the shape of the answer"
ASSUMED = "Gradients are judged: each call runs forward and backward, and both are timed."
GRADIENTS = '''

import torch


def {name}({parameters}):
    """Written by kopt: the gradients of {wanted}."""
    own = [one.detach().requires_grad_() for one in ({tuple})]
    {tuple} = own
    with torch.enable_grad():
        answer = {call}
    answer = answer[0] if isinstance(answer, (tuple, list)) else answer
    found = torch.autograd.grad(answer, own, {incoming}.clone())
    return {answers}
'''


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


def asks_for_gradients(calls: Sequence[str]) -> bool:
    """Whether the example calls end in `.backward(…)`. Raises DraftError where only some do."""
    found = [_last(text) is not None for text in calls]
    if any(found) and not all(found):
        raise DraftError("call", f"one has .backward and another has not; {NEEDED} in each")
    return any(found)


def with_gradients(given: Given, entry: PythonEntry | None, reference: ReferenceCode) -> Given:
    """The same with functions that give gradients in the place of both. Raises DraftError."""
    if entry is None or entry.is_module or reference.is_module:
        raise DraftError("call", ".backward: accepted of functions in Python, not of modules")
    name = f"{entry.name}_backward"
    calls = [_called(text, name) for text in given.calls]
    listed, named = read_call(calls[0])
    values = {**dict(zip(entry.takes, listed, strict=False)), **named}
    floats = [n for n, v in values.items() if isinstance(v, TensorValue) and v.dtype in FLOATS]
    marked = _marked(given.calls[0], entry.takes)
    tree = parsed(given.kernel, given.file_name)
    able = marked or set(differentiable(tree, entry.name, entry.takes))
    wanted = [one for one in floats if one in able and one != INCOMING]
    if not wanted:
        raise DraftError("call", f"no argument of {entry.name} is a tensor of floats; {NEEDED}")
    own = [one for one in entry.takes if one in values]
    defaults = dict(entry.defaults)
    parameters = [f"{one}={defaults[one]}" if one in defaults else one for one in entry.takes]
    by_name = ", ".join(f"{one}={one}" for one in entry.takes)
    applied = f"{entry.name}.apply({', '.join(entry.takes)})"
    call = applied if entry.applied else f"{entry.name}({by_name})"
    # The reference's arguments by name or, where it has other names, by order.
    if {*reference.needed} <= set(own):
        handed = [f"{one}={one}" for one in reference.takes if one in own]
    else:
        handed = own[: len(reference.needed)]
    right = f"{reference.name}({', '.join(handed)})"
    return replace(
        given,
        kernel=given.kernel + _gradients(name, [*parameters, "*", INCOMING], wanted, call),
        reference=reference.text + _gradients(name, [*own, INCOMING], wanted, right),
        reference_file=given.reference_file or given.file_name,
        entry=name,
        function=name,
        calls=tuple(calls),
    )


def _gradients(name: str, parameters: Sequence[str], wanted: Sequence[str], call: str) -> str:
    return GRADIENTS.format(
        name=name,
        parameters=", ".join(parameters),
        wanted=", ".join(wanted),
        tuple=", ".join(wanted) + ("," if len(wanted) == 1 else ""),
        call=call,
        incoming=INCOMING,
        answers=", ".join(f"found[{n}]" for n in range(len(wanted))),
    )


def _last(text: str) -> tuple[ast.Module, ast.Call, ast.Call] | None:
    """The parsed text, its call of `.backward`, and the call that goes before."""
    try:
        tree = ast.parse(text.strip())
    except SyntaxError:
        return None
    node = getattr(tree.body[-1], "value", None) if tree.body else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    inner = node.func.value
    is_asked = node.func.attr == "backward"
    return (tree, node, inner) if is_asked and isinstance(inner, ast.Call) else None


def _called(text: str, name: str) -> str:
    """The same call of the function that gives the gradients."""
    found = _last(text)
    if found is None or len(found[1].args) != 1:
        raise DraftError("call", f"{text.strip()[:80]!r}: {NEEDED}")
    tree, outer, inner = found
    keywords = [*inner.keywords, ast.keyword(INCOMING, outer.args[0])]
    call = ast.Call(ast.Name(name, ast.Load()), inner.args, keywords)
    before = [ast.unparse(one) for one in tree.body[:-1]]
    return "; ".join([*before, ast.unparse(call)])


def _marked(text: str, takes: Sequence[str]) -> set[str]:
    """The arguments that the call itself marks with `requires_grad`."""
    found = _last(text)
    call = found[2] if found else None
    listed = list(zip(takes, call.args, strict=False)) if call else []
    named = [(one.arg or "", one.value) for one in call.keywords] if call else []
    return {name for name, node in (*listed, *named) if "requires_grad" in ast.unparse(node)}
