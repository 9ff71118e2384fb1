"""CUDA recipes: one of our own kernels in the place of a source that is recognised."""

from __future__ import annotations

from enum import StrEnum

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, Rewrite, single, template
from campaigns.syntax.c_family import (
    counted_loop,
    functions,
    names_in,
    parameters,
    parse,
    text_of,
    walk,
)

# By operation: the parameters of `solve`, the calls that are known, and those that it needs.
SIGNATURES = {
    "softmax": ("float*", "float*", "int", "int"),
    "layernorm": ("float*", "float*", "float*", "float*", "int", "int"),
    "matmul": ("float*", "float*", "float*", "int", "int", "int"),
    "vector_add": ("float*", "float*", "float*", "int"),
}
CALLS = {
    "softmax": {"expf", "__expf", "fmaxf", "max"},
    "layernorm": {"rsqrtf", "sqrtf"},
    "matmul": {"fmaf"},
    "vector_add": {"min"},
}
NEEDED = {"softmax": {"expf", "__expf"}, "layernorm": {"rsqrtf", "sqrtf"}}
HELPERS = {"static_cast", "__syncthreads", "__shfl_xor_sync"}


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
    called = walk(kernels[0], "call_expression")
    calls = {text_of(call.child_by_field_name("function")).split("<")[0] for call in called}
    if kinds != SIGNATURES[op] or calls - CALLS[op] - set(found) - HELPERS:
        return None
    if op not in NEEDED:
        return _elements(kernels[0], op)
    return _rows(kernels[0], found) if calls & NEEDED[op] else None


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


def by_template(name: str, *spreads: Spread) -> Rewrite:
    """The template `name` for a source that spreads its work in one of these ways; else none."""

    def rewrite(situation: Situation) -> tuple[Variant, ...]:
        source = situation.source
        if spread_of(source, situation.op) not in spreads:
            return ()
        return single(Source(source.name, template(name.format(op=situation.op)), source.flags))

    return rewrite


Recipe(
    "cuda.block_per_row",
    "Give every row a block",
    category=Category.LAUNCH,
    change="Threads of a block share one row and combine their parts with warp shuffles.",
    rationale="With one thread per row, the lanes of a warp read addresses a whole row "
    "apart, so of each 32-byte sector 4 bytes are used, and few blocks exist to"
    " fill the chip.",
    risks="Rows much shorter than a block leave threads idle.",
    expected=lambda facts: 6.0,
    ops=("softmax", "layernorm"),
)(by_template("{op}_block_per_row.cu", Spread.THREAD_PER_ROW))


Recipe(
    "cuda.row_in_registers",
    "Keep the row in registers",
    category=Category.REGISTERS,
    change="A block, or a warp where rows are short, loads its row once with 16-byte "
    "accesses, holds it in registers through all reductions and writes the result once.",
    rationale="Three passes move the row up to five times between chip and memory; one "
    "read and one write are the least there can be.",
    risks="Needs pointers aligned to 16 bytes; long rows take many registers and lower occupancy.",
    expected=lambda facts: 1.6,
    ops=("softmax", "layernorm"),
)(by_template("{op}_row_in_registers.cu", Spread.BLOCK_PER_ROW))


Recipe(
    "cuda.shared_tile",
    "Stage tiles in shared memory",
    category=Category.MOVEMENT,
    change="Blocks copy a tile of A and of B into shared memory and every thread sums "
    "over the tiles.",
    rationale="Each value is loaded from global memory once per tile instead of once per output.",
    risks="Two barriers per tile; every term still needs two shared loads.",
    expected=lambda facts: 1.5,
    ops=("matmul",),
)(by_template("matmul_shared_tile.cu", Spread.THREAD_PER_OUTPUT))


Recipe(
    "cuda.register_tile",
    "Keep a square of sums per thread",
    category=Category.REGISTERS,
    change="Each thread computes SIDE x SIDE outputs in registers from tiles in shared memory.",
    rationale="With one output per thread each multiply-add waits for two loads; a square"
    " of SIDE x SIDE sums needs 2 SIDE loads for SIDE squared multiply-adds.",
    risks="More registers per thread and fewer blocks: small matrices may not fill the chip.",
    expected=lambda facts: 4.0,
    ops=("matmul",),
)(by_template("matmul_register_tile.cu", Spread.THREAD_PER_OUTPUT, Spread.SHARED_TILE))


Recipe(
    "cuda.vector_access",
    "Move 16 bytes per access",
    category=Category.MOVEMENT,
    change="float4 loads and stores; each thread handles PER_THREAD vectors a grid apart.",
    rationale="One 4-byte value per thread in small blocks spends its time on starting "
    "blocks and issuing instructions; wide accesses keep more bytes in flight.",
    risks="Needs pointers aligned to 16 bytes.",
    expected=lambda facts: 1.3,
    ops=("vector_add",),
)(by_template("vector_add_float4.cu", Spread.THREAD_PER_VALUE))
