"""Recognises how a CUDA source spreads its work, from its syntax tree."""

from __future__ import annotations

from enum import StrEnum

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.syntax.c_family import (
    counted_loop,
    functions,
    names_in,
    parameters,
    parse,
    text_of,
    walk,
)

ROWS = ("float*", "float*", "int", "int")
MATRICES = ("float*", "float*", "float*", "int", "int", "int")
NORMALISED = ("float*", "float*", "float*", "float*", "int", "int")
VECTORS = ("float*", "float*", "float*", "int")
SIGNATURES = {
    "softmax": ROWS,
    "layernorm": NORMALISED,
    "matmul": MATRICES,
    "vector_add": VECTORS,
}
CALLS = {
    "softmax": frozenset(("expf", "__expf", "fmaxf", "max")),
    "layernorm": frozenset(("rsqrtf", "sqrtf")),
    "matmul": frozenset(("fmaf",)),
    "vector_add": frozenset(("min",)),
}
NEEDED = {"softmax": ("expf", "__expf"), "layernorm": ("rsqrtf", "sqrtf")}


class Spread(StrEnum):
    """How the work is spread over threads."""

    THREAD_PER_ROW = "thread per row"
    BLOCK_PER_ROW = "block per row"
    THREAD_PER_OUTPUT = "thread per output"
    SHARED_TILE = "shared tile"
    THREAD_PER_VALUE = "thread per value"


def spread_of(source: Source, op: str) -> Spread | None:
    """How the one kernel of this source spreads `op`; None for anything not recognised."""
    root = parse(source.text, cuda=True)
    found = functions(root) if root is not None else {}
    kernels = [node for name, node in found.items() if "__global__" in text_of(node).split("(")[0]]
    if "solve" not in found or len(kernels) != 1 or op not in SIGNATURES:
        return None
    kinds = tuple(kind.removeprefix("const ") for kind, _ in parameters(found["solve"]))
    calls = {_plain_call(call) for call in walk(kernels[0], "call_expression")}
    helpers = set(found) | {"static_cast", "__syncthreads", "__shfl_xor_sync"}
    needed = NEEDED.get(op)
    if kinds != SIGNATURES[op] or calls - CALLS[op] - helpers:
        return None
    if needed is not None and not calls & set(needed):
        return None
    return _rows(kernels[0], found) if op in NEEDED else _elements(kernels[0], op)


def _plain_call(call: Node) -> str:
    return text_of(call.child_by_field_name("function")).split("<")[0]


def _rows(kernel: Node, found: dict[str, Node]) -> Spread | None:
    """Row kernels: three passes over global memory, by one thread or by one block."""
    text = text_of(kernel)
    loops = [counted_loop(node) for node in walk(kernel, "for_statement")]
    steps = [loop.step for loop in loops if loop is not None]
    shuffles = any("__shfl_xor_sync" in text_of(node) for node in found.values())
    if len(loops) != 3 or len(steps) != 3 or "float4" in text:
        return None
    if set(steps) == {"1"} and _global_index(kernel) and not shuffles:
        return Spread.THREAD_PER_ROW
    by_block = set(steps) == {"blockDim.x"} and not _global_index(kernel)
    return Spread.BLOCK_PER_ROW if by_block and shuffles else None


def _elements(kernel: Node, op: str) -> Spread | None:
    loops = list(walk(kernel, "for_statement"))
    shared = "__shared__" in text_of(kernel)
    if "float4" in text_of(kernel):
        return None
    if op == "vector_add":
        alone = not loops and not shared and _global_index(kernel)
        return Spread.THREAD_PER_VALUE if alone else None
    sums = [n for n in walk(kernel, "assignment_expression") if "+=" in text_of(n)]
    if len(loops) == 1 and not shared and len(sums) == 1:
        return Spread.THREAD_PER_OUTPUT
    scalar = len(loops) == 2 and shared and not list(walk(kernel, "initializer_list"))
    return Spread.SHARED_TILE if scalar else None


def _global_index(kernel: Node) -> bool:
    """Whether a variable is set to blockIdx * blockDim + threadIdx."""
    parts = {"blockIdx", "blockDim", "threadIdx"}
    return any(parts <= names_in(node) for node in walk(kernel, "init_declarator"))
