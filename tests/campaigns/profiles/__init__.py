"""What an H200 counted of kernels whose bottleneck is known, as an evaluation would carry it."""

from __future__ import annotations

from pathlib import Path

from campaigns.evaluator.contract import Profile

RECORDED = Path(__file__).parent / "h200.csv"


def counted(kernel: str, case: str = "one") -> Profile:
    """The profile of one kernel of `known.cu`, such as "transpose_naive": one launch in a call."""
    said, head, units, *rows = RECORDED.read_text().splitlines(keepends=True)
    (row,) = (row for row in rows if f'"{kernel}(' in row)
    return Profile("ncu", case, "".join((said, head, units, row)))
