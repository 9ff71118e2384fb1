"""What an H200 counted of kernels whose bottleneck is known, as an evaluation would carry it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from campaigns.evaluator.contract import MachineCode, Profile
from campaigns.evaluator.machine_code.listing import device_functions

RECORDED = Path(__file__).parent / "h200.csv"
# Where its samples saw warps of `softmax` in Triton, two launches; a few of the instructions.
SOURCE = RECORDED.with_name("softmax_source.csv")


def counted(kernel: str, case: str = "one") -> Profile:
    """The profile of one kernel of `known.cu`, such as "transpose_naive": one launch in a call."""
    said, head, units, *rows = RECORDED.read_text().splitlines(keepends=True)
    (row,) = (row for row in rows if f'"{kernel}(' in row)
    return Profile("ncu", case, "".join((said, head, units, row)))


def listed(kernel: str) -> MachineCode:
    """What nvcc 13.0 made for sm_90a of the sample's softmax: "v0" or "two_pass"."""
    text = (RECORDED.parent / f"softmax_{kernel}.nvdisasm.txt").read_text()
    (found,) = device_functions(text, 1024)
    name = "softmax_rows(float const*, float*, int, int)"
    return MachineCode("nvdisasm, sm_90a", (replace(found, name=name),))
