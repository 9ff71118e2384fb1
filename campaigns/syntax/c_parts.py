"""What one function needs of a C++ or CUDA source; the rest, such as `main`, is left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tree_sitter import Node

from campaigns.evaluator.contract.origins import mark, origins
from campaigns.syntax.c_family import (
    declared_names,
    functions,
    parse_anyway,
    starts_line,
    text_of,
    walk,
)

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
WORD = re.compile(r"[A-Za-z_]\w*")
# What holds parts of a file under a condition, and what makes a type by a name of its own.
GROUPS = ("preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "preproc_elifdef")
TYPES = ("struct_specifier", "class_specifier", "enum_specifier", "union_specifier")
BEHIND = re.compile(rb"[ \t;]*\n?")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a file. names: that it gives a meaning. asks: of what its conditions ask."""

    node: Node
    names: set[str]
    asks: set[str]

    @property
    def words(self) -> set[str]:
        """What it needs; of an #include, which tells nothing, what its conditions need."""
        return self.asks | (set() if self.header else _words(self.node))

    @property
    def header(self) -> str:
        """What an #include names, with its brackets or quotes; "" of anything else."""
        is_header = self.node.type == "preproc_include"
        return text_of(self.node.child_by_field_name("path")) if is_header else ""

    @property
    def told(self) -> list[str]:
        """What people are told where it is left out."""
        return [self.header] if self.header else sorted(self.names)


def needed_for(entry: str, text: str, file_name: str) -> tuple[str, list[str]]:
    """A source without what `entry` does not need, and the names of what was left out.

    Of the headers those stay that come with a compiler: which of them is needed, no source tells.
    Marks (`contract/origins.py`) say where the lines were. A source without a `main` into which no
    other file was put stays as it is.
    """
    # An attribute between #if and #endif would make one part of all that comes after it.
    blanked = ATTRIBUTE.sub(lambda found: " " * len(found[0].encode()), text)
    cuda, known = file_name.endswith(".cu"), origins(text, file_name)
    root = parse_anyway(blanked, cuda=cuda)
    parts, data = [*_parts(root.named_children)], text.encode()
    # What was added calls it by this name.
    is_own = {file for file, _ in known} <= {file_name, entry}
    if is_own and not any(MAIN in one.names for one in parts):
        return text, []
    for at, (one, behind) in enumerate(pairwise(parts)):
        if ATTRIBUTE.search(data[one.node.start_byte : one.node.end_byte].decode()):
            parts[at] = replace(one, names=one.names or behind.names)
    kept, wanted = _needed(parts, {entry, *WORD.findall(" ".join(ATTRIBUTE.findall(text)))})
    used = set().union(*(_words(o.node) for o in kept if not o.node.type.startswith("preproc_")))
    stays = {o.node.id for o in kept if not o.header or _is_needed(o.header[1:-1], used)}
    brought = [one for part, one in BROUGHT.items() if cuda and any(part in n for n in wanted)]
    own = {row for row, (file, _) in enumerate(known) if file == file_name}
    code = [o for o in kept if not (o.header or o.names <= o.asks)]
    files = {known[one.node.start_point.row][0] for one in code}
    # Of another file of which code stays, its first comment tells whose it is.
    own |= {row for row, (file, line) in enumerate(known) if line == 1 and file in files}
    for node in reversed([*_cuts(root.named_children, stays, own)]):
        behind_it = BEHIND.match(data, node.end_byte)
        end = behind_it.end() if behind_it else node.end_byte
        row = data.count(b"\n", 0, end)
        is_library = LIBRARY.match(_Part(node, set(), set()).header[1:])
        lines = [f"#include <{one}>" for one in (brought if is_library else ())]
        lines += [mark(known[row][1], known[row][0])] if row < len(known) else []
        put = "".join(f"{one}\n" for one in lines)
        data = data[: node.start_byte] + put.encode() + data[end:]
    told = [name for one in parts if one.node.id not in stays for name in one.told]
    return data.decode(), list(dict.fromkeys(told))


