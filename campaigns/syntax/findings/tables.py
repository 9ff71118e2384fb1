"""Tables of answers: what calls store, and later calls find by what their inputs hold.

A name that outlives a call is one if elements of it are read at places that depend on the contents
of inputs, functions write to it, and none of the writes makes it new: each stands under a condition
on what is kept, or at a place that depends on inputs or on what is kept. So a workspace, a handle,
a pool of threads and a choice by size are none. Whatever an expression mentions it may depend on,
and one name is one thing everywhere in a source.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

Names = frozenset[str]
NONE: Names = frozenset()
TAKES = ("value", "alias")
KEEPS = "keeps answers from call to call"
# What a tensor says without its contents, and what makes something of sizes.
SIZES = ("shape", "dtype", "device", "numel", "size", "stride", "ndim", "element_size", "is_cuda")
MADE = ("empty", "zeros", "ones", "full", "arange", "linspace", "cdiv", "next_power_of_2")
# What sets all of a tensor or container, what stores an element, and what looks one up.
ANEW = ("zero_", "fill_", "copy_", "clear")
STORING = ("index_put_", "scatter_", "index_copy_", "masked_scatter_", "store")
FINDING = ("load", "get", "setdefault", "take", "gather", "index_select")
# Their functions have a tensor or a pointer first, where its methods have it before the dot.
MODULES = ("tl", "torch")


class Use(NamedTuple):
    """One thing that a source does with a name.

    An "input" is given contents. A "value" or an "alias" takes from `names` what it holds or what
    it is. A "read" or "write" is of an element: `names` say of which one, `under` are the names in
    the conditions above it.
    """

    kind: str
    name: str
    names: Names = NONE
    under: Names = NONE


def tables(uses: Iterable[Use], kept: Collection[str]) -> list[str]:
    """The kept names that are tables of answers."""
    uses = list(uses)
    data = _spread({use.name for use in uses if use.kind == "input"}, uses)
    aliases = [use for use in uses if use.kind == "alias"]
    found = []
    for name in kept:
        own = _spread({name}, aliases)
        writes = [use for use in uses if use.kind == "write" and use.name in own]
        looked_up = any(u.kind == "read" and u.name in own and u.names & data for u in uses)
        state = own.union(kept)
        if (
            looked_up
            and writes
            and all(w.names & (data | state) or w.under & state for w in writes)
        ):
            found.append(name)
    return found


def _spread(known: set[str], uses: list[Use]) -> set[str]:
    while more := {use.name for use in uses if use.names & known and use.kind in TAKES} - known:
        known |= more
    return known


def uses_in_python(tree: ast.Module) -> Iterator[Use]:
    """Everything that `tables` asks of a source."""
    reader = _Uses(tree)
    for function in reader.bodies.values():
        yield from reader.uses(function, function.name, NONE)


class _Uses:
    def __init__(self, tree: ast.Module) -> None:
        nodes = [*ast.walk(tree)]
        self.bodies = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
        stored = (n for line in tree.body for n in ast.walk(line) if isinstance(line, ast.Assign))
        self._top = {n.id for n in stored if isinstance(n, ast.Name)}
        self._top |= {n.asname or n.name for n in nodes if isinstance(n, ast.alias)}

    def uses(self, node: ast.AST, function: str, under: Names) -> Iterator[Use]:
        match node:
            case ast.Subscript():
                kind = "read" if isinstance(node.ctx, ast.Load) else "write"
                yield Use(kind, _root(node), self._names(node.slice), under)
            case ast.Call():
                yield from self._called(node, under)
            case ast.Return(value=ast.expr() as value):
                yield from self._taken(function, value)
            case ast.Assign(value=value):
                nodes = (each for target in node.targets for each in ast.walk(target))
                stored = (n for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store))
                for each in stored:
                    yield from self._taken(_root(each), value)
            case ast.If(test=test):
                under |= self._names(test)
        for child in ast.iter_child_nodes(node):
            yield from self.uses(child, function, under)

    def _called(self, node: ast.Call, under: Names) -> Iterator[Use]:
        name, method = _root(node.func), getattr(node.func, "attr", "")
        if name in self.bodies:
            parameters = (arg.arg for arg in self.bodies[name].args.args)
            for parameter, value in zip(parameters, node.args, strict=False):
                yield from self._taken(parameter, value)
        elif method and method not in SIZES + MADE:
            base = _root(node.args[0] if node.args and name in MODULES else node.func)
            places = [] if method in ANEW else node.args[: 1 if name == "tl" else None]
            names = self._names(*places) - {base}
            if name != "tl" or method == "load":
                # Numbers have no methods, and nothing is loaded from them.
                yield from (Use("input", each) for each in {base} - self._top)
            if method in (*ANEW, *STORING):
                yield Use("write", base, names, under)
            elif method in FINDING:
                yield Use("read", base, names, under)

    def _taken(self, name: str, value: ast.expr) -> Iterator[Use]:
        yield Use("value", name, self._names(value))
        yield Use("alias", name, self._names(value) & {_root(value)})

    def _names(self, *nodes: ast.AST) -> Names:
        """The names whose contents nodes use; what functions are given their parameters take."""
        found: Names = NONE
        for node in nodes:
            called = getattr(node, "func", None)
            attribute = getattr(node, "attr", getattr(called, "attr", ""))
            inner: Iterable[Any] = (
                ast.iter_child_nodes(node) if attribute not in SIZES + MADE else ()
            )
            if _root(called) in self.bodies:
                inner = [called]
            found |= self._names(*inner) | ({node.id} if isinstance(node, ast.Name) else NONE)
        return found


def _root(node: object) -> str:
    """`a` of `a.b[c].d(e) + f`."""
    for name in ("value", "func", "left"):
        if isinstance(inner := getattr(node, name, None), ast.expr):
            return _root(inner)
    return str(getattr(node, "id", ""))
