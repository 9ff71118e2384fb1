"""Kernels that import from their own repository: what they need of it is put into their file.

A candidate is one file. Nothing is imported here; other files are read, and parts of them copied.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.read_sources import (
    inner_statements,
    needed_by,
    parsed,
    runs_at_import,
)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)".*$', re.MULTILINE)
# How many imports after one another, and folders above the kernel, are followed.
DEEPEST = 6
HIGHEST = 8


def bundled(path: Path, text: str) -> str:
    """The same source with the parts that it needs of files beside it in their place.

    Of Python the functions that are imported by name, of C++ and CUDA the included files.
    Raises DraftError, OSError.
    """
    if path.suffix == ".py":
        return _python(path, text, DEEPEST)
    return _included(path, text, {path.resolve()})


def _python(path: Path, text: str, depth: int) -> str:
    lines = text.splitlines(keepends=True)
    for node in reversed(list(_imports(parsed(text, path.name).body))):
        place = _file_of(path, node) if depth else None
        if place is not None:
            own = _python(place, place.read_text(encoding="utf-8", errors="replace"), depth - 1)
            named = {one.name: one.asname or one.name for one in node.names}
            part = own if "*" in named else needed_by(own, *named)
            again = [f"{new} = {old}\n" for old, new in named.items() if old != new]
            added = "".join([part, *again])
            indent = " " * node.col_offset
            moved = [indent + line if line.strip() else line for line in added.splitlines(True)]
            lines[node.lineno - 1 : node.end_lineno] = moved
    return "".join(lines)


def _imports(body: list[ast.stmt]) -> Iterator[ast.ImportFrom]:
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from sorted(_imports(inner_statements(node)), key=lambda one: one.lineno)


def _file_of(path: Path, node: ast.ImportFrom) -> Path | None:
    """The file of a module in the kernel's own tree of packages; None for any other."""
    parts = (node.module or "").split(".") if node.module else []
    above = path.resolve().parents
    starts = [above[node.level - 1]] if node.level else above[:HIGHEST]
    for start in starts:
        for found in (
            start.joinpath(*parts).with_suffix(".py"),
            start.joinpath(*parts, "__init__.py"),
        ):
            if parts and found.is_file() and found != path.resolve():
                return found
    return None


def _included(path: Path, text: str, seen: set[Path]) -> str:
    def put(found: re.Match[str]) -> str:
        place = (path.parent / found.group(1)).resolve()
        if not place.is_file():
            return found.group(0)
        if place in seen:
            return ""
        seen.add(place)
        return _included(place, place.read_text(encoding="utf-8", errors="replace"), seen).replace(
            "#pragma once", ""
        )

    return INCLUDE.sub(put, text)


def importable(text: str, file_name: str, name: str) -> tuple[str, list[str]]:
    """A kernel's file that only defines, and what was left out of it, in words.

    name: of what in it is called. Raises DraftError for an import that `name` needs and that is not
    installed.
    """
    said = []
    if runs_at_import(text):
        text = needed_by(text, name)
        said.append(f"What {file_name} does when it is imported is left out.")
    try:
        _require_here(text, file_name)
    except DraftError:
        text = needed_by(text, name)
        _require_here(text, file_name)
        said.append(f"Of {file_name} what {name} does not need is left out.")
    return text, said


def _require_here(text: str, file_name: str) -> None:
    """Raise DraftError for a module that a kernel imports and that is not installed."""
    for node in parsed(text, file_name).body:
        if isinstance(node, ast.Import):
            imported = [("", one.name) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            taken = ", ".join(one.name for one in node.names)
            imported = [(f"{taken} of ", f"{'.' * node.level}{node.module or ''}")]
        else:
            continue
        for taken, module in imported:
            if not _is_here(module.split(".")[0]):
                raise DraftError(
                    "kernel",
                    f"{file_name}: needs {taken}{module}, which is not installed; accepted: torch, "
                    "triton and Python's own modules. Put what is used of it into the file, or "
                    "give `problem new` the file in its repository",
                )


def _is_here(top: str) -> bool:
    """Whether a package is installed; one of the kernel's own, "", is not."""
    known = top in sys.stdlib_module_names
    return known or (bool(top) and importlib.util.find_spec(top) is not None)
