"""Print what one module loads of ours, with its lines: all that must be read to audit it.

python -m tools.closure campaigns.evaluator.judge.main
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.shape import APPS, ROOT

JUDGE = "campaigns.evaluator.judge.main"


def closure_lines(entry: str, root: Path = ROOT) -> dict[str, int]:
    """Lines by module of `entry` and of whatever it imports of ours, at its top or in a function.

    What is imported for types alone is not loaded, so it is left out.
    """
    found: dict[str, int] = {}
    left = [entry]
    while left:
        name = left.pop()
        path = _file(root, name)
        if name in found or path is None:
            continue
        text = path.read_text()
        found[name] = text.count("\n")
        # Packages on the way to a module are loaded before it.
        left += [*_imported(ast.parse(text), name, path), name.rpartition(".")[0]]
    return found


def _file(root: Path, name: str) -> Path | None:
    """The file of a module or a package of ours; None for any other name."""
    if name.partition(".")[0] not in APPS:
        return None
    base = root.joinpath(*name.split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _imported(tree: ast.Module, name: str, path: Path) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _loaded(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package.split(".")[: len(package.split(".")) - node.level + 1]
            whole = ".".join([*(start if node.level else ()), *filter(None, [node.module])])
            yield whole
            yield from (f"{whole}.{alias.name}" for alias in node.names)


def _loaded(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that can run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _loaded(child)


def printed(lines: Mapping[str, int]) -> Iterator[str]:
    """The modules from the largest down, then the sums; empty packages are not named."""
    named = {name: size for name, size in lines.items() if size}
    for name, size in sorted(named.items(), key=lambda item: -item[1]):
        yield f"{size:5} {name}"
    yield f"{sum(named.values()):,} lines in {len(named)} modules"


if __name__ == "__main__":
    print(*printed(closure_lines(*(sys.argv[1:] or [JUDGE]))), sep="\n")
