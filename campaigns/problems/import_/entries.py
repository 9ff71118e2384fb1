"""The file of a kernel with a `run_kernel` that takes the problem's arguments by name.

A candidate in the form in which the kernel was brought is given what was added to that one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.origins import marked
from campaigns.evaluator.contract.programs import ENTRY
from campaigns.evaluator.contract.signature import ENTRY as SOLVE
from campaigns.evaluator.contract.signature import function_names
from campaigns.problems.import_.bundle import bundled, importable
from campaigns.problems.import_.c_entry import as_cpp
from campaigns.problems.import_.draft import ADDED, FLOAT8, DraftArg, DraftError, Role
from campaigns.problems.import_.read_sources import (
    PythonEntry,
    bound_by,
    is_jitted,
    names_in,
    parsed,
)
from campaigns.syntax.c_parts import MAIN, needed_for


def plain_names(text: str, file_name: str) -> set[str]:
    """The functions and classes of a module, without kernels and tests. Raises DraftError."""
    return {
        node.name
        for node in parsed(text, file_name).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not (isinstance(node, ast.FunctionDef) and is_jitted(node))
        and not node.name.startswith("test")
    }


def wrapped(
    text: str, entry: PythonEntry, args: Sequence[DraftArg], *, is_short: bool = False
) -> str:
    """A kernel's file with a `run_kernel` that takes the problem's arguments by name.

    is_short: whether the reference may answer in a float8, which is handed over as its bits.
    """
    listed = [arg.name for arg in args if arg.role is Role.OUTPUT]
    outputs = [name for name in listed if entry.returns and name not in entry.takes]
    own = [arg.name for arg in args if arg.name not in outputs]
    short = {arg.name: arg.dtype for arg in args if arg.dtype in FLOAT8}
    as_bits = entry.returns and is_short
    more = entry.returns and entry.answers > len(outputs)
    if entry.name == ENTRY and not (entry.fixed or short or as_bits or more):
        return text
    inner = entry.name if entry.name != ENTRY else "_returning"
    lines = [text.rstrip("\n"), "", "", f"# {ADDED}"]
    if entry.is_module:
        inner = "_module"
        lines += [f"_module = {entry.name}({entry.made_with})", "", ""]
    if entry.name == ENTRY:
        lines += [f"_returning = {ENTRY}", "", ""]
    lines += [*_bits(text), ""] if as_bits or short else []
    lines += [f"def {ENTRY}({', '.join(own)}):"]
    lines += [f"    {n} = {n}.view({_torch(text)}.{kind})" for n, kind in short.items()]
    pairs = [*((name, name) for name in own if name in entry.takes), *entry.fixed]
    by_name = ", ".join(f"{name}={source}" for name, source in pairs)
    call = _applied(entry, own) if entry.applied else f"{inner}({by_name})"
    if more:
        lines.append(f"    answers = {call}")
        taken = entry.taken or range(len(outputs))
        call = ", ".join(f"answers[{number}]" for number in taken)
        call = f"({call})" if len(outputs) > 1 else call
    if as_bits:
        call = f"_bits({call})" if len(outputs) == 1 else f"tuple(map(_bits, {call}))"
    lines += [f"    {'return ' if entry.returns else ''}{call}", ""]
    return "\n".join(lines)


def adapted(name: str, text: str, first: str, path: Path | None = None) -> str:
    """A candidate with what was added to the first kernel, where it lacks that as the file did.

    name: of the candidate's file. first: the source of the problem's first kernel. path: of the
    candidate on this host; what it needs of files beside it is put into it. Raises DraftError,
    OSError.
    """
    is_python = name.endswith(".py")
    head, mark, _ = first.partition(f"{'#' if is_python else '//'} {ADDED}")
    added = first[len(head) :]
    if not mark:
        return text
    if is_python:
        try:
            bound = set().union(*map(bound_by, ast.parse(text).body))
        except (SyntaxError, ValueError):
            return text
        wanted = names_in(ast.parse(added)) & bound
        if ENTRY in bound or not wanted:
            return text
        whole = bundled(path, text, *wanted) if path else text
        return f"{importable(whole, name, *wanted)[0].rstrip()}\n\n\n{added}"
    try:
        defined = function_names(text, name).keys()
    except BuildFailed as error:
        raise DraftError("candidate", str(error)) from None
    if SOLVE in defined or not defined & {*re.findall(r"\w+", added)}:
        return text
    whole = as_cpp(bundled(path, text) if path else text, name)
    needed, _ = needed_for(SOLVE, f"{whole.rstrip()}\n\n{added}", name)
    return marked(needed, name, at_start=False)


def called_after(entry: str, text: str, file_name: str) -> str:
    """The function that is asked for, where its file has several; else "", as of a kernel alone."""
    if file_name.endswith(".py"):
        body = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
        names = {one.name for one in body if not is_jitted(one)}
    else:
        names = {*function_names(text, file_name)} - {MAIN}
    asked = re.match(r"\w*", entry.strip())
    return asked[0] if asked and asked[0] in names and len(names) > 1 else ""


def _torch(text: str) -> str:
    """What a kernel's file calls torch by, where a float8 is named: with Triton not by its name.

    A float8 of torch that a file names says nothing of its kernels, so that Triton's interpreter,
    which computes it wrongly, would judge them. By this name it counts as the kernel's own.
    """
    return "_torch" if "triton" in text else "torch"


def _bits(text: str) -> list[str]:
    torch = _torch(text)
    kinds = ", ".join(f"{torch}.{kind}" for kind in FLOAT8)
    return [
        *([f"import torch as {torch}", "", ""] if torch != "torch" else []),
        "def _bits(one):",
        f"    return one.view({torch}.uint8) if one.dtype in ({kinds}) else one",
        "",
    ]


def _applied(entry: PythonEntry, own: Sequence[str]) -> str:
    """A call of an autograd.Function, which takes no arguments by name. Raises DraftError."""
    fixed = dict(entry.fixed)
    defaults = dict(entry.defaults)
    last = max((entry.takes.index(name) for name in (*own, *fixed)), default=-1)
    given = []
    for name in entry.takes[: last + 1]:
        source = name if name in own else fixed.get(name, defaults.get(name))
        if source is None:
            raise DraftError("call", f"{name}: is needed: {entry.name}.apply takes it by position")
        given.append(source)
    return f"{entry.name}.apply({', '.join(given)})"
