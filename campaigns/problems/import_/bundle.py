"""Kernels that import from their own repository: what they need of it is put into their file.

A candidate is one file. Nothing is imported here; other files are read, and parts of them copied.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from campaigns.evaluator.contract.origins import mark, marked, origins
from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.read_sources import (
    bound_by,
    first_line,
    inner_statements,
    names_in,
    needed_by,
    parsed,
    runs_at_import,
)
from campaigns.syntax.c_parts import OWN_HEADER

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>).*$', re.MULTILINE)
ON_WINDOWS = re.compile(r"[ \t]*#[ \t]*if.*\b_WIN")
# How many imports after one another, and folders above the kernel, are followed.
DEEPEST = 6
HIGHEST = 8
FUTURE = "from __future__ import annotations\n"
# Modules that `import torch` does not load, though something loaded them where the kernel ran.
OF_TORCH = ("torch.distributed.tensor", "torch.utils.cpp_extension", "torch.utils.benchmark")
ONLY_NAMES = (
    "accepted: functions, classes and constants of its own package, imported by name. Put what is "
    "used of it into the file"
)


def bundled(path: Path, text: str, *names: str) -> str:
    """The same source with the parts that it needs of files beside it in their place.

    names: what of a Python file is wanted; what else is in it is left out as soon as anything is
    taken of other files. Of those what is imported is taken, of C++ and CUDA the included files.
    Raises DraftError, OSError.
    """
    if path.suffix != ".py":
        return _Included(path).put_into(path, text)
    own = _imports(parsed(text, path.name).body)
    return _python(path, text, names, DEEPEST) if any(_files(path, node) for node in own) else text


def _python(path: Path, text: str, names: Iterable[str], depth: int) -> str:
    text = _of_module(text, path.name, *names)
    lines, known = text.splitlines(keepends=True), origins(text, path.name)
    body = parsed(text, path.name).body
    lazily = FUTURE in text
    for node in sorted(_imports(body), key=lambda one: one.lineno, reverse=True):
        found = _files(path, node) if depth else {}
        if found:
            read = set().union(*map(names_in, body), names)
            parts = [_part(place, wanted, read, depth) for place, wanted in found.items()]
            indent = " " * node.col_offset
            moved = "".join(parts).replace(FUTURE, "").splitlines(keepends=True) or ["pass\n"]
            lazily = lazily or any(FUTURE in part for part in parts)
            name, line = known[node.end_lineno or node.lineno]
            moved = [indent + line if line.strip() else line for line in moved]
            moved.append(f"{mark(line, name, '#')}\n")
            lines[node.lineno - 1 : node.end_lineno] = moved
    whole = _once("".join(lines))
    return FUTURE + whole.replace(FUTURE, "") if lazily else whole


def _once(text: str) -> str:
    """The same module with each statement once, though several files have it."""
    lines = text.splitlines(keepends=True)
    body = ast.parse(text).body
    sources = ["".join(lines[first_line(one) - 1 : one.end_lineno]) for one in body]
    binding: dict[str, set[str]] = {}
    for node, source in zip(body, sources, strict=True):
        for name in bound_by(node):
            binding.setdefault(name, set()).add(source)
    kept: set[str] = set()
    for node, source in zip(body, sources, strict=True):
        if source in kept and all(binding[name] == {source} for name in bound_by(node)):
            first, last = first_line(node) - 1, node.end_lineno or node.lineno
            lines[first:last] = [""] * (last - first)
        kept.add(source)
    return "".join(lines)


def _of_module(text: str, file: str, *names: str) -> str:
    """What these names need of a module, with how it reads annotations."""
    return (FUTURE if FUTURE in text else "") + needed_by(text, *names, file=file)


def _part(place: Path, wanted: Sequence[ast.alias], read: set[str], depth: int) -> str:
    """What is imported of one file, under the names that it is imported by.

    read: what an import of everything may be for. Raises DraftError.
    """
    own = place.read_text(encoding="utf-8", errors="replace")
    given = set().union(*map(bound_by, parsed(own, place.name).body))
    named = {one.name: one.asname or one.name for one in wanted}
    if "*" in named:
        return _python(place, own, read & given, depth - 1)
    for name in named.keys() - given if place.name == "__init__.py" else ():
        if place.with_name(name).is_dir() or place.with_name(f"{name}.py").is_file():
            raise DraftError(
                "kernel", f"{place.parent.name}.{name} is imported as a whole; {ONLY_NAMES}"
            )
    if missing := [] if "*" in given else sorted(named.keys() - given):
        raise DraftError(
            "kernel",
            f"{place.parent.name}/{place.name} gives {missing[0]} as no function, class or "
            f"constant; {ONLY_NAMES}",
        )
    again = [f"{new} = {old}\n" for old, new in named.items() if old != new]
    return "".join([_python(place, own, named, depth - 1), *again])


def _imports(body: list[ast.stmt]) -> Iterator[ast.ImportFrom]:
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _imports(inner_statements(node))


def _files(path: Path, node: ast.ImportFrom) -> dict[Path, list[ast.alias]]:
    """The files in the kernel's own tree of packages that an import takes something of."""
    place = _file_of(path, node)
    return {place: node.names} if place else {}


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


