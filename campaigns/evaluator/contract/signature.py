"""Read `extern "C" void solve(…)` from C++ or CUDA source and hold it against a case's arguments.

Parsed with tree-sitter, never with patterns: comments, macros and other functions do not matter.
Texts that are made to take long are given up on. Honest ones take some milliseconds for every
hundred lines; where one does not parse, tree-sitter tries to mend it, and there are texts of a few
pages for which that takes hours.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.layout import ITEM_BYTES, Layout, ScalarArg, TensorArg

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# Of this thread's own processor time, so that a busy host does not matter.
MOST_S = 5.0
CHUNK = 1 << 16
ENTRY = "solve"
# Integers by their width in bytes: whether a kernel reads them as signed or not is its own choice.
WIDTHS = {
    **dict.fromkeys(("char", "signed char", "unsigned char", "int8_t", "uint8_t", "byte"), 1),
    **dict.fromkeys(("short", "unsigned short", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "unsigned", "int32_t", "uint32_t"), 4),
    **dict.fromkeys(("long", "unsigned long", "long long", "unsigned long long"), 8),
    **dict.fromkeys(("int64_t", "uint64_t", "size_t", "ssize_t", "ptrdiff_t"), 8),
}
# What an element is called in messages, and by what other names it goes.
ELEMENTS: Mapping[str, tuple[str, ...]] = {
    "float64": ("double", "float64_t"),
    "float32": ("float", "float32_t"),
    "float16": ("__half", "half", "_Float16", "__fp16", "float16_t"),
    "bfloat16": ("__bf16", "__nv_bfloat16", "nv_bfloat16", "__hip_bfloat16", "bfloat16_t"),
    "int64": ("int64_t",),
    "int32": ("int",),
    "int16": ("int16_t",),
    "int8": ("int8_t",),
    "uint8": ("uint8_t",),
    "bool": ("bool",),
}
# Their bits may be taken as an integer, too.
AS_INTEGERS = ("float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
INTEGERS: Mapping[str, Any] = {
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "short": ctypes.c_short,
    "unsigned short": ctypes.c_ushort,
    "long": ctypes.c_long,
    "long long": ctypes.c_longlong,
    "unsigned long": ctypes.c_ulong,
    "unsigned long long": ctypes.c_ulonglong,
    "int16_t": ctypes.c_int16,
    "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "ssize_t": ctypes.c_ssize_t,
    "ptrdiff_t": ctypes.c_ssize_t,
    "bool": ctypes.c_bool,
}
FLOATS: Mapping[str, Any] = {"float": ctypes.c_float, "double": ctypes.c_double}
# An alias of an alias of …; a name that stands for itself ends here as well.
MOST_ALIASES = 8
TEMPLATE = "template_declaration"
KERNEL = "__global__"


class TooSlow(ValueError):
    """A text that could not be parsed in `MOST_S` seconds."""


def parse_within(language: Language, text: str) -> Node:
    """The root of the syntax tree. Raises TooSlow."""
    from tree_sitter import Parser

    # Two threads that use one parser end the process.
    parser = Parser(language)
    data = text.encode("utf-8", "replace")
    end = time.thread_time() + MOST_S

    def read(at: int, point: object) -> bytes:
        return data[at : at + CHUNK]

    def is_late(at: int, has_error: bool) -> bool:
        return time.thread_time() > end

    try:
        # The parser tells how far it is only where it reads by itself; but then the text of a node
        # is read anew each time, and not safely. So this is a trial, and is parsed once more.
        parser.parse(read, progress_callback=is_late)
    except ValueError:
        raise TooSlow(f"the text does not parse within {MOST_S:g} s") from None
    return parser.parse(data).root_node


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as written: element or scalar type without const, and whether a pointer.

    type: with a star where elements are pointers themselves. sides: of an array as it is written,
    such as ("ROWS", "COLS"); "" for a first one that is not said. is_const: of what it points to.
    """

    name: str
    type: str
    pointer: bool
    line: int
    sides: tuple[str, ...] = ()
    is_const: bool = False


def argument_types(text: str, file_name: str, layout: Layout) -> list[Any]:
    """The ctypes of `solve`'s parameters. Raises BuildFailed naming the line that does not fit."""
    parameters = read_parameters(text, file_name)
    if len(parameters) != len(layout.args):
        wanted = ", ".join(_describe(arg) for arg in layout.args)
        line = parameters[0].line if parameters else 1
        raise BuildFailed(
            f"{file_name}:{line}: solve has {len(parameters)} parameters, the cases give "
            f"{len(layout.args)}: {wanted}"
        )
    return [
        _fit(parameter, arg, file_name)
        for parameter, arg in zip(parameters, layout.args, strict=True)
    ]


