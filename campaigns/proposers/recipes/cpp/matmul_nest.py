"""Recognises a matrix product written as three counted loops in C++."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from campaigns.syntax.c_family import (
    Loop,
    counted_loop,
    functions,
    parse,
    pragma_before,
    statements,
    text_of,
)


@dataclass(frozen=True, slots=True)
class MatmulNest:
    """The outer loop and the names of matrices and sizes: C[m, n] = sum over k of A[m, k] B[k, n].

    parallel: the pragma that stands before the outer loop, if any.
    """

    outer: Node
    left: str
    right: str
    product: str
    rows: str
    inner: str
    columns: str
    parallel: str


def recognise(text: str) -> MatmulNest | None:
    """Find the naive row-column-term nest in `solve`; None when the source is anything else."""
    root = parse(text)
    solve = functions(root).get("solve") if root is not None else None
    body = solve.child_by_field_name("body") if solve is not None else None
    parts = statements(body) if body is not None else []
    loops = [node for node in parts if node.type == "for_statement"]
    if len(loops) != 1 or any(n.type not in ("for_statement", "preproc_call") for n in parts):
        return None
    return _naive(loops[0])


def _unit(node: Node) -> Loop | None:
    loop = counted_loop(node) if node.type == "for_statement" else None
    return loop if loop is not None and (loop.start, loop.step) == ("0", "1") else None


def _naive(outer: Node) -> MatmulNest | None:
    rows = _unit(outer)
    middle = statements(rows.body) if rows is not None else []
    columns = _unit(middle[0]) if len(middle) == 1 else None
    parts = statements(columns.body) if columns is not None else []
    terms = _unit(parts[1]) if len(parts) == 3 else None
    if rows is None or columns is None or terms is None or len(statements(terms.body)) != 1:
        return None
    squeezed = [re.sub(r"\s", "", text_of(node)) for node in (parts[0], terms.body, parts[2])]
    i, j, k = rows.variable, columns.variable, terms.variable
    pattern = (
        rf"float(?P<s>\w+)=0(\.0?f?)?;\|\{{?(?P=s)\+=(?P<a>\w+)\[{i}\*{terms.stop}\+{k}\]\*"
        rf"(?P<b>\w+)\[{k}\*{columns.stop}\+{j}\];\}}?\|"
        rf"(?P<c>\w+)\[{i}\*{columns.stop}\+{j}\]=(?P=s);"
    )
    found = re.fullmatch(pattern, "|".join(squeezed))
    if found is None:
        return None
    names = (found["a"], found["b"], found["c"], rows.stop, terms.stop, columns.stop)
    return MatmulNest(outer, *names, pragma_before(outer).strip())
