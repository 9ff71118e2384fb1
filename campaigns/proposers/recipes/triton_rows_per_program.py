"""Triton: let each program take several rows."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.templates import template
from campaigns.proposers.recipes.triton_kernels import read_plain, rows_at_once

ROW_COUNTS = ("2", "4", "2 if D >= 2048 else 1")


@recipe(
    About(
        id="triton.rows_per_program",
        title="Take several rows per program",
        backend="triton",
        change="Each program loads, reduces and writes a block of 2 or 4 rows, or of 2 only "
        "where rows are long.",
        rationale="Starting a program costs the same for a short row as for a long one; several "
        "rows also put several independent loads in flight.",
        risks="Fewer programs and more registers in each; long rows may spill.",
        expected=lambda facts: 1.1 if (facts.share or 0) < 0.6 else 1.02,
        ops=("softmax", "layernorm"),
    )
)
def rows_per_program(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that takes one row per program; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, situation.op)
    if found is None or rows_at_once(found[1]) or found[2].grid.replace(" ", "") != "(N,)":
        return ()
    text = template(f"triton_{situation.op}_rows.py.txt")
    return tuple(
        Variant(
            label=f"{rows} rows",
            source=Source(
                source.name, text.replace("rows = 2\n", f"rows = {rows}\n"), source.flags
            ),
            params={"rows": rows},
        )
        for rows in ROW_COUNTS
    )
