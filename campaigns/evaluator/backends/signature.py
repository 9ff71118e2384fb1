"""Read `extern "C" void solve(…)` from C++ or CUDA source and hold it against a case's arguments.

Parsed with tree-sitter, never with patterns: comments, macros and other functions do not matter.
This file is no backend; it registers nothing.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from campaigns.evaluator.backends.base import BuildFailed, Unsupported
from campaigns.evaluator.layout import Layout, ScalarArg, TensorArg

if TYPE_CHECKING:
    from tree_sitter import Node

ENTRY = "solve"
ELEMENTS = {
    "float64": {"double"},
    "float32": {"float"},
    "float16": {"__half", "half", "_Float16", "uint16_t", "unsigned short"},
    "bfloat16": {"__nv_bfloat16", "nv_bfloat16", "__bf16", "uint16_t", "unsigned short"},
    "int64": {"int64_t", "long", "long long"},
    "int32": {"int32_t", "int"},
    "int16": {"int16_t", "short"},
    "int8": {"int8_t", "char", "signed char"},
    "uint8": {"uint8_t", "unsigned char"},
    "bool": {"bool"},
}
INTEGERS: dict[str, Any] = {
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "unsigned int": ctypes.c_uint,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "long": ctypes.c_long,
    "long long": ctypes.c_longlong,
    "unsigned long": ctypes.c_ulong,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
}
FLOATS: dict[str, Any] = {"float": ctypes.c_float, "double": ctypes.c_double}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as written: element or scalar type without const, and whether a pointer."""

    name: str
    type: str
    pointer: bool
    line: int


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
        if parameter.pointer and parameter.type in {*ELEMENTS[arg.dtype], "void"}:
            return ctypes.c_void_p
    elif not parameter.pointer:
        accepted = FLOATS if isinstance(arg.value, float) else INTEGERS
        if parameter.type in accepted:
            return accepted[parameter.type]
    star = "*" if parameter.pointer else ""
    raise BuildFailed(
        f"{file_name}:{parameter.line}: solve: parameter {parameter.name!r} is "
        f"{parameter.type}{star}, the cases give {_describe(arg)}"
    )


def _describe(arg: TensorArg | ScalarArg) -> str:
    if isinstance(arg, ScalarArg):
        return f"{'double' if isinstance(arg.value, float) else 'int'} {arg.name}"
    return f"{sorted(ELEMENTS[arg.dtype])[0]}* {arg.name}"


def read_parameters(text: str, file_name: str) -> list[Parameter]:
    """Parameters of the one function named `solve`. Raises BuildFailed when there is none."""
    try:
        import tree_sitter_cpp
        from tree_sitter import Language, Parser
    except ImportError as error:
        raise Unsupported(f"{error.name} is not installed (pip install {error.name})") from None
    tree = Parser(Language(tree_sitter_cpp.language())).parse(text.encode())
    found = _find_function(tree.root_node)
    if found is None:
        raise BuildFailed(f'{file_name}: no function extern "C" void {ENTRY}(…) is defined')
    listed = found.child_by_field_name("parameters")
    children = listed.named_children if listed is not None else []
    return [_parameter(node) for node in children if node.type == "parameter_declaration"]


def _find_function(root: Node) -> Node | None:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            declarator = node.child_by_field_name("declarator")
            if declarator is not None and declarator.type == "function_declarator":
                name = declarator.child_by_field_name("declarator")
                if name is not None and _text(name) == ENTRY:
                    return declarator
        stack.extend(node.named_children)
    return None


def _parameter(node: Node) -> Parameter:
    kind = node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    pointer = False
    while declarator is not None and declarator.type in (
        "pointer_declarator",
        "array_declarator",
        "reference_declarator",
    ):
        pointer = True
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next(iter(declarator.named_children[-1:]), None)
    return Parameter(
        name=_text(declarator) if declarator is not None else "",
        type=" ".join(_text(kind).split()) if kind is not None else "",
        pointer=pointer,
        line=node.start_point[0] + 1,
    )


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
