"""Recognises the plain Triton kernels that recipes can rewrite, from their syntax tree."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from campaigns.syntax.triton_source import Kernel, Launch, TritonSource, code, read_triton

READS = frozenset(("tl.program_id", "tl.arange", "tl.load", "tl.store"))
MATHS = {
    "softmax": frozenset(("tl.exp", "tl.max", "tl.sum", "float")),
    "layernorm": frozenset(("tl.sum", "tl.where", "tl.rsqrt", "tl.sqrt", "range")),
    "vector_add": frozenset[str](),
    "matmul": frozenset(("tl.zeros", "tl.dot", "range", "tl.cdiv", "min")),
}
NEEDED = {
    "softmax": {"tl.exp", "tl.max", "tl.sum"},
    "layernorm": {"tl.sum"},
    "vector_add": {"tl.load"},
    "matmul": {"tl.dot"},
}


def read_plain(text: str, op: str) -> tuple[TritonSource, Kernel, Launch] | None:
    """The one kernel and launch of a source that computes `op` in the plain way, else None."""
    source = read_triton(text)
    if source is None or len(source.kernels) != 1 or len(source.launches) != 1 or op not in MATHS:
        return None
    kernel, launch = next(iter(source.kernels.values())), source.launches[0]
    calls = calls_of(kernel)
    if launch.kernel != kernel.name or calls - READS - MATHS[op] or not NEEDED[op] <= calls:
        return None
    return source, kernel, launch


def calls_of(kernel: Kernel) -> set[str]:
    """The names of everything that the kernel calls."""
    found = m.findall(kernel.node.body, m.Call())
    return {code(call.func) for call in found if isinstance(call, cst.Call)}


def program_ids(kernel: Kernel) -> dict[int, str]:
    """Variables that hold a program's own number, by grid axis."""
    found: dict[int, str] = {}
    for node in m.findall(kernel.node.body, m.Assign(value=m.Call())):
        assign = cst.ensure_type(node, cst.Assign)
        call = cst.ensure_type(assign.value, cst.Call)
        if code(call.func) == "tl.program_id" and len(call.args) == 1:
            axis = code(call.args[0].value)
            if axis.isdigit():
                found[int(axis)] = code(assign.targets[0].target)
    return found


def loops(kernel: Kernel) -> bool:
    """Whether the kernel walks over its data in loops."""
    return bool(m.findall(kernel.node.body, m.For() | m.While()))


def row_per_program(kernel: Kernel, launch: Launch) -> bool:
    """Whether each program takes one whole row: a grid of N, and no block of two dimensions."""
    return launch.grid.replace(" ", "") == "(N,)" and "[:, None]" not in code(kernel.node.body)
