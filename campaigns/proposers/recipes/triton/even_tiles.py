"""Triton: leave out the masks of the inner dimension where it divides into whole tiles."""

from __future__ import annotations

import re

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single
from campaigns.proposers.recipes.triton.plain_kernels import read_plain
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.edits import Edit, edited, replaced
from campaigns.syntax.triton_source import code

MASKS = re.compile(
    r"^(?P<in>[ ]+)(?P<a>\w+) = \((?P<row>\w+)\[:, None\] < M\) & \((?P<k>\w+)\[None, :\] < K\)\n"
    r"[ ]+(?P<b>\w+) = \((?P=k)\[:, None\] < K\) & \((?P<col>\w+)\[None, :\] < N\)\n",
    re.MULTILINE,
)
EVEN = """\
{in}if EVEN_K:
{in}    {a} = {row}[:, None] < M
{in}    {b} = {col}[None, :] < N
{in}else:
{in}    {a} = ({row}[:, None] < M) & ({k}[None, :] < K)
{in}    {b} = ({k}[:, None] < K) & ({col}[None, :] < N)
"""


@recipe(
    About(
        id="triton.even_tiles",
        title="Drop the inner masks of whole tiles",
        bucket=Bucket.K1,
        backend="triton",
        category=Category.INSTRUCTIONS,
        change="EVEN_K, fixed at compile time, removes the inner dimension from the masks of A "
        "and B where it is a multiple of BLOCK_K.",
        rationale="The comparison with K sits in the inner loop, costs instructions in every turn "
        "and keeps the loads from being issued early; for whole tiles it never applies.",
        risks="Two compiled versions where sizes of both kinds occur.",
        expected=lambda facts: 1.09,
        ops=("matmul",),
    )
)
def even_tiles(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the masks of a plain tile kernel; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, "matmul")
    masks = list(MASKS.finditer(source.text))
    if found is None or len(masks) != 1:
        return ()
    _, kernel, launch = found
    depth = launch.numbers.get("BLOCK_K")
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    taken = "EVEN_K" in code(kernel.node)
    if depth is None or taken or "BLOCK_K" not in kernel.constexprs or source.text.count(last) != 1:
        return ()
    text, mask = source.text, masks[0]
    name = depth.name or "block_k"
    edits = [
        replaced(text, last, f"{last}, EVEN_K: tl.constexpr"),
        replaced(text, mask[0], EVEN.format(**mask.groupdict())),
        Edit(launch.end, launch.end, f", EVEN_K=K % {name} == 0"),
    ]
    if not depth.name:
        # One place for the number, so that whoever changes it later changes both of its uses.
        line = text.encode()[: launch.start].rsplit(b"\n", 1)[-1].decode()
        binding = f"{name} = {depth.value}\n{line}"
        edits.append(Edit(launch.start, launch.start, binding))
        edits.append(Edit(depth.span.start, depth.span.end, name))
    return single(edited(source, edits))
