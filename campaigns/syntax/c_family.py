"""Reads C++ and CUDA sources with tree-sitter: functions, counted loops, names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import tree_sitter_cpp
import tree_sitter_cuda
from tree_sitter import Language, Node

from campaigns.evaluator.contract.signature import TooSlow, parse_within

ASSIGNMENTS = ("assignment_expression", "update_expression")


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (int variable = start; variable < stop; variable += step)`, all parts as text."""

    node: Node
    variable: str
    start: str
    stop: str
    step: str
    body: Node


@cache
def _language(grammar: ModuleType) -> Language:
    return Language(grammar.language())


def parse(text: str, *, cuda: bool = False) -> Node | None:
    """The syntax tree, or None when the text has a syntax error or takes too long."""
    try:
        root = parse_anyway(text, cuda=cuda)
    except TooSlow:
        return None
    return None if root.has_error else root


def parse_anyway(text: str, *, cuda: bool = False) -> Node:
    """The syntax tree of as much as can be understood. Raises TooSlow."""
    return parse_within(_language(tree_sitter_cuda if cuda else tree_sitter_cpp), text)


def text_of(node: Node | None) -> str:
    """The source text of a node; empty for a missing one."""
    return node.text.decode() if node is not None and node.text is not None else ""


def walk(node: Node, *kinds: str) -> Iterator[Node]:
    """The node and everything below it in source order, only the kinds named if any are."""
    if not kinds or node.type in kinds:
        yield node
    for child in node.named_children:
        yield from walk(child, *kinds)


def names_in(node: Node | None) -> set[str]:
    """Every identifier used in the node."""
    return {text_of(found) for found in walk(node, "identifier")} if node is not None else set()


def functions(root: Node) -> dict[str, Node]:
    """Function definitions by name."""
    found = {}
    for node in walk(root, "function_definition"):
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "identifier":
            declarator = declarator.child_by_field_name("declarator")
        found[text_of(declarator)] = node
    return found


def parameters(function: Node) -> tuple[tuple[str, str], ...]:
    """(type, name) of each parameter, the type as `const float*`, `float*` or `int`."""
    listed = next(walk(function, "parameter_list"), None)
    result = []
    for node in listed.named_children if listed is not None else ():
        if node.type != "parameter_declaration":
            continue
        name = declared_name(node.child_by_field_name("declarator"))
        star = "*" if any(walk(node, "pointer_declarator")) else ""
        const = "const " if any(text_of(c) == "const" for c in node.named_children) else ""
        kind = text_of(node.child_by_field_name("type"))
        result.append((f"{const}{kind}{star}", name))
    return tuple(result)


def declared_name(declarator: Node | None) -> str:
    """The name that a (pointer, array, initialised) declarator introduces."""
    return text_of(next(walk(declarator, "identifier"), None)) if declarator is not None else ""


def declared_names(node: Node) -> set[str]:
    """Every variable that declarations inside the node introduce."""
    declarations = walk(node, "declaration")
    named = (child for one in declarations for child in one.children_by_field_name("declarator"))
    return {declared_name(child) for child in named}


def counted_loop(node: Node) -> Loop | None:
    """Read a for statement as a counted loop, or None for any other form."""
    names = ("initializer", "condition", "update", "body")
    parts = [part for name in names if (part := node.child_by_field_name(name)) is not None]
    if len(parts) < len(names):
        return None
    first, test, update, body = parts
    setting = next(walk(first, "init_declarator"), None)
    if first.type != "declaration" or setting is None or test.type != "binary_expression":
        return None
    variable = declared_name(setting.child_by_field_name("declarator"))
    step = _step(update, variable)
    ordered = text_of(test.child_by_field_name("operator")) == "<"
    if not ordered or not step or text_of(test.child_by_field_name("left")) != variable:
        return None
    start = text_of(setting.child_by_field_name("value"))
    stop = text_of(test.child_by_field_name("right"))
    return Loop(node, variable, start, stop, step, body)


def _step(update: Node, variable: str) -> str:
    if update.type == "update_expression":
        target, operator = update.child_by_field_name("argument"), update.child(0)
        forward = "++" in text_of(update) and operator is not None
        return "1" if forward and text_of(target) == variable else ""
    if update.type != "assignment_expression":
        return ""
    matches = text_of(update.child_by_field_name("left")) == variable
    adds = text_of(update.child_by_field_name("operator")) == "+="
    return text_of(update.child_by_field_name("right")) if matches and adds else ""


def innermost_loops(node: Node) -> list[Loop]:
    """Counted loops that hold no other loop, in source order."""
    found = []
    for candidate in walk(node, "for_statement"):
        inner = list(walk(candidate, "for_statement", "while_statement", "do_statement"))
        loop = counted_loop(candidate)
        if len(inner) == 1 and loop is not None:
            found.append(loop)
    return found


def statements(body: Node) -> list[Node]:
    """The statements of a block (or the one statement that stands for it), without comments."""
    inside = body.named_children if body.type == "compound_statement" else [body]
    return [node for node in inside if node.type != "comment"]


def pragma_before(node: Node) -> str:
    """The `#pragma` lines directly before a statement, as one text."""
    found: list[str] = []
    before = node.prev_named_sibling
    while before is not None and before.type in ("preproc_call", "comment"):
        found.append(text_of(before) if before.type == "preproc_call" else "")
        before = before.prev_named_sibling
    return "\n".join(reversed(found))


def line_start(node: Node) -> int:
    """The byte at which the node's line starts."""
    return node.start_byte - node.start_point.column


def starts_line(node: Node) -> bool:
    """Whether only blanks stand before the node on its line."""
    before = node.prev_sibling
    if before is None or before.end_point.column == 0:
        return True
    return before.end_point.row < node.start_point.row


def indent_of(node: Node) -> str:
    """The blanks that a line next to this node needs."""
    return " " * node.start_point.column
