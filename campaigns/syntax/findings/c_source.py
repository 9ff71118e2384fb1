"""Findings in C++, CUDA and HIP candidates, from tree-sitter's syntax tree.

Comments and strings are skipped, except assembler and include lines. A text that does not parse is
examined as far as it was understood; macros may hide anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tree_sitter import Node

from campaigns.rules.verdict.finding_kinds import Finding, FindingKind
from campaigns.syntax.c_family import (
    ASSIGNMENTS,
    declared_name,
    functions,
    names_in,
    parameters,
    parse_anyway,
    text_of,
    walk,
)
from campaigns.syntax.findings.names import C_CONTAINERS, C_NAMES
from campaigns.syntax.findings.tables import KEEPS, NONE, Names, Use, tables

DEVICE = ("__device__", "__shared__", "__constant__")
QUOTE = 200
TOP = ("translation_unit", "namespace_definition", "declaration_list", "linkage_specification")


def find_in_c(text: str, *, cuda: bool) -> tuple[Finding, ...]:
    """All findings in source order."""
    lines = text.split("\n")
    root = parse_anyway(text, cuda=cuda)
    variables, functions = set(_variables(root)), set(_functions(root))
    found = set()
    for node in walk(root):
        name, parent = text_of(node), node.parent
        around = parent.type if parent is not None else ""
        is_called = around == "call_expression" and _field(parent, "function") == node
        is_global = around == "qualified_identifier" and _field(parent, "scope") is None
        if (name in functions or (name in variables and not is_called)) and not is_global:
            continue  # `float system` is a name of the candidate's own, `::system` is not
        look = _LOOKS.get(node.type)
        for kind, what in look(node) if look is not None else ():
            line = node.start_point[0] + 1
            found.add(Finding(kind, line, what, lines[line - 1].strip()[:QUOTE]))
    kept = {each.what.split()[0]: each for each in found if each.kind is FindingKind.CACHE}
    for name in tables(_uses(root), kept):
        found.add(replace(kept[name], kind=FindingKind.ANSWER_TABLE, what=f"{name} {KEEPS}"))
    return tuple(sorted(found, key=lambda each: (each.line, each.kind, each.what)))


def _variables(root: Node) -> Iterator[str]:
    """Names of variables and parameters; a function that is declared is somebody else's."""
    for node in walk(root, "declaration", "parameter_declaration"):
        for declarator in node.children_by_field_name("declarator"):
            if next(walk(declarator, "function_declarator"), None) is None:
                yield declared_name(declarator)


def _functions(root: Node) -> Iterator[str]:
    """Names of functions that have a body here, lambdas among them."""
    for node in walk(root, "function_definition"):
        yield declared_name(node.child_by_field_name("declarator"))
    for node in walk(root, "init_declarator"):
        value = node.child_by_field_name("value")
        if value is not None and value.type == "lambda_expression":
            yield declared_name(node.child_by_field_name("declarator"))


def _field(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node is not None else None


def _named(node: Node) -> Iterator[tuple[FindingKind, str]]:
    kind = C_NAMES.get(text_of(node))
    if kind is not None:
        yield kind, text_of(node)


def _included(node: Node) -> Iterator[tuple[FindingKind, str]]:
    path = text_of(node.child_by_field_name("path"))
    if path.strip('"<>').startswith(("/", "..")):
        yield FindingKind.HIDDEN_CODE, f"{path} lies outside the candidate"


def _caught(node: Node) -> Iterator[tuple[FindingKind, str]]:
    if "..." in text_of(node.child_by_field_name("parameters")):
        yield FindingKind.FALLBACK, "catch (...) goes on after any error"


def _declared(node: Node) -> Iterator[tuple[FindingKind, str]]:
    """State that outlives a call: static locals and file-level variables that can change."""
    words = [text_of(child) for child in node.children]
    static = "static" in words or "thread_local" in words
    top = node.parent is not None and node.parent.type in TOP
    constant = not {"const", "constexpr", "extern", "constinit"}.isdisjoint(words)
    declarator = node.child_by_field_name("declarator")
    is_function = declarator is not None and any(walk(declarator, "function_declarator"))
    if constant or is_function or declarator is None or not (static or top):
        return
    name = next((text_of(each) for each in walk(declarator, "identifier")), "")
    where = "on the device" if any(word in DEVICE for word in words) else "in the process"
    if name:
        yield FindingKind.CACHE, f"{name} stays {where} between calls"


def _container(node: Node) -> Iterator[tuple[FindingKind, str]]:
    name = text_of(node.child_by_field_name("name"))
    arguments = node.child_by_field_name("arguments")
    if name not in C_CONTAINERS or arguments is None or not arguments.named_children:
        return
    if "*" in text_of(arguments.named_children[0]) and name not in ("vector", "deque"):
        yield FindingKind.IDENTITY_KEY, f"{name} with a pointer as its key"


def _marked(node: Node) -> Iterator[tuple[FindingKind, str]]:
    text = text_of(node)
    for marks, kind, what in _MARKS[node.type]:
        if any(mark in text for mark in marks):
            yield kind, what


_ASSEMBLER = (
    ((".incbin", ".include"), FindingKind.HIDDEN_CODE, "assembler takes in another file"),
    (("syscall", "svc "), FindingKind.NATIVE_ACCESS, "assembler calls the system"),
    (("globaltimer", "rdtsc"), FindingKind.DETECTION, "assembler reads a clock"),
)
_LOADED = "a constructor runs when the file is loaded"
# By the kind of a node what its text may hold, and what that is.
_MARKS: Mapping[str, tuple[tuple[tuple[str, ...], FindingKind, str], ...]] = {
    "preproc_function_def": ((("##",), FindingKind.HIDDEN_CODE, "a macro pastes names together"),),
    "attribute_specifier": ((("constructor",), FindingKind.DETECTION, _LOADED),),
    "gnu_asm_expression": _ASSEMBLER,
    "asm_statement": _ASSEMBLER,
}
_LOOKS: Mapping[str, Callable[[Node], Iterator[tuple[FindingKind, str]]]] = {
    "identifier": _named,
    "type_identifier": _named,
    "primitive_type": _named,
    "namespace_identifier": _named,
    "declaration": _declared,
    "field_declaration": _declared,
    "template_type": _container,
    "preproc_include": _included,
    "preproc_embed": _included,
    "catch_clause": _caught,
    **dict.fromkeys(_MARKS, _marked),
}


BRANCHES = ("if_statement", "conditional_expression")
ELEMENTS = ("subscript_expression", "field_expression", "pointer_expression")
SUM = ("identifier", "+")
WRAPPED = (*ELEMENTS[1:], "parenthesized_expression")
ANOTHER_NAME = ("pointer_declarator", "reference_declarator")
# Functions and methods that set all of something, that store an element, and that look one up.
ANEW = ("memset", "cudaMemset", "cudaMemsetAsync", "fill", "fill_n", "assign", "clear")
STORING, FINDING = ("emplace", "insert", "insert_or_assign"), ("find", "at", "count")
Bodies = Mapping[str, Node]


def _uses(root: Node) -> Iterator[Use]:
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