def _fit(parameter: Parameter, arg: TensorArg | ScalarArg, file_name: str) -> Any:
    if isinstance(arg, TensorArg):
        if parameter.pointer and _holds(parameter.type, arg.dtype):
            return ctypes.c_void_p
    elif not parameter.pointer:
        of_float = isinstance(arg.value, float)
        kind = (FLOATS if of_float else INTEGERS).get(parameter.type)
        # ctypes would cut an integer that is too large for its type without a word.
        if kind is not None and (of_float or kind(arg.value).value == arg.value):
            return kind
    star = "*" if parameter.pointer else ""
    raise BuildFailed(
        f"{file_name}:{parameter.line}: solve: parameter {parameter.name!r} is "
        f"{parameter.type}{star}, the cases give {_describe(arg)}"
    )


def _holds(kind: str, dtype: str) -> bool:
    """Whether elements of a C++ type are those of a tensor, by name or by width."""
    if kind in ("void", *ELEMENTS.get(dtype, ())):
        return True
    return dtype in AS_INTEGERS and WIDTHS.get(kind) == ITEM_BYTES[dtype]


def _describe(arg: TensorArg | ScalarArg) -> str:
    if isinstance(arg, ScalarArg):
        return f"{'double' if isinstance(arg.value, float) else 'int'} {arg.name} = {arg.value}"
    return f"{ELEMENTS[arg.dtype][0]}* {arg.name}"


def read_parameters(
    text: str,
    file_name: str,
    entry: str = ENTRY,
    template: Mapping[str, str] | None = None,
    *,
    launched: bool = False,
) -> list[Parameter]:
    """Parameters of the one function named `solve`. Raises BuildFailed when there is none.

    template: what the parameters of its template stand for. launched: whether it is a kernel, where
    a function of the host has its name too.
    """
    root = _root(text, file_name)
    found = _find_function(root, entry, launched=launched)
    if found is None:
        raise BuildFailed(f'{file_name}: no function extern "C" void {entry}(…) is defined')
    listed = found.child_by_field_name("parameters")
    children = listed.named_children if listed is not None else []
    aliases = {**dict(_aliases(root)), **{n: (t, 0) for n, t in (template or {}).items()}}
    return [_parameter(node, aliases) for node in children if node.type == "parameter_declaration"]


def function_names(text: str, file_name: str) -> dict[str, str]:
    """Every function that is defined, by name, and what stands before its name.

    Of a kernel and a function that launches it, if they have one name, the function.
    """
    found: dict[str, str] = {}
    for node, name, _ in _functions(_root(text, file_name)):
        outer = node.parent if node.parent and node.parent.type == TEMPLATE else node
        before = (outer.text or b"")[: name.start_byte - outer.start_byte]
        if KERNEL in found.get(_text(name), KERNEL):
            found[_text(name)] = before.decode("utf-8", "replace")
    return found


def _root(text: str, file_name: str) -> Node:
    try:
        import tree_sitter_cpp
        from tree_sitter import Language
    except ImportError as error:
        raise Unsupported(f"{error.name} is not installed (pip install {error.name})") from None
    try:
        return parse_within(Language(tree_sitter_cpp.language()), text)
    except TooSlow as error:
        raise BuildFailed(f"{file_name}: {error}") from None


