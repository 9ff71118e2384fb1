"""Triton: let each program take several rows."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, template
from campaigns.proposers.recipes.triton.plain_kernels import loops, read_plain, row_per_program
from campaigns.rules.verdict.buckets import Bucket

VALUES = (512, 1024, 2048)


@recipe(
    About(
        id="triton.rows_per_program",
        title="Take several short rows per program",
        bucket=Bucket.K1,
        backend="triton",
        category=Category.LAUNCH,
        change="Each program loads, reduces and writes as many rows as make up 512, 1024 or 2048 "
        "values, and one row where that is longer.",
        rationale="Starting a program costs the same for a short row as for a long one, and a "
        "row of 128 values leaves each of its threads a single one; several rows put several "
        "independent loads in flight.",
        risks="Fewer programs and more registers in each, so too many rows leave processors idle.",
        expected=lambda facts: 1.5 if (facts.share or 0) < 0.6 else 1.02,
        ops=("softmax", "layernorm"),
    )
)
def rows_per_program(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that loads one row per program at once; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, situation.op)
    if found is None or loops(found[1]) or not row_per_program(found[1], found[2]):
        return ()
    text = template(f"triton_{situation.op}_rows.py.txt")
    return tuple(
        Variant(
            label=f"{values} values",
            source=Source(
                source.name, text.replace("VALUES = 512", f"VALUES = {values}"), source.flags
            ),
            params={"values": values},
        )
        for values in VALUES
    )
