"""The source as the architecture tests see it: files, syntax trees and who imports whom."""

import ast
import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ("kopt", "knowledge", "campaigns")
# Ours, but measured data rather than parts of the program: each problem folder is loaded by path.
PROBLEMS = "campaigns/problems/"
# Not parts of the program either: candidates that try to deceive the judge, and their problems.
CANDIDATES = "campaigns/benchmarks/tricks/"


@dataclass(frozen=True)
class Module:
    """One Python file: `path` relative to the root, dotted `name`, text and syntax tree."""

    path: str
    name: str
    text: str
    tree: ast.Module

    @property
    def imports(self) -> Iterator[tuple[int, str]]:
        """Line and dotted name of everything imported, also late and for type checking only."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


class Tree:
    """All Python of the three apps and the tools under `root`."""

    def __init__(self, root: Path = ROOT):
        self.root = root
        found = [_module(root, path) for path in self.files(".py")]
        ours = [m for m in found if m.path.startswith((*(f"{app}/" for app in APPS), "tools/"))]
        self.modules = {m.name: m for m in ours if _is_program(m)}

    def files(self, *suffixes: str) -> Iterator[Path]:
        for folder, inner, names in os.walk(self.root):
            inner[:] = sorted(n for n in inner if _is_ours(n))
            paths = (Path(folder, name) for name in sorted(names) if name != ".git")
            yield from (path for path in paths if path.suffix in suffixes or not suffixes)

    @property
    def program(self) -> list[Module]:
        """The modules of the program, without the kernels and references of the problems."""
        return [m for m in self.modules.values() if not _is_problem_file(m)]

    def _named(self, dotted: str) -> str:
        """The module that `dotted` lies in if it is ours, else `dotted` itself."""
        parts = dotted.split(".")
        for end in range(len(parts), 0, -1):
            if (name := ".".join(parts[:end])) in self.modules:
                return name
        return dotted

    @functools.cached_property
    def arrows(self) -> dict[str, set[str]]:
        """For each module, what loading it loads: its imports and the packages around them."""
        return {module.name: self._loads(module) for module in self.program}

    def _loads(self, module: Module) -> set[str]:
        targets = {self._named(dotted) for _, dotted in module.imports} | {module.name}
        parents = {package for target in targets for package in _packages(target)}
        return (targets | (parents & self.modules.keys())) - {module.name}

    def reaches(self, start: str) -> dict[str, tuple[str, ...]]:
        """Everything loaded by `start`, also indirectly, each with the chain that leads there."""
        chains: dict[str, tuple[str, ...]] = {start: (start,)}
        queue = [start]
        while queue:
            name = queue.pop()
            for target in sorted(self.arrows.get(name, ())):
                if target not in chains:
                    chains[target] = (*chains[name], target)
                    queue.append(target)
        del chains[start]
        return chains


def _module(root: Path, path: Path) -> Module:
    relative = path.relative_to(root)
    parts = relative.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    text = path.read_text()
    return Module(relative.as_posix(), name, text, ast.parse(text))


def _packages(dotted: str) -> Iterator[str]:
    parts = dotted.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts)))


def _is_ours(folder: str) -> bool:
    return folder == ".ci" or not (folder.startswith(".") or folder in {"var", "__pycache__"})


def _is_program(module: Module) -> bool:
    return "/migrations/" not in module.path and not module.path.startswith(CANDIDATES)


def _is_problem_file(module: Module) -> bool:
    return module.path.startswith(PROBLEMS) and module.path.count("/") > PROBLEMS.count("/")
