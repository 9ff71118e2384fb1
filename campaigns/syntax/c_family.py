"""Reads C++ and CUDA sources with tree-sitter: functions, counted loops, names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import ModuleType

import tree_sitter_cpp
import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from campaigns.evaluator.contract.signature import TooSlow, parse_within

# Headers that come with a compiler: of C++ without an ending, of C, of Linux, of CUDA.
OWN_HEADER = re.compile(
    r"[a-z0-9_]+|(cuda|cub|thrust|cooperative_groups|nv|sys|bits|hip)/.+"
    r"|(assert|ctype|errno|f?env|float|inttypes|limits|locale|math|signal|std\w+|string|time|wchar"
    r"|unistd|fcntl|malloc|pthread|omp|\w+intrin|arm_\w+|cu[a-z]\w*|mma|vector_\w+|sm_\w+|device_\w+"
    r"|math_\w+|host_\w+|cooperative_groups)\.h(pp)?"
)
# Libraries whose names all begin alike, so that a source tells whether it needs their headers.
LIBRARY = re.compile(r"cublas|curand|cusparse|cufft|cudnn|cusolver|nccl|nvml|mpi")
# What they bring besides, by a part of its names.
BROUGHT = {"half": "cuda_fp16.h", "bfloat16": "cuda_bf16.h"}
MAIN = "main"
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
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
def _parser(grammar: ModuleType) -> Parser:
    return Parser(Language(grammar.language()))


def parse(text: str, *, cuda: bool = False) -> Node | None:
    """The syntax tree, or None when the text has a syntax error or takes too long."""
    try:
        root = parse_anyway(text, cuda=cuda)
    except TooSlow:
        return None
    return None if root.has_error else root


def parse_anyway(text: str, *, cuda: bool = False) -> Node:
    """The syntax tree of as much as can be understood. Raises TooSlow."""
    return parse_within(_parser(tree_sitter_cuda if cuda else tree_sitter_cpp), text)


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


def without_main(text: str, entry: str, *, cuda: bool) -> tuple[str, list[str]]:
    """A source without its `main` and what `entry` does not need; the names of what was left out.

    Of the headers those stay that come with a compiler: which of them is needed, no source tells.
    A source without a `main` stays as it is.
    """
    # An attribute between #if and #endif would make one part of all that comes after it.
    data, dropped = text.encode(), []
    blanked = ATTRIBUTE.sub(lambda found: " " * len(found[0].encode()), text)
    items = parse_anyway(blanked, cuda=cuda).named_children
    defined = {item.id: _defined(item) for item in items}
    for item, behind in pairwise(items):
        if ATTRIBUTE.search(data[item.start_byte : item.end_byte].decode()):
            defined[item.id] = defined[item.id] or defined[behind.id]
    if not any(MAIN in names for names in defined.values()):
        return text, []
    kept = {item.id for item in items if not defined[item.id]}
    plain = [item for item in items if item.id in kept and not _header(item)]
    marks = re.findall(r"[A-Za-z_]\w*", " ".join(ATTRIBUTE.findall(text)))
    wanted = {entry, *marks}.union(*map(_words, plain)) - {MAIN}
    while more := [one for one in items if one.id not in kept and defined[one.id] & wanted]:
        kept |= {one.id for one in more}
        wanted = wanted.union(*map(_words, more))
    code = (one for one in items if one.id in kept and not one.type.startswith("preproc_"))
    used = set().union(*map(_words, code))
    brought = [one for part, one in BROUGHT.items() if cuda and any(part in n for n in wanted)]
    for item in reversed(items):
        header = _header(item)
        if item.id in kept and (not header or _is_needed(header[1:-1], used)):
            continue
        dropped += [header] if header else sorted(defined[item.id])
        end = item.end_byte + len(re.match(rb"[ \t;]*\n?", data[item.end_byte :])[0])  # type: ignore[index]
        also = brought if LIBRARY.match(header[1:]) else []
        lines = "".join(f"#include <{one}>\n" for one in also)
        data = data[: item.start_byte] + lines.encode() + data[end:]
    return data.decode(), list(dict.fromkeys(reversed(dropped)))


def _header(item: Node) -> str:
    """What an #include names, with its brackets or quotes; "" of anything else."""
    return text_of(item.child_by_field_name("path")) if item.type == "preproc_include" else ""


def _is_needed(header: str, used: set[str]) -> bool:
    library = LIBRARY.match(header)
    if library is None:
        return OWN_HEADER.fullmatch(header) is not None
    return any(word.lower().startswith(library[0]) for word in used)


def _words(item: Node) -> set[str]:
    return {*re.findall(r"[A-Za-z_]\w*", "" if item.type == "comment" else text_of(item))}


def _defined(item: Node) -> set[str]:
    """The plain names that a part of a file gives a meaning; none where it may do more."""
    inner = item.named_children[-1] if item.type == "template_declaration" else item
    if inner.type == "function_definition":
        names = {*functions(inner)}
    elif inner.type in ("preproc_def", "preproc_function_def", "alias_declaration"):
        names = {text_of(inner.child_by_field_name("name"))}
    elif inner.type == "declaration":
        names = declared_names(inner)
    elif inner.type == "type_definition":
        names = {text_of(one) for one in inner.children_by_field_name("declarator")}
    elif inner.type in ("struct_specifier", "class_specifier", "enum_specifier", "union_specifier"):
        names = {text_of(inner.child_by_field_name("name"))}
    elif inner.type in ("preproc_ifdef", "preproc_if") and MAIN in functions(inner):
        names = {*functions(inner)}
    else:
        names = set()
    return names if all(name.isidentifier() for name in names) else set()
