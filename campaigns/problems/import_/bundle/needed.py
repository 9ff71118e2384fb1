"""The parts of a Python module that some of its names need, found without running it."""

from __future__ import annotations

import ast
import symtable


def needed_by(text: str, *names: str) -> str:
    """The statements at a module's top level that give these names, and what those need.

    An import of everything is kept: it may give any of them.
    """
    tree = ast.parse(text)
    binds = {node: bound_by(node) for node in tree.body}
    wanted, kept = {*names, "*"}, set()
    while more := {node for node in tree.body if node not in kept and binds[node] & wanted}:
        kept |= more
        wanted = wanted.union(*map(names_in, more))
    lines = text.splitlines()
    parts = ["\n".join(lines[first_line(n) - 1 : n.end_lineno]) for n in tree.body if n in kept]
    return "\n\n\n".join(parts) + "\n"


def names_in(node: ast.AST) -> set[str]:
    """The names at its module's top level that a statement reads; locals are none of them."""
    found: set[str] = set()
    tables = [symtable.symtable(ast.unparse(node), "<part>", "exec")]
    while tables:
        table = tables.pop()
        outside = table.get_type() == "module"
        found |= {
            one.get_name()
            for one in table.get_symbols()
            if one.is_referenced() and (outside or one.is_global())
        }
        tables += table.get_children()
    return found


def first_line(node: ast.stmt) -> int:
    marks: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in marks)])


def runs_at_import(text: str) -> bool:
    """Whether a module does something when it is imported, such as to test itself."""
    return any(
        isinstance(node, ast.Expr | ast.For | ast.While | ast.With | ast.Assert)
        and not isinstance(getattr(node, "value", None), ast.Constant)
        for node in ast.parse(text).body
    )


def bound_by(node: ast.stmt) -> set[str]:
    """The names that a statement at the top level gives a meaning."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).split(".")[0] for one in node.names}
    if isinstance(node, ast.AnnAssign):
        given = node.value is not None and isinstance(node.target, ast.Name)
        return {ast.unparse(node.target)} if given else set()
    if isinstance(node, ast.Assign):
        return {t.id for n in node.targets for t in ast.walk(n) if isinstance(t, ast.Name)}
    if isinstance(node, ast.If | ast.Try):
        return set().union(*map(bound_by, inner_statements(node)))
    return set()


def inner_statements(node: ast.If | ast.Try) -> list[ast.stmt]:
    """What a statement at the top level does in one case or another."""
    handled = [one for handler in getattr(node, "handlers", []) for one in handler.body]
    return [*node.body, *node.orelse, *handled, *getattr(node, "finalbody", [])]