def _walk(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def _find_function(root: Node, entry: str, *, launched: bool) -> Node | None:
    """The declarator of the entry: of functions with its name, the one that C can call."""

    def rank(each: tuple[Node, Node, Node]) -> tuple[bool, int]:
        before = _text(each[0])[: each[1].start_byte - each[0].start_byte]
        return (KERNEL in before) is not launched, _how_hidden(each[0])

    named = [each for each in _functions(root) if _text(each[1]) == entry]
    return min(named, key=rank)[2] if named else None


def _functions(root: Node) -> Iterator[tuple[Node, Node, Node]]:
    """The definition, name and declarator of each function."""
    for node in _walk(root):
        declarator = node.child_by_field_name("declarator")
        if node.type != "function_definition" or declarator is None:
            continue
        name = declarator.child_by_field_name("declarator")
        # A method's name is a field or is qualified; it is never the entry.
        if name is not None and name.type == "identifier":
            yield node, name, declarator


def _how_hidden(node: Node) -> int:
    """0 behind extern "C"; 1 in the open, where a macro may say so; 2 in a namespace."""
    hidden, parent = 1, node.parent
    while parent is not None:
        if parent.type == "linkage_specification":
            return 0
        if parent.type == "namespace_definition":
            hidden = 2
        parent = parent.parent
    return hidden


def _aliases(root: Node) -> Iterator[tuple[str, tuple[str, int]]]:
    """What names of types stand for in this file: (type, how many stars)."""
    for node in live_parts(root):
        kind = node.child_by_field_name("type")
        if node.type == "alias_declaration" and kind is not None:
            name, inner = node.child_by_field_name("name"), kind.child_by_field_name("type")
            star = int(kind.child_by_field_name("declarator") is not None)
            if name is not None and inner is not None:
                yield _text(name), (_text(inner), star)
        elif node.type == "type_definition" and kind is not None:
            for declarator in node.children_by_field_name("declarator"):
                alias, star, sides = _declared(declarator)
                yield alias, (_text(kind), star + bool(sides))
        elif node.type == "preproc_def":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None:
                yield _text(name), (_text(value).strip(), 0)


def _defines(node: Node) -> Node | None:
    return node.child_by_field_name("name") if node.type == "preproc_def" else None


def live_parts(root: Node) -> Iterator[Node]:
    """The nodes without branches of `#ifdef NAME` that the file itself excludes."""
    return _live(root, {_text(n) for n in map(_defines, _walk(root)) if n is not None})


def _live(node: Node, defined: Collection[str]) -> Iterator[Node]:
    """The same of a node and those in it."""
    yield node
    name = node.child_by_field_name("name" if node.type == "preproc_ifdef" else "condition")
    other = node.child_by_field_name("alternative")
    children = node.named_children
    if node.type in ("preproc_ifdef", "preproc_if") and name is not None and other is not None:
        asked = re.fullmatch(r"defined *\(? *(\w+) *\)?|(\w+)", _text(name))
        if asked and (asked[1] or node.type == "preproc_ifdef"):
            without = node.children[0].type == "#ifndef"
            is_taken = ((asked[1] or asked[2]) in defined) is not without
            children = [child for child in children if (child != other) is is_taken]
    for child in children:
        yield from _live(child, defined)


def _parameter(node: Node, aliases: Mapping[str, tuple[str, int]]) -> Parameter:
    kind = node.child_by_field_name("type")
    name, stars, sides = _declared(node.child_by_field_name("declarator"))
    written = _plain(_text(kind)) if kind is not None else ""
    for _ in range(MOST_ALIASES):
        if written not in aliases:
            break
        meant, more = aliases[written]
        written, stars = _plain(meant), stars + more
    is_pointer = bool(stars or sides)
    # An array is one pointer, and `(*rows)[COLS]` is one as well.
    deeper = "*" * (stars - (not sides or not sides[0]))
    marks = {_text(child) for child in node.named_children if child.type == "type_qualifier"}
    line = node.start_point[0] + 1
    return Parameter(name, written + deeper, is_pointer, line, sides, "const" in marks)


def _declared(declarator: Node | None) -> tuple[str, int, tuple[str, ...]]:
    """The name that is declared, "" for one without, its stars, and the sides of its array.

    Another declarator, as of a reference, counts as a star. What looks like a function is a macro,
    whose name is its whole text.
    """
    stars, sides = 0, list[str]()
    while declarator is not None and declarator.type.endswith("_declarator"):
        if "array" in declarator.type:
            size = declarator.child_by_field_name("size")
            sides.insert(0, _text(size) if size is not None else "")
        elif declarator.type != "parenthesized_declarator":
            stars += 1
            sides = ["", *sides] if sides and sides[0] else sides
            inner = declarator.child_by_field_name("declarator")
            if declarator.type == "function_declarator" and inner and inner.type == "identifier":
                break
        inner = declarator.child_by_field_name("declarator")
        ends = ("identifier", "_declarator")
        named = [child for child in declarator.named_children if child.type.endswith(ends)]
        declarator = inner or next(iter(named), None)
    return (_text(declarator) if declarator is not None else ""), stars, tuple(sides)


def _plain(kind: str) -> str:
    """One spelling for each type: without namespace, "long long int unsigned" in usual order."""
    words = kind.replace("::", " ").split()
    words = [word for word in words if word not in ("std", "const", "volatile", "cuda")]
    if not words or not set(words) <= {"unsigned", "signed", "long", "short", "int", "char"}:
        return " ".join(words)
    sign = ["unsigned"] if "unsigned" in words else []
    if "char" in words:
        return " ".join([*sign, *(["signed"] if "signed" in words else []), "char"])
    size = ["short"] if "short" in words else ["long"] * words.count("long")
    return " ".join([*sign, *size]) if sign or size else "int"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
