"""Which kernels a source defines, and how the driver's tracer calls them. Registers nothing.

A name that a macro makes is not found; its launches then count as not the candidate's own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

JIT = "jit"
# Comments, strings and character constants hold no code. One that does not end is taken to the end
# of the text or line: else each beginning of another one would be looked for again from there.
_DEAD = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n]){1,12}+'", re.DOTALL
)
_MARK = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t][^\n]*__global__", re.MULTILINE)
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_BETWEEN = re.compile(r"[*&:\s]*")
_BRACKET = re.compile(r"[()]")
# Words from the mark of a kernel to its name: attributes, the return type.
MOST_WORDS = 32
# What torch launches itself; a candidate's kernel may share its last name.
TORCH = ("at::", "c10::")
# What the driver does by itself, as its tracer calls it; a kernel of that name would pass for it.
DRIVER = ("Memcpy", "Memset")


def triton_kernels(text: str) -> tuple[str, ...]:
    """Functions under `@triton.jit`, or given to it; none for a text that does not parse."""
    try:
        tree = ast.parse(text)
        return tuple(dict.fromkeys(_jitted(tree)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def cuda_kernels(text: str) -> tuple[str, ...]:
    """Functions marked `__global__`, also by a macro that stands for it."""
    live = _DEAD.sub(" ", text)
    marks = {"__global__", *_MARK.findall(live)}
    # For each round bracket that opens, the place behind the one that closes it.
    behind: dict[int, int] = {}
    opened: list[int] = []
    for bracket in _BRACKET.finditer(live):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            behind[opened.pop()] = bracket.end()
    found = (word.end() for word in _WORD.finditer(live) if word[0] in marks)
    names = (_function_at(live, at, behind) for at in found)
    return tuple(dict.fromkeys(name for name in names if name))


def last_name(traced: str) -> str:
    """`k` of `void space::k<256>(float const*, int)`; empty for what torch or the driver does."""
    if traced.startswith(DRIVER) and traced.endswith(")") and " (" in traced:
        return ""
    plain = traced.replace("(anonymous namespace)::", "")
    depth, kept = 0, []
    for char in plain:
        depth += (char == "<") - (char == ">")
        if char == "(" and depth == 0:
            break
        if depth == 0 and char != ">":
            kept.append(char)
    words = "".join(kept).split()
    name = words[-1] if words else ""
    return "" if name.startswith(TORCH) else name.rpartition("::")[2]


def _jitted(tree: ast.Module) -> Iterator[str]:
    # What `jit` is called where it is imported under a name of the candidate's own.
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    imported = (each for node in imports for each in node.names if each.name == JIT)
    names = {JIT, *(each.asname for each in imported if each.asname)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if any(_name_of(decorator) in names for decorator in node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Call) and _name_of(node.func) in names:
            yield from (arg.id for arg in node.args[:1] if isinstance(arg, ast.Name))


def _name_of(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _function_at(text: str, at: int, behind: Mapping[int, int]) -> str:
    """The function whose declaration goes on at `at`; attributes with arguments are passed over."""
    for _ in range(MOST_WORDS):
        match = _NAME.match(text, at)
        if match is None:
            break
        at = match.end()
        if not text.startswith("(", at):
            between = _BETWEEN.match(text, at)
            at = between.end() if between else at
            continue
        at = behind.get(at, len(text))
        if not _NAME.match(text, at):
            return match[1]
    return ""
