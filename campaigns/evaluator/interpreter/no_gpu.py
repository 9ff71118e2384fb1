"""Triton where there is no GPU: a driver with nothing behind it. Registers nothing.

Its interpreter says right or wrong, never fast; some things it computes wrongly or not at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.interpreter.stand_in import (
    MULTIPROCESSORS,
    REGISTERS,
    SHARED_BYTES,
    WARP,
    OnlyOnGpu,
    WantsGpu,
)

# Types on which the interpreter computes without an error and wrongly.
WRONG = re.compile(r"bfloat16|float8.*|fp8.*")
PROPERTIES = {
    "multiprocessor_count": MULTIPROCESSORS,
    "max_shared_mem": SHARED_BYTES,
    "max_num_regs": REGISTERS,
    "warpSize": WARP,
    "sm_clock_rate": 1_000_000,
    "mem_clock_rate": 1_000_000,
    "mem_bus_width": 256,
}


def refuses(layouts: Collection[Layout], text: str, device: str) -> str:
    """Why a source cannot be judged with such arguments on `device`; "" where it can."""
    if device != "cpu":
        return ""
    given = {arg.dtype for layout in layouts for arg in layout.tensors}
    if wrong := sorted(name for name in {*given, *_types(text)} if WRONG.fullmatch(name)):
        return f"Triton's interpreter computes {wrong[0]} wrongly; a worker with a GPU is needed"
    return ""


def _types(text: str) -> Iterator[str]:
    """`b` of every `a.b` that is not torch's, and torch's float8; none of what does not parse.

    A table from torch's types to Triton's names all of them, whichever its kernels get, and a
    comparison names a type that may never come. Else torch's float8 is what a tensor is made,
    viewed or converted as.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    pairs = (pair for table in tables for pair in zip(table.keys, table.values, strict=True))
    listed = {value for key, value in pairs if _of_torch(key) and _same_name(key, value)}
    unused = {key for table in tables for key in table.keys} | set(_compared(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node in listed:
            continue
        if not _of_torch(node) or (node.attr.startswith("float8") and node not in unused):
            yield node.attr


def _compared(tree: ast.AST) -> Iterator[ast.AST]:
    """Both sides of every comparison, those of `a in (b, c)` one by one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from getattr(side, "elts", (side,))


def _of_torch(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "torch"


def _same_name(one: ast.AST | None, other: ast.AST) -> bool:
    return getattr(one, "attr", "") == getattr(other, "attr", None)


def mark_blanks() -> None:
    """From now on `torch.empty` gives NaN or the largest integer in this process.

    Memory that comes from the system afresh holds zeros, and a kernel that relies on it is found
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
            self.utils = OnlyOnGpu(
                "the driver", get_device_properties=lambda device=0: dict(PROPERTIES)
            )

        def __getattr__(self, name: str) -> Any:
            raise WantsGpu(f"the driver has no {name} without a GPU")

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
