"""Reads what one thread of a CUDA kernel works on, and how that lies in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from campaigns.syntax.c_family import (
    ASSIGNMENTS,
    declared_name,
    declared_names,
    functions,
    names_in,
    parameters,
    statements,
    text_of,
    walk,
)

PLACES = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
# `int row = blockIdx.x * blockDim.x + threadIdx.x;`, or a block for each value, without blanks.
INDEX = re.compile(
    r"(?:const)?(?P<kind>int|long|unsigned)(?P<name>\w+)="
    r"(?:static_cast<\w+>\()?blockIdx\.(?P<axis>[xyz])\)?"
    r"(?P<thread>\*blockDim\.(?P=axis)\+threadIdx\.(?P=axis))?;"
)
# What gives a value and does nothing else.
PURE = re.compile(
    r"(exp|exp2|log|log2|log1p|sqrt|rsqrt|tanh|erf|sin|cos|fabs|floor|ceil|rint|round|fmax|fmin"
    r"|fma|pow)f?|max|min|abs|static_cast|__\w+2\w+|__expf|__logf|__fdividef|__nv_cvt_\w+|__half"
)
NO_CODE = re.compile(r"//.*|\".*?\"|\w+_cast\b")
JUMPS = ("return_statement", "break_statement", "continue_statement", "goto_statement")


@dataclass(frozen=True, slots=True)
class Index:
    """A variable that is the number of the thread, or of the block, along an axis.

    limit: its values are below that; "" where the grid alone says so.
    """

    declaration: Node
    kind: str
    name: str
    by_thread: bool
    limit: str


@dataclass(frozen=True, slots=True)
class ThreadWork:
    """A kernel whose threads each work on a place of their own, with what they do there.

    indices: by axis. guard: the statement that leaves threads out whose place is beyond the limit.
    statements: what the others do; it knows nothing of threads and blocks.
    """

    kernel: Node
    indices: Mapping[str, Index]
    guard: Node
    statements: tuple[Node, ...]


def is_plain(code: Iterable[Node], kernel: Node) -> bool:
    """Say whether statements only declare and assign, and call nothing that has effects.

    Its pointers are only used with an index, unless they begin another pointer.
    """
    pointers = pointers_of(kernel)
    root = kernel
    while root.parent is not None:
        root = root.parent
    found = functions(root)
    return all(_is_plain(node, pointers) and _is_pure(node, found) for node in code)


def _is_plain(node: Node, pointers: Iterable[str]) -> bool:
    if node.type == "expression_statement":
        assigns = [child.type for child in node.named_children] == ["assignment_expression"]
    else:
        assigns = node.type == "declaration"
    writes = [*walk(node, *ASSIGNMENTS, "lambda_expression", "reference_declarator")]
    if not assigns or len(writes) != (node.type == "expression_statement"):
        return False
    names = [name for name in walk(node, "identifier") if text_of(name) in pointers]
    begins = node.type == "declaration" and any(walk(node, "pointer_declarator"))
    return begins or all(map(_has_index, names))


def _is_pure(node: Node, found: Mapping[str, Node]) -> bool:
    """Say whether no function that is called inside has effects."""
    for call in walk(node, "call_expression"):
        name = text_of(call.child_by_field_name("function")).split("<")[0]
        if PURE.fullmatch(name.removeprefix("std::")):
            continue
        inside = found.get(name)
        if inside is None or any("*" in kind for kind, _ in parameters(inside)):
            return False
        # A function that calls itself is not found again, and so is refused.
        others = {other: one for other, one in found.items() if other != name}
        hidden = any(walk(inside, "reference_declarator")) or names_in(inside) & PLACES
        if hidden or not _is_pure(inside, others):
            return False
    return True


def _has_index(name: Node) -> bool:
    above = name.parent
    return above is not None and above.type == "subscript_expression" and above.child(0) == name


def squeezed(node: Node | None) -> str:
    """The text of a node without blanks, so that two ways to write it are one."""
    return re.sub(r"\s+", "", text_of(node))


def thread_work(kernel: Node) -> ThreadWork | None:
    """Read a kernel that begins with its indices and their limits; None for any other form."""
    body = kernel.child_by_field_name("body")
    code = statements(body) if body is not None else []
    read = [INDEX.fullmatch(squeezed(node)) for node in code]
    count = next((number for number, match in enumerate(read) if match is None), 0)
    guard = code[count] if count else kernel
    test, then = (guard.child_by_field_name(part) for part in ("condition", "consequence"))
    if test is None or then is None or guard.child_by_field_name("alternative") is not None:
        return None
    leaves = squeezed(then) == "return;"
    joined, order = ("||", ">=") if leaves else ("&&", "<")
    tests = [each.partition(order) for each in squeezed(test)[1:-1].split(joined)]
    limits = {name: limit for name, _, limit in tests}
    found = [match for match in read[:count] if match is not None]
    indices = {
        match["axis"]: Index(
            node, match["kind"], match["name"], bool(match["thread"]), limits.get(match["name"], "")
        )
        for node, match in zip(code, found, strict=False)
    }
    behind = code[count + 1 :]
    work = behind if leaves else statements(then)
    foreign = any(names_in(node) & PLACES or any(walk(node, *JUMPS)) for node in work)
    known = limits.keys() <= {one.name for one in indices.values()}
    bound = all(one.limit or not one.by_thread for one in indices.values())
    if not (known and bound and work) or foreign or (behind and not leaves):
        return None
    # Another form of a kernel may need other threads, and stands with its constants before it.
    alone = kernel.parent is not None and kernel.parent.type == "translation_unit"
    if len(indices) != count or not alone or "__launch_bounds__" in text_of(kernel):
        return None
    return ThreadWork(kernel, indices, guard, tuple(work))


def pointers_of(kernel: Node) -> dict[str, tuple[str, str]]:
    """The pointers of a kernel: the parameter that each begins at, and the type of its values."""
    found = {
        name: (name, kind.removeprefix("const ").removesuffix("*"))
        for kind, name in parameters(kernel)
        if kind.endswith("*")
    }
    for node in walk(kernel, "declaration"):
        kind = text_of(node.child_by_field_name("type"))
        for setting in node.children_by_field_name("declarator"):
            if any(walk(setting, "pointer_declarator")):
                value = setting.child_by_field_name("value")
                begins = names_in(value) & found.keys()
                root = found[begins.pop()][0] if len(begins) == 1 else ""
                found[declared_name(setting)] = (root, kind)
    return found


@dataclass(frozen=True, slots=True)
class Access:
    """`base[index]`. written: it is what a statement assigns to, `=` alone being "="."""

    node: Node
    base: str
    index: Node
    written: str


def accesses(code: Iterable[Node]) -> list[Access]:
    """Everything with an index in these statements, in the order in which it is written."""
    found = []
    for node in (inside for one in code for inside in walk(one, "subscript_expression")):
        base, index = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        above = node.parent
        if base is None or index is None:
            continue
        target = above is not None and above.child_by_field_name("left") == node
        assigned = above is not None and above.type == "assignment_expression" and target
        written = text_of(above.child_by_field_name("operator")) if above and assigned else ""
        found.append(Access(node, text_of(base), index.named_children[0], written))
    return found


SAME, UNIT, OTHER = 0, 1, 2


@dataclass(slots=True)
class Strides:
    """By how much values change from one value of a variable to the next: nothing, 1, or else.

    whole: what the values of the variable are divided by, as text. Over a run of values that lies
    between two multiples of each of those a quotient stays the same, and a remainder grows by 1.
    """

    variable: str
    whole: set[str] = field(default_factory=set)
    _known: dict[str, int] = field(default_factory=dict)

    def declare(self, code: Iterable[Node]) -> Strides:
        """Remember the variables that these statements declare or assign."""
        for node in code:
            for setting in walk(node, "init_declarator"):
                value = setting.child_by_field_name("value")
                self._known[declared_name(setting)] = SAME if value is None else self.of(value)
            for write in walk(node, "assignment_expression"):
                self._known[text_of(write.child_by_field_name("left"))] = OTHER
        return self

    def of(self, node: Node) -> int:
        """The stride of an expression."""
        if node.type == "identifier":
            name = text_of(node)
            return self._known.get(name, UNIT if name == self.variable else SAME)
        if node.type == "binary_expression":
            return self._of_two(node)
        inside = node.named_children
        if node.type == "parenthesized_expression" and len(inside) == 1:
            return self.of(inside[0])
        if node.type == "call_expression" and text_of(node).startswith("static_cast<"):
            arguments = node.child_by_field_name("arguments")
            return self.of(arguments.named_children[0]) if arguments is not None else OTHER
        return OTHER if any(self.of(child) != SAME for child in inside) else SAME

    def _of_two(self, node: Node) -> int:
        operator = text_of(node.child_by_field_name("operator"))
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        left, right = (self.of(side) if side is not None else OTHER for side in sides)
        if left == right == SAME:
            return SAME
        if operator == "+" and {left, right} == {SAME, UNIT}:
            return UNIT
        if operator == "-" and (left, right) == (UNIT, SAME):
            return UNIT
        if operator in "/%" and text_of(sides[0]) == self.variable and right == SAME:
            self.whole.add(text_of(sides[1]))
            return SAME if operator == "/" else UNIT
        return OTHER


def without_unused(text: str, names: Sequence[str]) -> str:
    """Leave out the constants and the `dim3` of these names that nothing else uses any more."""
    for name in names:
        if len(re.findall(rf"\b{name}\b", re.sub(NO_CODE, "", text))) == 1:
            line = rf"\n *(?:constexpr int|dim3) {name}\b[^;]*;"
            text = re.sub(rf"(?<=\n){line}\n(?=\n)|{line}", "", text)
    return text


def words(text: str) -> set[str]:
    """The names that a template introduces, and those that it uses."""
    return set(re.findall(r"(?<![$\w{.])[A-Za-z]\w*", NO_CODE.sub("", text)))


def lines(code: Iterable[Node]) -> str:
    """Statements as text."""
    return "\n".join(map(text_of, code))


def needed(before: Sequence[Node], *code: Node, without: str = "") -> tuple[str, set[str]]:
    """The declarations that code needs, as text, and the names that those and the code mention."""
    names, found = set().union(*map(names_in, code)) - {without}, ""
    for one in reversed(before):
        if declared_names(one) & names:
            found = f"{text_of(one)}\n{found}"
            names |= names_in(one)
    return found, names