class _Included:
    """Puts the files that a C or CUDA file includes into it, each once.

    They lie where they are said to, or in a folder of the same git repository, of which the nearest
    above the kernel counts: a build would say which, and nothing is built here.
    """

    def __init__(self, path: Path) -> None:
        self._folder = path.resolve().parent
        self._seen = {path.resolve()}
        above = [self._folder, *self._folder.parents][:HIGHEST]
        root = next((n for n, one in enumerate(above) if (one / ".git").exists()), -1)
        self._above = above[: root + 1]

    def put_into(self, path: Path, text: str) -> str:
        name = path.name if path.resolve().parent == self._folder else self._called(path)

        def put(found: re.Match[str]) -> str:
            row = text.count("\n", 0, found.start()) + 1
            above = text[: found.start()].rstrip().rpartition("\n")[2]
            place = None if ON_WINDOWS.match(above) else self._place(path, found, f"{name}:{row}")
            if place is None:
                return found.group(0)
            if place in self._seen:
                return ""
            self._seen.add(place)
            own = place.read_text(encoding="utf-8", errors="replace").replace("#pragma once", "")
            marks = mark(1, self._called(place)), mark(row + 1, name)
            return f"{marks[0]}\n{self.put_into(place, own)}\n{marks[1]}"

        return INCLUDE.sub(put, text)

    def _called(self, place: Path) -> str:
        return os.path.relpath(place, self._folder)

    def _place(self, path: Path, found: re.Match[str], where: str) -> Path | None:
        """The file that is included; None for one that is not here. Raises DraftError."""
        name = found[1] or found[2]
        if found[1] and (beside := (path.parent / name).resolve()).is_file():
            return beside
        if found[2] and OWN_HEADER.fullmatch(name):
            return None
        for folder in self._above:
            near = [folder / name, *(one / name for one in folder.iterdir() if one.is_dir())]
            if len(there := sorted({one.resolve() for one in near if one.is_file()})) > 1:
                raise DraftError(
                    "kernel",
                    f"{where}: {name} could be {' or '.join(map(self._called, there[:2]))}; "
                    "accepted: a path from the file that includes it",
                )
            if there:
                return there[0]
        return None


def importable(text: str, file_name: str, *names: str) -> tuple[str, list[str]]:
    """A kernel's file that only defines, and what was left out of it, in words.

    names: of what in it is called. Raises DraftError for an import that these need and that is not
    installed.
    """
    said, name = [], ", ".join(names)
    if runs_at_import(text):
        text = _of_module(text, file_name, *names)
        said.append(f"What {file_name} does when it is imported is left out.")
    try:
        _require_here(text, file_name)
    except DraftError:
        text = _of_module(text, file_name, *names)
        _require_here(text, file_name)
        said.append(f"Of {file_name} what {name} does not need is left out.")
    # Modules of torch's that it uses as if torch had imported them.
    used = [one for one in OF_TORCH if f"{one}." in text and f"import {one}" not in text]
    added = "".join(f"import {one}\n" for one in used)
    text = marked(text, file_name, "#") if "\n# line " in f"\n{text}" else text
    return f"{text.rstrip()}\n\n\n{added}" if used else text, said


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
            top = module.split(".")[0]
            # One of the kernel's own packages, "", is not installed.
            known = top in sys.stdlib_module_names
            if not known and (not top or importlib.util.find_spec(top) is None):
                raise DraftError(
                    "kernel",
                    f"{file_name}: needs {taken}{module}, which is not installed; accepted: torch, "
                    "triton and Python's own modules. Put what is used of it into the file, or "
                    "give `problem new` the file in its repository",
                )
