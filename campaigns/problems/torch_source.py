"""The source of a reference implementation: what torch makes of a problem's own reference.

Of ref.py it holds what `reference` needs and no more: the inputs and their seeds stay with the
judge.
"""

from __future__ import annotations

import ast

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.programs import ENTRY
from campaigns.problems.import_.read_sources import needed_by, parameters

REFERENCE = "reference"


class NoSource(ValueError):
    """Why there is no such implementation of a problem; one line for people."""


def eager_source(ref: str) -> Source:
    """The reference as torch runs it, one operation after the other. Raises NoSource."""
    _reference_in(ref)
    return Source("eager.py", f"{_needed(ref)}{ENTRY} = {REFERENCE}\n")


def compiled_source(ref: str, mode: str = "") -> Source:
    """The reference through torch.compile, for each shape anew. Raises NoSource.

    mode: as torch.compile takes it; "" is its default.
    """
    _reference_in(ref)
    options = f"dynamic=False, mode={mode!r}" if mode else "dynamic=False"
    made = f"import torch\n\n{ENTRY} = torch.compile({REFERENCE}, {options})\n"
    return Source("compiled.py", f"{_needed(ref)}{made}")


def library_source(ref: str, call: str) -> Source:
    """The call that problem.toml names as the library's kernel. Raises NoSource."""
    if not call:
        raise NoSource("problem.toml names no `library`")
    names = ", ".join(name for name, _ in parameters(_reference_in(ref).args))
    text = f"import torch\n\n\ndef {ENTRY}({names}):\n    {call}\n"
    return Source("library.py", text)


def _needed(ref: str) -> str:
    return f"{needed_by(ref, REFERENCE)}\n\n"


def _reference_in(ref: str) -> ast.FunctionDef:
    try:
        body = ast.parse(ref).body
    except SyntaxError as error:
        raise NoSource(f"ref.py:{error.lineno}: {error.msg}") from None
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == REFERENCE:
            return node
    raise NoSource(f"ref.py defines no function {REFERENCE} of its own")
