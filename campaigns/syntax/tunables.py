"""Numbers in a source that may be changed without changing what it computes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.syntax.c_family import declared_name, parse, text_of, walk
from campaigns.syntax.edits import Edit, edited
from campaigns.syntax.triton_source import read_triton

# The grammar counts a comment behind a #define as part of its value.
C_NUMBER = re.compile(r"\s*(?P<digits>0|[1-9][0-9]*)[uUlL]*\s*(//.*|/\*.*\*/\s*)?$")
LAUNCH_OPTIONS = ("num_warps", "num_stages")
C_BACKENDS = ("cpp", "cuda", "hip")
C_INTEGERS = frozenset(("int", "unsigned", "unsigned int", "long", "size_t", "std::size_t", "auto"))


@dataclass(frozen=True, slots=True)
class Tunable:
    """One number: its name, its value (None: an option not given yet) and where it stands.

    before: the text that has to precede a value that is added. square: the number is used for
    both sides of a thread block, so its square counts threads.
    """

    name: str
    value: int | None
    start: int
    end: int
    before: str = ""
    square: bool = False


def find_tunables(source: Source, backend: str) -> tuple[Tunable, ...]:
    """All tunables of a source, in source order; empty when it does not parse."""
    if backend in C_BACKENDS:
        return tuple(_c_tunables(source.text, cuda=backend != "cpp"))
    return tuple(_triton_tunables(source.text))


def with_value(source: Source, tunable: Tunable, value: int) -> Source:
    """The source with that one number changed and every other byte as it was."""
    return edited(source, [Edit(tunable.start, tunable.end, f"{tunable.before}{value}")])


def _c_tunables(text: str, *, cuda: bool) -> Iterator[Tunable]:
    root = parse(text, cuda=cuda)
    if root is None:
        return
    squares = {
        text_of(arguments.named_children[0])
        for declaration in walk(root, "declaration")
        if text_of(declaration.child_by_field_name("type")) == "dim3"
        for arguments in walk(declaration, "argument_list", "parameter_list")
        if len(arguments.named_children) > 1 == len({*map(text_of, arguments.named_children)})
    }
    for node in walk(root, "preproc_def", "declaration"):
        name, literal = _constant(node)
        number = C_NUMBER.match(text_of(literal))
        if name is None or literal is None or number is None:
            continue
        label = declared_name(name)
        start = literal.start_byte + number.start("digits")
        end = literal.start_byte + number.end("digits")
        yield Tunable(label, int(number["digits"]), start, end, square=label in squares)


def _constant(node: Node) -> tuple[Node | None, Node | None]:
    """The name and the value of a `#define` or of a constexpr integer; else None twice."""
    if node.type == "preproc_def":
        return node.child_by_field_name("name"), node.child_by_field_name("value")
    setting = next(walk(node, "init_declarator"), None)
    integer = text_of(node.child_by_field_name("type")) in C_INTEGERS
    if setting is None or not integer or "constexpr" not in text_of(node).split("=")[0].split():
        return None, None
    return setting.child_by_field_name("declarator"), setting.child_by_field_name("value")


def _triton_tunables(text: str) -> Iterator[Tunable]:
    found = read_triton(text)
    if found is None:
        return
    for launch in found.launches:
        kernel = found.kernels.get(launch.kernel)
        if kernel is None:
            continue
        for name, number in launch.numbers.items():
            tunable = name in kernel.constexprs or name in LAUNCH_OPTIONS
            if tunable and name not in launch.shared:
                yield Tunable(name, number.value, number.span.start, number.span.end)
        for name in LAUNCH_OPTIONS:
            if name not in launch.keywords:
                yield Tunable(name, None, launch.end, launch.end, before=f", {name}=")
