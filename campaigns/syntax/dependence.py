"""Decides whether the turns of a counted C loop may run in any order, and which sums they share.

Conservative where that is cheap; pointers that are different parameters are taken not to
overlap, which the judge then proves on every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from campaigns.syntax.c_family import (
    ASSIGNMENTS,
    Loop,
    declared_name,
    declared_names,
    names_in,
    statements,
    text_of,
    walk,
)

MATHS = ("exp", "expf", "log", "logf", "sqrt", "sqrtf", "rsqrtf", "rintf", "max", "min")
PURE_CALLS = frozenset((*MATHS, "fabs", "fabsf", "fmaxf", "fminf", "static_cast"))
ESCAPES = ("break_statement", "return_statement", "goto_statement", "continue_statement")
UNSAFE_INDEX = frozenset(("/", "%", ">>", "&", "|", "^"))

Callees = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Dependence:
    """The finding: `independent`, and scalars by reduction operator when only those are shared."""

    independent: bool
    reductions: dict[str, str] = field(default_factory=dict)

    @property
    def clauses(self) -> str:
        """OpenMP reduction clauses, with a leading blank; empty without reductions."""
        return "".join(f" reduction({op} : {name})" for name, op in self.reductions.items())


class _Scope(NamedTuple):
    """A loop's own variables, and the pointers that it declares by the array they walk."""

    loop: Loop
    local: set[str]
    pointers: Mapping[str, str]


DEPENDENT = Dependence(independent=False)


def examine(loop: Loop, callees: Callees) -> Dependence:
    """Examine one loop; `callees` gives the parameter types of the functions of the same file."""
    scope = _Scope(loop, declared_names(loop.node), _row_pointers(loop))
    escapes = any(walk(loop.body, *ESCAPES))
    calls = walk(loop.body, "call_expression")
    if escapes or not all(_harmless(call, scope, callees) for call in calls):
        return DEPENDENT
    reductions: dict[str, str] = {}
    for write in walk(loop.body, *ASSIGNMENTS):
        target = _target(write)
        name = text_of(target)
        if target.type != "identifier":
            if not _own_place(target, scope):
                return DEPENDENT
        elif name not in scope.local:
            operator = _reduction(write, name)
            if not operator or reductions.get(name, operator) != operator:
                return DEPENDENT
            reductions[name] = operator
    if _touches_other_places(scope) or _reads_partial(loop, reductions):
        return DEPENDENT
    return Dependence(independent=True, reductions=reductions)


def _harmless(call: Node, scope: _Scope, callees: Callees) -> bool:
    """Whether a call writes nothing, or only through a pointer that belongs to this turn."""
    name = text_of(call.child_by_field_name("function")).split("<")[0].removeprefix("std::")
    arguments = call.child_by_field_name("arguments")
    if name not in callees:
        return name in PURE_CALLS
    given = arguments.named_children if arguments is not None else []
    if len(given) != len(callees[name]):
        return False
    return all(
        text_of(argument) in scope.pointers
        for argument, kind in zip(given, callees[name], strict=True)
        if kind.endswith("*") and not kind.startswith("const ")
    )


def _row_pointers(loop: Loop) -> dict[str, str]:
    """Pointers declared in the body from `base + …variable…`, by the base they walk."""
    found = {}
    for setting in walk(loop.body, "init_declarator"):
        declarator = setting.child_by_field_name("declarator")
        value = setting.child_by_field_name("value")
        if declarator is None or value is None or declarator.type != "pointer_declarator":
            continue
        if value.type == "binary_expression" and _own_index(value, loop.variable):
            found[declared_name(declarator)] = text_of(next(walk(value, "identifier"), None))
    return found


def _own_index(index: Node | None, variable: str) -> bool:
    """Whether an index mentions the loop variable and does not fold several turns together."""
    parts = walk(index, "binary_expression") if index is not None else ()
    operators = {text_of(part.child_by_field_name("operator")) for part in parts}
    return variable in names_in(index) and not operators & UNSAFE_INDEX


def _target(write: Node) -> Node:
    kind = "argument" if write.type == "update_expression" else "left"
    return write.child_by_field_name(kind) or write


def _own_place(target: Node, scope: _Scope) -> bool:
    """Whether an array write goes to a place that belongs to this turn of the loop alone."""
    if target.type != "subscript_expression":
        return False
    base = _base(target)
    if base in scope.pointers:
        return True
    if base in scope.local:
        return base not in {declared_name(n) for n in walk(scope.loop.body, "pointer_declarator")}
    return _own_index(target.child_by_field_name("indices"), scope.loop.variable)


def _base(access: Node) -> str:
    return declared_name(access.child_by_field_name("argument"))


def _touches_other_places(scope: _Scope) -> bool:
    """Whether the loop touches an array that it writes at a place that it does not write."""
    body = scope.loop.body
    targets = [_target(write) for write in walk(body, *ASSIGNMENTS)]
    written = {_base(t) for t in targets if t.type == "subscript_expression"}
    roots = list(scope.pointers.values())
    owned = {scope.pointers[name] for name in written if name in scope.pointers}
    if any(roots.count(root) > 1 for root in owned):
        return True
    places: dict[str, set[str]] = {}
    for access in walk(body, "subscript_expression"):
        index = text_of(access.child_by_field_name("indices"))
        places.setdefault(_base(access), set()).add(index)
    shared = written - scope.local - set(scope.pointers)
    return bool(owned & set(places)) or any(len(places[name]) > 1 for name in shared)


def _reduction(write: Node, name: str) -> str:
    """`+` or `max` when the write folds a value into `name`, else an empty string."""
    if write.type != "assignment_expression":
        return ""
    operator = text_of(write.child_by_field_name("operator"))
    value = write.child_by_field_name("right")
    if operator == "+=" and name not in names_in(value):
        return "+"
    guard = write.parent.parent if write.parent is not None else None
    if guard is not None and guard.type == "compound_statement":
        guard = guard.parent
    if operator != "=" or guard is None or guard.type != "if_statement":
        return ""
    inside = guard.child_by_field_name("consequence")
    alone = inside is not None and len(statements(inside)) == 1
    if guard.child_by_field_name("alternative") is not None or not alone:
        return ""
    condition = text_of(guard.child_by_field_name("condition")).replace(" ", "")
    return "max" if condition == f"({text_of(value)}>{name})".replace(" ", "") else ""


def _reads_partial(loop: Loop, reductions: Mapping[str, str]) -> bool:
    """Whether a running sum or maximum is read for anything but folding into it."""
    uses = [text_of(node) for node in walk(loop.body, "identifier")]
    writes = [text_of(_target(write)) for write in walk(loop.body, *ASSIGNMENTS)]
    allowed = {"+": 1, "max": 2}
    return any(
        uses.count(name) != allowed[operator] * writes.count(name)
        for name, operator in reductions.items()
    )
