"""What the functions of a C++, CUDA or HIP source do with names, for `tables`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from campaigns.syntax.c_family import (
    ASSIGNMENTS,
    functions,
    names_in,
    parameters,
    text_of,
    walk,
)
from campaigns.syntax.findings.tables import NONE, Names, Use

BRANCHES = ("if_statement", "conditional_expression")
ELEMENTS = ("subscript_expression", "field_expression", "pointer_expression")
SUM = ("identifier", "+")
WRAPPED = (*ELEMENTS[1:], "parenthesized_expression")
ANOTHER_NAME = ("pointer_declarator", "reference_declarator")
# Functions and methods that set all of something, that store an element, and that look one up.
ANEW = ("memset", "cudaMemset", "cudaMemsetAsync", "fill", "fill_n", "assign", "clear")
STORING, FINDING = ("emplace", "insert", "insert_or_assign"), ("find", "at", "count")
Bodies = Mapping[str, Node]


def uses_in_c(root: Node) -> Iterator[Use]:
    """Everything that `tables` asks of a source."""
    bodies = functions(root)
    for own, function in bodies.items():
        yield from (Use("input", name) for kind, name in parameters(function) if "*" in kind)
        for node in walk(function):
            name, *others = [*_words(node, bodies), ""]
            names, first = frozenset(others) - {name}, next(iter(node.named_children), node)
            if node.type in ("init_declarator", "assignment_expression"):
                yield Use("alias" if first.type in ANOTHER_NAME else "value", name, names)
            elif node.type == "return_statement":
                yield Use("alias", own, names | {name})
            elif node.type == "call_expression":
                yield from _called(node, first, [name, *others], bodies)
            elif (
                node.type in ELEMENTS
                or (first.type, text_of(node.child_by_field_name("operator"))) == SUM
            ):
                yield Use("write" if _is_set(node) else "read", name, names, _under(node))


def _called(node: Node, first: Node, words: list[str], bodies: Bodies) -> Iterator[Use]:
    """words: the object of a method, or the function's own name, and then the arguments'."""
    given = node.child_by_field_name("arguments")
    name, method = words[0], text_of(first.child_by_field_name("field"))
    if name in bodies and given is not None:
        values = zip(parameters(bodies[name]), given.named_children, strict=False)
        for (_, parameter), value in values:
            is_element = value.type == "subscript_expression"
            yield Use("value" if is_element else "alias", parameter, frozenset(names_in(value)))
    elif "&" in text_of(given):
        yield Use("value", words[1], frozenset(words[2:]))
    base, *others = words if method else words[1:]
    if (method or name) in ANEW:
        yield Use("write", base, NONE, _under(node))
    elif (method or name) in STORING + FINDING or "gather" in name:
        kind = "write" if method in STORING else "read"
        yield Use(kind, base, frozenset(others), _under(node))


def _words(node: Node, bodies: Bodies) -> Iterator[str]:
    """The names in a node; what functions of the source are given their parameters take."""
    if node.type == "identifier":
        yield text_of(node)
    is_own = node.type == "call_expression" and text_of(node.named_children[0]) in bodies
    for child in node.named_children[: 1 if is_own else None]:
        yield from _words(child, bodies)


def _is_set(node: Node) -> bool:
    while node.parent is not None and node.parent.type in WRAPPED:
        node = node.parent
    above = node.parent
    return above is not None and above.type in ASSIGNMENTS and above.named_children[0] == node


def _under(node: Node | None) -> Names:
    found: set[str] = set()
    while node is not None:
        if node.type in BRANCHES:
            found |= names_in(node.child_by_field_name("condition"))
        node = node.parent
    return frozenset(found)
