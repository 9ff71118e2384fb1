"""Which element of one sequence is which of another: a patience diff, fast on long documents."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

# Regions without a single unique common element go to difflib, whose time grows with the product
# of both lengths. Larger ones stay unpaired.
DIFFLIB_PAIRS = 250_000

Region = tuple[int, int, int, int]


def align(old: Sequence[Hashable], new: Sequence[Hashable], /) -> dict[int, int]:
    """Indices of `old` → indices of equal elements of `new`, rising on both sides.

    Equal heads and tails pair first, then the longest rising chain of elements that are unique on
    both sides, then what lies between them in the same way.
    """
    pairs: dict[int, int] = {}
    regions: list[Region] = [(0, len(old), 0, len(new))]
    while regions:
        first, end, new_first, new_end = regions.pop()
        while first < end and new_first < new_end and old[first] == new[new_first]:
            pairs[first] = new_first
            first, new_first = first + 1, new_first + 1
        while first < end and new_first < new_end and old[end - 1] == new[new_end - 1]:
            end, new_end = end - 1, new_end - 1
            pairs[end] = new_end
        if first == end or new_first == new_end:
            continue
        chain = _unique_chain(old, new, (first, end, new_first, new_end))
        for index, new_index in chain:
            pairs[index] = new_index
            regions.append((first, index, new_first, new_index))
            first, new_first = index + 1, new_index + 1
        if chain:
            regions.append((first, end, new_first, new_end))
        elif (end - first) * (new_end - new_first) <= DIFFLIB_PAIRS:
            matcher = SequenceMatcher(None, old[first:end], new[new_first:new_end], autojunk=False)
            for block in matcher.get_matching_blocks():
                for offset in range(block.size):
                    pairs[first + block.a + offset] = new_first + block.b + offset
    return pairs


def _unique_chain(
    old: Sequence[Hashable], new: Sequence[Hashable], region: Region
) -> list[tuple[int, int]]:
    """The longest chain, rising on both sides, of elements that stand once on each side."""
    first, end, new_first, new_end = region
    once = Counter(old[first:end])
    new_once = Counter(new[new_first:new_end])
    where = {new[i]: i for i in range(new_first, new_end) if new_once[new[i]] == 1}
    common = [
        (i, where[old[i]]) for i in range(first, end) if once[old[i]] == 1 and old[i] in where
    ]
    tails: list[int] = []  # the smallest last new index of a chain of each length
    lengths = []
    for _, new_index in common:
        length = bisect_left(tails, new_index)
        tails[length : length + 1] = [new_index]
        lengths.append(length)
    chain: list[tuple[int, int]] = []  # of equal lengths the last has the smallest new index
    wanted = len(tails) - 1
    for pair, length in zip(reversed(common), reversed(lengths), strict=True):
        if length == wanted:
            chain.append(pair)
            wanted -= 1
    return chain[::-1]
