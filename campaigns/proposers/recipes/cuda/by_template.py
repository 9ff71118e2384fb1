"""CUDA: put one of our own kernels in the place of a source that is recognised."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single, template
from campaigns.proposers.recipes.cuda.spread import Spread, spread_of
from campaigns.rules.verdict.buckets import Bucket


def by_template(situation: Situation, name: str, *spreads: Spread) -> tuple[Variant, ...]:
    """The template `name` for a source that spreads its work in one of these ways; else none."""
    source = situation.source
    if spread_of(source, situation.op) not in spreads:
        return ()
    return single(Source(source.name, template(name), source.flags))


@recipe(
    About(
        id="cuda.block_per_row",
        title="Give every row a block",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.LAUNCH,
        change="Threads of a block share one row and combine their parts with warp shuffles.",
        rationale="With one thread per row, the lanes of a warp read addresses a whole row "
        "apart, so of each 32-byte sector 4 bytes are used, and few blocks exist to"
        " fill the chip.",
        risks="Rows much shorter than a block leave threads idle.",
        expected=lambda facts: 6.0,
        ops=("softmax", "layernorm"),
    )
)
def block_per_row(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one thread per row; refuse anything else."""
    return by_template(situation, f"{situation.op}_block_per_row.cu", Spread.THREAD_PER_ROW)


@recipe(
    About(
        id="cuda.row_in_registers",
        title="Keep the row in registers",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.REGISTERS,
        change="A block, or a warp where rows are short, loads its row once with 16-byte "
        "accesses, holds it in registers through all reductions and writes the result once.",
        rationale="Three passes move the row up to five times between chip and memory; one "
        "read and one write are the least there can be.",
        risks="Needs pointers aligned to 16 bytes; long rows take many registers and "
        "lower occupancy.",
        expected=lambda facts: 1.6,
        ops=("softmax", "layernorm"),
    )
)
def row_in_registers(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one block per row in three passes; refuse anything else."""
    return by_template(situation, f"{situation.op}_row_in_registers.cu", Spread.BLOCK_PER_ROW)


@recipe(
    About(
        id="cuda.shared_tile",
        title="Stage tiles in shared memory",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.MOVEMENT,
        change="Blocks copy a tile of A and of B into shared memory and every thread sums "
        "over the tiles.",
        rationale="Each value is loaded from global memory once per tile instead of once per "
        "output.",
        risks="Two barriers per tile; every term still needs two shared loads.",
        expected=lambda facts: 1.5,
        ops=("matmul",),
    )
)
def shared_tile(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one thread per output; refuse anything else."""
    return by_template(situation, "matmul_shared_tile.cu", Spread.THREAD_PER_OUTPUT)


@recipe(
    About(
        id="cuda.register_tile",
        title="Keep a square of sums per thread",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.REGISTERS,
        change="Each thread computes SIDE x SIDE outputs in registers from tiles in shared memory.",
        rationale="With one output per thread each multiply-add waits for two loads; a square"
        " of SIDE x SIDE sums needs 2 SIDE loads for SIDE squared multiply-adds.",
        risks="More registers per thread and fewer blocks: small matrices may not fill the chip.",
        expected=lambda facts: 4.0,
        ops=("matmul",),
    )
)
def register_tile(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one output per thread; refuse anything else."""
    return by_template(
        situation, "matmul_register_tile.cu", Spread.THREAD_PER_OUTPUT, Spread.SHARED_TILE
    )


@recipe(
    About(
        id="cuda.vector_access",
        title="Move 16 bytes per access",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.MOVEMENT,
        change="float4 loads and stores; each thread handles PER_THREAD vectors a grid apart.",
        rationale="One 4-byte value per thread in small blocks spends its time on starting "
        "blocks and issuing instructions; wide accesses keep more bytes in flight.",
        risks="Needs pointers aligned to 16 bytes.",
        expected=lambda facts: 1.3,
        ops=("vector_add",),
    )
)
def vector_access(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one value per thread; refuse anything else."""
    return by_template(situation, "vector_add_float4.cu", Spread.THREAD_PER_VALUE)