def _needed(parts: Sequence[_Part], wanted: set[str]) -> tuple[list[_Part], set[str]]:
    """Statements that do more than give names, or whose names are wanted; with all their words."""
    rest = [one for one in parts if one.names]
    more, kept = [one for one in parts if not one.names], list[_Part]()
    while more:
        kept += more
        wanted = wanted.union(*(one.words for one in more)) - {MAIN}
        more = [one for one in rest if one.names & wanted]
        rest = [one for one in rest if not one.names & wanted]
    return kept, wanted


def _parts(nodes: Sequence[Node], asks: frozenset[str] = frozenset()) -> Iterator[_Part]:
    """The parts of a file, also those under a condition."""
    for node in nodes:
        if inner := _inner(node):
            yield from _parts(inner, asks | _words(_condition(node)))
        elif node.type != "comment":
            yield _Part(node, _defined(node), {*asks})


def _cuts(nodes: Sequence[Node], stays: Collection[int], own: Collection[int]) -> Iterator[Node]:
    """What goes: parts that do not stay, and conditions under which none does.

    And comments of other files on what goes. own: rows on which comments stay.
    """
    is_near = False
    cut = list[Node]()
    for node in reversed(nodes):
        if node.type == "comment":
            if not is_near and node.start_point.row not in own and starts_line(node):
                cut.append(node)
            continue
        is_gone = not any(one.node.id in stays for one in _parts([node]))
        is_near = not is_gone and node.type not in (*GROUPS, "preproc_include")
        cut += [node] if is_gone else reversed([*_cuts(_inner(node), stays, own)])
    yield from reversed(cut)


def _condition(node: Node) -> Node | None:
    """What a condition asks; None of #else and of what is no condition."""
    return node.child_by_field_name("condition") or node.child_by_field_name("name")


def _inner(node: Node) -> list[Node]:
    """What stands under a condition; none where that is nothing, or it is no condition."""
    said = _condition(node)
    inner = [one for one in node.named_children if one != said] if node.type in GROUPS else []
    return inner if any(one.type != "comment" for one in inner) else []


def _is_needed(header: str, used: set[str]) -> bool:
    library = LIBRARY.match(header)
    if library is None:
        return OWN_HEADER.fullmatch(header) is not None
    return any(word.lower().startswith(library[0]) for word in used)


def _words(item: Node | None) -> set[str]:
    return {*WORD.findall(text_of(item))}


def _defined(item: Node) -> set[str]:
    """The plain names that a part of a file gives a meaning; none where it may do more."""
    inner = item.named_children[-1] if item.type == "template_declaration" else item
    kind = inner.child_by_field_name("type")
    made = [one for one in (inner, kind) if one is not None and one.type in TYPES]
    named = [one.child_by_field_name("name") for one in made]
    if inner.type == "function_definition":
        names = {*functions(inner)}
        if names == {""}:
            # A method outside of its class.
            method = next(walk(inner, "qualified_identifier"), None)
            names = {*WORD.findall(text_of(method))[:1]} or names
    elif inner.type == "namespace_definition":
        names = {text_of(inner.child_by_field_name("name")), *functions(inner)}
    elif inner.type == "preproc_call" and text_of(inner.child(0)).endswith("undef"):
        names = {text_of(inner.child_by_field_name("argument")).strip()}
    elif inner.type in ("preproc_def", "preproc_function_def", "alias_declaration"):
        names = {text_of(inner.child_by_field_name("name"))}
    elif inner.type == "declaration":
        names = declared_names(inner)
    elif inner.type == "type_definition":
        names = {text_of(one) for one in inner.children_by_field_name("declarator")}
    else:
        names = {text_of(one) for one in named}
    if not all(name.isidentifier() for name in names):
        return set()
    given = {text_of(one) for one in named if one}
    values = (one.child_by_field_name("name") for part in made for one in walk(part, "enumerator"))
    return names | given | {text_of(one) for one in values}
