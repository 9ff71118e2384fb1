"""Whose fault an error is that arose where there is no GPU. Registers nothing."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from campaigns.evaluator.builds.python_error import FILE, chain
from campaigns.evaluator.interpreter.stand_in import WantsGpu

INTERPRETER = ("triton", "runtime", "interpreter.py")
LACKS_KERNEL = "Triton's interpreter cannot run this kernel"
LACKS_GPU = "this host has no GPU"
# What errors of torch and of drivers say, and what a line of a wrapper names, where a GPU is asked.
SAID = re.compile(r"\bCUDA\b|NVIDIA|\bHIP\b|\bROCm\b")
ASKED = re.compile(r"(?!\s*raise\b).*(?:cuda|\bhip\b|\bdevice\b|\.driver\b)", re.IGNORECASE)
# Functions in whose frames an error is the candidate's: its assertions, and the compiler's words.
OWN = ("create_assert", "only_compile")


def host_fault(error: BaseException) -> str:
    """Why an error is this host's; "" for one of the candidate's own.

    The interpreter's: what it raises at a kernel that the compiler took, other than a failed
    `tl.device_assert`. The missing GPU's: what torch, a driver or its stand-in raise for want of
    one, and what a line of the candidate raises that asks for it.
    """
    raised = [(one, traceback.extract_tb(one.__traceback__)) for one in chain(error)]
    if any(frame.name in OWN for _, frames in raised for frame in frames):
        return ""
    for one, frames in raised:
        # This works even for an error whose __str__ fails.
        said = "".join(traceback.format_exception_only(one))
        if isinstance(one, WantsGpu) or SAID.search(said) or _asks(frames):
            return LACKS_GPU
    files = {Path(frame.filename).parts[-3:] for _, frames in raised for frame in frames}
    return LACKS_KERNEL if INTERPRETER in files else ""


def _asks(frames: traceback.StackSummary) -> bool:
    """Whether torch's part for GPUs raises the error, or what a line that asks for a GPU calls."""
    own = [frame for frame in frames if Path(frame.filename).name == FILE]
    asked = own and ASKED.match(own[-1].line or "")
    return bool(asked) or any("/torch/cuda/" in frame.filename for frame in frames)
