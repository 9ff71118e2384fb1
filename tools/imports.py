"""Who imports whom: the folders that import each other, and all that a module brings along."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

Graph = Mapping[str, frozenset[str]]
"""A module's path to the paths of the modules of ours that it imports, here or in a function."""


def graph(trees: Mapping[str, ast.Module]) -> Graph:
    """The imports among `trees` (path to syntax tree), those for type checkers left out."""
    imported = importer(trees)
    return {path: imported(path, tree) for path, tree in trees.items()}


def importer(among: Collection[str]) -> Callable[[str, ast.Module], frozenset[str]]:
    """What gives the paths among these that the module at a path, with its tree, imports."""
    paths = {_dotted(path): path for path in among}

    def imported(path: str, tree: ast.Module) -> frozenset[str]:
        found = (_found(name, paths) for name in _imported(tree.body))
        return frozenset(target for target in found if target and target != path)

    return imported


def ties(found: Graph) -> list[str]:
    """The pairs of folders that import each other, `a <-> b`, each named once."""
    arrows = {(_folder(path), _folder(other)) for path, others in found.items() for other in others}
    return sorted(f"{a} <-> {b}" for a, b in arrows if a < b and (b, a) in arrows)


def closure(imported: Callable[[str], Iterable[str]], start: str) -> set[str]:
    """The path `start` and all that it imports by `imported`, directly or through others."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(imported(path))
    return seen


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _imported(body: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from _imported(statement.orelse)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _found(name: str, paths: Mapping[str, str]) -> str | None:
    """The module that `name` means: itself, or the one that defines its last word."""
    return paths.get(name) or paths.get(name.rpartition(".")[0])
