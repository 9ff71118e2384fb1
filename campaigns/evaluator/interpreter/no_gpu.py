"""Triton where there is no GPU: a driver with nothing behind it. Registers nothing.

Its interpreter says right or wrong, never fast; some things it computes wrongly or not at all.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from types import SimpleNamespace
from typing import Any

from campaigns.evaluator.interpreter import libdevice
from campaigns.evaluator.layout import Layout

LIBDEVICE, ASSEMBLY = "libdevice", "inline_asm_elementwise"
# A small card: kernels that ask for its size make few programs, which take long here.
PROPERTIES = {
    "multiprocessor_count": 8,
    "max_shared_mem": 64 << 10,
    "max_num_regs": 64 << 10,
    "warpSize": 32,
    "sm_clock_rate": 1_000_000,
    "mem_clock_rate": 1_000_000,
    "mem_bus_width": 256,
}


def refuses(layouts: Collection[Layout], text: str, device: str) -> str:
    """Why a source can not be judged with such arguments on `device`; "" where it can."""
    needed = "a worker with a GPU is needed"
    if device != "cpu":
        return ""
    if any(arg.dtype == "bfloat16" for layout in layouts for arg in layout.tensors):
        return (
            f"bfloat16 is not judged in Triton's interpreter, which computes it wrongly; {needed}"
        )
    if lacking := next(_lacking(text), ""):
        return f"Triton's interpreter has no {lacking}; {needed}"
    return ""


def _lacking(text: str) -> Iterator[str]:
    """What a source uses that only a GPU runs; none of one that does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for owner, name in _members(tree):
        if name == ASSEMBLY:
            yield "inline assembly"
        elif owner == LIBDEVICE and name not in libdevice.FUNCTIONS:
            yield f"{LIBDEVICE}.{name}"


def _members(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(`b`, `c`) of every `a.b.c` and every `from a.b import c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            owner = (node.module or "").split(".")[-1]
            yield from ((owner, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute):
            # No more of what it belongs to: that may be nested deeper than anything can recurse.
            yield getattr(node.value, "attr", getattr(node.value, "id", "")), node.attr


def mark_blanks() -> None:
    """From now on `torch.empty` gives NaN or the largest integer in this process.

    Memory that comes from the system afresh holds zeros, and who takes that for granted is found
    out on a GPU only, and not always there.
    """
    import torch

    # It imports less than `torch.use_deterministic_algorithms`, which sets the same switch.
    torch.set_deterministic_debug_mode("warn")


def once(fn: Callable[[], Any], *_: Any, quantiles: Any = None, **__: Any) -> Any:
    """In the place of what measures a call: it is made, and takes a millisecond."""
    fn()
    return [1.0] * len(quantiles) if quantiles else 1.0


def install_stub(target: str) -> None:
    """Give Triton a driver that names `target` and has no device behind it."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    if target.startswith("gfx"):
        gpu = GPUTarget("hip", target, 64)
    else:
        digits = "".join(c for c in target if c.isdigit())
        gpu = GPUTarget("cuda", int(digits or "80"), 32)

    class NoDevice(DriverBase):  # type: ignore[misc]  # triton ships no types
        """Answers what launches and autotuners ask of a driver; its times mean nothing."""

        def __init__(self) -> None:
            self.get_current_device = lambda: 0
            self.set_current_device = lambda device: None
            self.get_current_stream = lambda device=0: 0
            self.utils = SimpleNamespace(get_device_properties=lambda device=0: dict(PROPERTIES))

        def get_current_target(self) -> Any:
            return gpu

        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, kind: str) -> str:
            return kind

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cpu")

        def get_benchmarker(self) -> Callable[..., Any]:
            return once

    triton.runtime.driver.set_active(NoDevice())
    # Which autotuners with options of their own, and candidates, call by name.
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = once


def no_gpu(error: BaseException) -> str:
    """What to add to an error that comes of there being no GPU."""
    said = str(error)
    return " (this host has no GPU)" if "CUDA" in said or "NVIDIA" in said else ""
