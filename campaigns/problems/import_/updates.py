"""Which arguments a function in Python changes, and which it returns, as its source tells.

What cannot be seen here, such as a change by a function of another module, is seen when the
reference is run: by `ref.py` itself, and by whoever asks what it updates.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from campaigns.problems.import_.draft import DraftArg, DraftError, ReferenceCode, Returned, Role

# Methods whose result lies in the same memory, as do those whose names end in "_".
VIEWS = {
    *("view", "view_as", "reshape", "transpose", "permute", "flatten", "unflatten", "unsqueeze"),
    *("squeeze", "expand", "detach", "narrow", "select", "chunk", "split", "unbind", "contiguous"),
    *("t", "numpy", "ravel", "swapaxes", "requires_grad_"),
}
DEEPEST = 4
BRANCHES = (ast.ExceptHandler, ast.match_case)


class Effects:
    """What a function does to its arguments, statement by statement.

    updated: those that it changes. returned: its answers, of the longest that it returns.
    """

    def __init__(self, function: ast.FunctionDef, tree: ast.Module, deepest: int = DEEPEST) -> None:
        listed = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        self.takes = [one.arg for one in listed if one.arg != "self"]
        self.updated: set[str] = set()
        self.returned: tuple[Returned, ...] = ()
        # By the name of a variable the argument in whose memory it lies.
        self._lies = {name: name for name in self.takes}
        self._functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        self._modules = {
            (one.asname or one.name).split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for one in node.names
        }
        self._tree, self._deepest = tree, deepest
        for statement in function.body:
            self._follow(statement)

    def _follow(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            return
        for part in ast.iter_child_nodes(statement):
            # Its expressions; the statements in its body have their own turn.
            for node in () if isinstance(part, (ast.stmt, *BRANCHES)) else ast.walk(part):
                if isinstance(node, ast.Call):
                    self._call(node)
        if isinstance(statement, ast.AugAssign):
            self._update(statement.target)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._assign(target, statement.value)
        elif isinstance(statement, ast.Return) and not is_none(statement.value):
            self._return(statement.value)
        for inner in _statements(statement):
            self._follow(inner)

    def _return(self, value: ast.expr | None) -> None:
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if len(parts) >= len(self.returned):
            self.returned = tuple(map(self._answer, parts))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            apart = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            values = value.elts if apart and isinstance(value, ast.Tuple) else None
            for place, each in enumerate(target.elts):
                self._assign(each, values[place] if values else value)
        elif isinstance(target, ast.Name):
            if root := self._root(value):
                self._lies[target.id] = root
            else:
                self._lies.pop(target.id, None)
        else:
            self._update(target)

    def _answer(self, node: ast.expr | None) -> Returned:
        root = self._root(node)
        # A part or a view of what is not changed is an answer like any other.
        if root and (isinstance(node, ast.Name) or root in self.updated):
            return Returned(root, is_same=True)
        return Returned(node.id if isinstance(node, ast.Name) and node.id in self.takes else "")

    def _root(self, node: ast.expr | None) -> str:
        """The argument in whose memory an expression lies; "" for none."""
        while node is not None:
            if isinstance(node, ast.Name):
                return self._lies.get(node.id, "")
            if isinstance(node, ast.Attribute | ast.Subscript):
                node = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                own = node.func.attr in VIEWS or _changes(node.func.attr)
                node = node.func.value if own else None
            else:
                node = None
        return ""

    def _update(self, node: ast.expr | None) -> None:
        for each in node.elts if isinstance(node, ast.Tuple | ast.List) else [node]:
            if root := self._root(each):
                self.updated.add(root)

    def _call(self, node: ast.Call) -> None:
        """Note what a call changes: `x.add_(…)`, `torch.relu_(x)`, `out=x`, or in its own body."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        given = {one.arg: one.value for one in node.keywords}
        first = node.args[0] if node.args else None
        if isinstance(node.func, ast.Attribute) and _changes(name):
            owner = node.func.value
            of_module = ast.unparse(owner).split(".")[0] in self._modules
            self._update(first if of_module else owner)
        if name == "copyto" or _is_true(given.get("inplace")):
            self._update(first)
        self._update(given.get("out"))
        called = self._functions.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if called is not None and self._deepest:
            inner = Effects(called, self._tree, self._deepest - 1)
            pairs = [*zip(inner.takes, node.args, strict=False), *given.items()]
            for taken, value in pairs:
                if taken in inner.updated:
                    self._update(value)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements in a statement's body, or in what handles its exceptions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, BRANCHES):
            yield from _statements(child)


def _changes(name: str) -> bool:
    """Whether a function of this name changes a tensor, as torch names them."""
    return name.endswith("_") and not name.endswith("__") and name != "requires_grad_"


def is_none(node: ast.expr | None) -> bool:
    """Whether nothing is said, or None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def answer_places(
    returned: Sequence[Returned], written: Sequence[str], updated: Collection[str]
) -> tuple[str | None, ...] | None:
    """Where each answer belongs: an argument, "" for nowhere, None for an output of its own.

    written: arguments that a call writes, in order. updated: those of them that the reference
    changes by itself, so that an answer in their memory is judged there. The others become what is
    returned, by name or in order. None in the place of all where it cannot be told.
    """
    places: list[str | None] = []
    for one in returned:
        if one.is_same and one.argument in updated:
            places.append("")
        elif one.argument in written and one.argument not in (*updated, *places):
            places.append(one.argument)
        else:
            places.append(None)
    left = [name for name in written if name not in updated and name not in places]
    count = places.count(None)
    if not count or not left:
        return tuple(places)
    order = iter(left)
    whole = count == len(left)
    return tuple(next(order) if one is None else one for one in places) if whole else None


def require_places(
    reference: ReferenceCode, args: Sequence[DraftArg], assumed: list[str]
) -> tuple[str | None, ...]:
    """`answer_places` of a reference. Raises DraftError."""
    written = [arg.name for arg in args if arg.is_written]
    held = [arg.name for arg in args if arg.role is Role.IN_PLACE]
    returned = reference.returned if reference.returns else ()
    places = answer_places(returned, written, reference.updates)
    if places is None:
        raise DraftError(
            "reference",
            f"{reference.name} returns {len(returned)} answers; which is for "
            f"{', '.join(written)}? accepted: one for each that a call writes, in their order or "
            "returned by their names, or a reference that updates them as a call does",
        )
    if become := [name for name in held if name in places]:
        assumed.append(f"What the reference returns is what {', '.join(become)} becomes.")
    return places


def called_like(reference: ReferenceCode, names: Mapping[str, str]) -> ReferenceCode:
    """What it updates and returns by the kernel's names. names: the kernel's, by its own."""
    return replace(
        reference,
        updates=frozenset(names.get(name, name) for name in reference.updates),
        returned=tuple(
            one._replace(argument=names.get(one.argument, one.argument))
            for one in reference.returned
        ),
    )
