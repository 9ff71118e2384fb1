"""A CUDA recipe by template: one of our own kernels in the place of one that is recognised."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single, template
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
}
CALLS = {
    "softmax": {"expf", "__expf", "fmaxf", "max"},
    "layernorm": {"rsqrtf", "sqrtf"},
}
NEEDED = {"softmax": {"expf", "__expf"}, "layernorm": {"rsqrtf", "sqrtf"}}
HELPERS = {"static_cast", "__syncthreads", "__shfl_xor_sync"}


def is_block_per_row(source: Source, op: str) -> bool:
    """Say whether the one kernel computes `op` in three passes, with a block for each row."""
    root = parse(source.text, cuda=True)
    found = functions(root) if root is not None else {}
    kernels = [node for name, node in found.items() if "__global__" in text_of(node).split("(")[0]]
    if "solve" not in found or len(kernels) != 1:
        return False
    kinds = tuple(kind.removeprefix("const ") for kind, _ in parameters(found["solve"]))
    called = walk(kernels[0], "call_expression")
    calls = {text_of(call.child_by_field_name("function")).split("<")[0] for call in called}
    if kinds != SIGNATURES[op] or calls - CALLS[op] - set(found) - HELPERS:
        return False
    loops = [counted_loop(node) for node in walk(kernels[0], "for_statement")]
    steps = [loop.step for loop in loops if loop is not None]
    # A variable that counts threads over the whole grid would be a thread for each row.
    parts = {"blockIdx", "blockDim", "threadIdx"}
    counts = any(parts <= names_in(node) for node in walk(kernels[0], "init_declarator"))
    shuffles = any("__shfl_xor_sync" in text_of(node) for node in found.values())
    plain = bool(calls & NEEDED[op]) and "float4" not in text_of(kernels[0])
    return steps == 3 * ["blockDim.x"] and len(loops) == 3 and shuffles and plain and not counts


@Recipe(
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
)
def row_in_registers(situation: Situation) -> tuple[Variant, ...]:
    """Replace a source of one block per row; refuse any other."""
    source, op = situation.source, situation.op
    if not is_block_per_row(source, op):
        return ()
    return single(Source(source.name, template(f"{op}_row_in_registers.cu"), source.flags))
