"""Format a source before it is committed (R55), where that changes only its layout.

What was measured stays the candidate's own text. A formatted one is committed in its place only
when both have the same syntax tree, so that nothing has to be measured again; else the own text is,
with the reason.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tree_sitter import Node

from campaigns.syntax.c_family import parse

LIMIT_S = 20.0
C_FAMILY = {".cpp": False, ".cc": False, ".h": False, ".cu": True, ".cuh": True, ".hip": True}
# Nothing reorders lines or splits strings; the style is given, so that no file of it is read.
C_STYLE = "{BasedOnStyle: LLVM, ColumnLimit: 100, SortIncludes: false, BreakStringLiterals: false}"
C_FORMATTERS = (("clang-format", f"--style={C_STYLE}"),)
PYTHON_FORMATTERS = (
    ("ruff", "format", "--isolated", "--no-cache", "--quiet", "-"),
    ("black", f"--config={os.devnull}", "--quiet", "-"),
)


class NotFormatted(Exception):
    """Why the text stays as it is, in one line."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """The text to commit. note: what was done to it, or why nothing was."""

    text: str
    note: str


def formatted(name: str, text: str) -> Formatted:
    """The text as a formatter of this host writes it, if it still means the same. Never raises."""
    suffix = PurePosixPath(name).suffix
    try:
        if suffix == ".py":
            program, new = _run(PYTHON_FORMATTERS, text)
            same = _python_tree(text) == _python_tree(new)
        elif suffix in C_FAMILY:
            program, new = _run(C_FORMATTERS, text)
            same = _c_tree(text, cuda=C_FAMILY[suffix]) == _c_tree(new, cuda=C_FAMILY[suffix])
        else:
            raise NotFormatted(f"no formatter for {suffix or 'a file without a suffix'}")
        if not same:
            raise NotFormatted(f"{program} would change the syntax tree")
    except NotFormatted as why:
        return Formatted(text, f"As it was measured, not formatted: {why}.")
    if new == text:
        return Formatted(text, f"As it was measured; {program} changes nothing.")
    return Formatted(new, f"Formatted by {program}; the syntax tree is that of what was measured.")


def _run(formatters: tuple[tuple[str, ...], ...], text: str) -> tuple[str, str]:
    """The first formatter that this host has, and what it made of the text."""
    # The programs of an environment are in the folder of its interpreter.
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    for name, *arguments in formatters:
        program = shutil.which(name, path=places)
        if program:
            return name, _answer(name, [program, *arguments], text)
    raise NotFormatted(f"this host has no {' or '.join(name for name, *_ in formatters)}")


def _answer(name: str, command: list[str], text: str) -> str:
    environment = {"PATH": os.defpath, "HOME": os.devnull, "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            capture_output=True,
            env=environment,
            cwd=os.sep,
            timeout=LIMIT_S,
            check=False,
        )
        new = done.stdout.decode()
    except subprocess.TimeoutExpired:
        raise NotFormatted(f"{name} was not done within {LIMIT_S:g} s") from None
    except OSError as error:
        raise NotFormatted(f"{name} does not run: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NotFormatted(f"{name} wrote no UTF-8") from None
    if done.returncode or not new.strip():
        raise NotFormatted(f"{name} refuses it (exit status {done.returncode})")
    return new


def _python_tree(text: str) -> str:
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotFormatted("it cannot be parsed as Python") from None


def _c_tree(text: str, *, cuda: bool) -> list[tuple[str, bytes]]:
    root = parse(text, cuda=cuda)
    if root is None:
        raise NotFormatted("it cannot be parsed as C++ or CUDA")
    return list(_flat(root))


def _flat(root: Node) -> Iterator[tuple[str, bytes]]:
    """Every node but comments in source order: its kind, and of a token also its text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "comment":
            continue
        yield node.type, b"" if node.children else node.text or b""
        waiting += reversed(node.children)
