"""Where there is no GPU: what candidates ask of one is answered, and tensors pass for its own.

A wrapper that asserts `x.is_cuda`, asks for the number of multiprocessors or allocates on "cuda"
then does on the CPU what it would do on a GPU, so its kernels can be compiled and interpreted.
What has no answer here raises `WantsGpu`. Triton gets a driver with nothing behind it; its
interpreter says right or wrong, never fast; some things it computes wrongly or not at all.
Registers nothing.
"""

from __future__ import annotations

import ast
import contextlib
import re
import traceback
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from campaigns.evaluator.builds.python_error import FILE, chain
from campaigns.evaluator.contract.layout import Layout

# A small card: kernels that ask for its size make few programs, which take long here.
MULTIPROCESSORS, WARP = 8, 32
SHARED_BYTES, REGISTERS = 64 << 10, 64 << 10
MEMORY_BYTES = 8 << 30
NAME = "a GPU that is not here"
INTERPRETER = ("triton", "runtime", "interpreter.py")
LACKS_KERNEL = "Triton's interpreter cannot run this kernel"
LACKS_GPU = "this host has no GPU"
# What errors of torch and of drivers say, and what a line of a wrapper names, where a GPU is asked.
SAID = re.compile(r"\bCUDA\b|NVIDIA|\bHIP\b|\bROCm\b")
ASKED = re.compile(r"(?!\s*raise\b).*(?:cuda|\bhip\b|\bdevice\b|\.driver\b)", re.IGNORECASE)
# Functions in whose frames an error is the candidate's: its assertions, and the compiler's words.
OWN = ("create_assert", "only_compile")
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


class WantsGpu(AttributeError):
    """Only a GPU has what was asked for; an AttributeError, so that `hasattr` stays a question."""


class OnlyOnGpu:
    """Stands for what only a GPU has, such as a loaded kernel: every question raises WantsGpu."""

    def __init__(self, what: str, **known: Any) -> None:
        self._what = what
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        raise WantsGpu(f"{self._what} has no {name} without a GPU")


def put_in(target: str) -> None:
    """From now on have torch answer in this process as if it had the GPU of `target`."""
    import torch
    from torch.overrides import TorchFunctionMode

    class OnHost(TorchFunctionMode):  # type: ignore[misc]  # torch is not read
        """Tensors that are made on, or moved to, a GPU stay on the CPU."""

        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = dict(kwargs or {})
            if function is torch.Tensor.cuda:
                return args[0]
            if _is_gpu(given.get("device")):
                given["device"] = "cpu"
            if function is torch.Tensor.to:
                args = tuple("cpu" if _is_gpu(arg) else arg for arg in args)
            return function(*args, **given)

    OnHost().__enter__()
    torch.Tensor.is_cuda = property(lambda tensor: True)
    digits = "".join(c for c in target if c.isdigit())
    if target.startswith("gfx"):
        major, minor = int(digits[0]), int(digits[1:2] or 0)
    else:
        major, minor = int(digits[:-1] or 8), int(digits[-1:] or 0)
    card = SimpleNamespace(
        name=NAME,
        major=major,
        minor=minor,
        multi_processor_count=MULTIPROCESSORS,
        total_memory=MEMORY_BYTES,
        shared_memory_per_block=SHARED_BYTES,
        shared_memory_per_block_optin=SHARED_BYTES,
        shared_memory_per_multiprocessor=SHARED_BYTES,
        regs_per_multiprocessor=REGISTERS,
        max_threads_per_multi_processor=2048,
        warp_size=WARP,
    )
    answers = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": NAME,
        "get_device_capability": (major, minor),
        "get_device_properties": card,
        "synchronize": None,
        "current_stream": SimpleNamespace(cuda_stream=0, synchronize=lambda: None),
        "set_device": None,
        "empty_cache": None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, _answer=answer, **__: _answer)
    for name in ("device", "device_of", "stream"):
        setattr(torch.cuda, name, lambda *_, **__: contextlib.nullcontext())


def _is_gpu(device: Any) -> bool:
    """Tell whether torch takes this for a GPU: a text or a torch.device."""
    return str(device).split(":")[0] in ("cuda", "hip") if device is not None else False


def match_launches() -> None:
    """Have launches in the interpreter take what launches on a GPU take.

    A float is a float32 scalar in the kernel, a grid may be a list, and what a launch or a warm-up
    returns is a kernel of which nothing is known here. A kernel that is not interpreted, as those
    in Gluon are not, is the host's lack.
    """
    import numpy
    import triton.language as tl
    from triton.runtime import JITFunction, interpreter

    given, run = interpreter._implicit_cvt, interpreter.InterpretedFunction.run
    grid_of = interpreter.GridExecutor.__init__

    def converted(arg: Any) -> Any:
        if isinstance(arg, float):
            handle = interpreter.TensorHandle(numpy.array([arg], numpy.float32), tl.float32)
            return tl.tensor(handle, tl.float32)
        return given(arg)

    def with_grid(self: Any, fn: Any, names: Any, grid: Any, *more: Any) -> None:
        as_tuple = (lambda meta: tuple(grid(meta))) if callable(grid) else tuple(grid)
        grid_of(self, fn, names, as_tuple, *more)

    def launched(self: Any, *args: Any, **options: Any) -> Any:
        run(self, *args, **options)
        return OnlyOnGpu("an interpreted kernel")

    def lacking(self: Any, *args: Any, **options: Any) -> Any:
        raise WantsGpu(f"{self.fn.__name__} is in Gluon, which Triton's interpreter does not run")

    JITFunction.run = lacking
    interpreter._implicit_cvt = converted
    interpreter.GridExecutor.__init__ = with_grid
    interpreter.InterpretedFunction.run = launched


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
    pairs = [pair for table in tables for pair in zip(table.keys, table.values, strict=True)]
    listed = {
        value
        for key, value in pairs
        if _of_torch(key) and getattr(key, "attr", "") == getattr(value, "attr", None)
    }
    unused: set[ast.AST | None] = {key for key, _ in pairs}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            # Both sides, those of `a in (b, c)` one by one.
            for side in (node.left, *node.comparators):
                unused.update(getattr(side, "elts", (side,)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node in listed:
            continue
        if not _of_torch(node) or (node.attr.startswith("float8") and node not in unused):
            yield node.attr


def _of_torch(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "torch"


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
