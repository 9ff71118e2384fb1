"""Triton: a fixed number of programs that each walk over many blocks."""

from __future__ import annotations

import re

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.triton.plain_kernels import program_ids, read_plain
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.edits import Edit, edited, replaced
from campaigns.syntax.triton_source import Launch

STEPS = (1, 2, 4)
BLOCK = 512
BODY = re.compile(
    r"^    (?P<name>\w+) = tl\.program_id\(0\)\n(?P<rest>(?:    .*\n)+)", re.MULTILINE
)
GRID = re.compile(r"\(triton\.cdiv\(N, (?P<size>\w+)\),\)")
LOOP = """\
    for step in tl.static_range(STEPS):
        {name} = tl.program_id(0) * STEPS + step
"""


@recipe(
    About(
        id="triton.blocks_per_program",
        title="Give each thread four values, and each program several blocks",
        bucket=Bucket.K1,
        backend="triton",
        category=Category.LAUNCH,
        change="Each program works through STEPS neighbouring blocks of 512 values, four a "
        "thread, in a loop that is unrolled at compile time.",
        rationale="A block of few values per program spends its time on starting programs, and a "
        "thread with one value loads 4 bytes at a time; four neighbours are one 16-byte load.",
        risks="Fewer programs: short vectors may not fill the chip.",
        expected=lambda facts: 1.4 if (facts.share or 0) < 0.7 else 1.04,
        ops=("vector_add",),
    )
)
def blocks_per_program(situation: Situation) -> tuple[Variant, ...]:
    """Wrap the body of a plain element-wise kernel in a loop; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, "vector_add")
    if found is None or set(program_ids(found[1])) != {0}:
        return ()
    _, kernel, launch = found
    body = BODY.search(source.text)
    grid = GRID.fullmatch(launch.grid)
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    once = all(source.text.count(part) == 1 for part in (last, launch.grid))
    known = "BLOCK" in launch.numbers and "BLOCK" in kernel.constexprs
    if body is None or grid is None or not once or not known or " for " in body["rest"]:
        return ()
    return tuple(
        Variant(f"{steps} blocks", _looped(source, launch, last, steps), {"steps": steps})
        for steps in STEPS
    )


def _looped(source: Source, launch: Launch, last: str, steps: int) -> Source:
    body, grid = BODY.search(source.text), GRID.fullmatch(launch.grid)
    if body is None or grid is None:
        raise ValueError("the source was recognised before and has not changed since")
    indented = "".join(f"    {line}" for line in body["rest"].splitlines(keepends=True))
    size = launch.numbers["BLOCK"].span
    edits = [
        replaced(source.text, last, f"{last}, STEPS: tl.constexpr"),
        replaced(source.text, body[0], LOOP.format(name=body["name"]) + indented),
        replaced(source.text, launch.grid, f"(triton.cdiv(N, {grid['size']} * {steps}),)"),
        Edit(size.start, size.end, str(BLOCK)),
        Edit(launch.end, launch.end, f", STEPS={steps}"),
    ]
    return edited(source, edits)
