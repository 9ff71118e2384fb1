"""Functions of libdevice for Triton's interpreter, which has none. Registers nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Function of libdevice → what computes the same in torch.
FUNCTIONS = {
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt")},
    **{name: name for name in ("rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin")},
    **{name: name for name in ("acos", "atan", "asinh", "acosh", "atanh", "erf", "erfc", "ceil")},
    **{name: name for name in ("floor", "trunc", "pow", "atan2", "fmod", "hypot", "copysign")},
    **{name: name for name in ("abs", "erfinv", "lgamma")},
    **dict.fromkeys(("rint", "nearbyint"), "round"),
    **{f"fast_{name}f": name for name in ("exp", "log", "sin", "cos", "pow")},
    **{f"{name}_rn": name for name in ("sqrt", "div", "add", "mul")},
    "fast_log2f": "log2",
    "fast_dividef": "div",
}


def put_in() -> None:
    """Have the functions of triton's modules work on an interpreter's tensors."""
    import torch
    from triton.language.extra import cuda, hip, libdevice

    for module in (libdevice, cuda.libdevice, hip.libdevice):
        for name, given in list(vars(module).items()):
            if name in FUNCTIONS:
                setattr(module, name, _elementwise(getattr(torch, FUNCTIONS[name])))
            elif callable(given) and getattr(given, "__module__", "") == module.__name__:
                setattr(module, name, _missing(name))


def _missing(name: str) -> Callable[..., Any]:
    """In the interpreter it would be None, which may be taken for an answer."""

    def function(*args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"Triton's interpreter has no libdevice.{name}")

    return function


def _elementwise(compute: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, _semantic: Any = None) -> Any:
        import torch
        import triton.language as tl
        from triton.runtime.interpreter import TensorHandle

        tensors = [arg for arg in args if isinstance(arg, tl.tensor)]
        # A number beside a block is as large as the block.
        like = max(tensors, key=lambda one: int(one.handle.data.size))
        dtype = torch.from_numpy(like.handle.data).dtype
        # A constexpr has the value that it stands for.
        given = [
            torch.as_tensor(
                arg.handle.data if isinstance(arg, tl.tensor) else getattr(arg, "value", arg)
            )
            for arg in args
        ]
        made = compute(*(one.to(dtype) for one in given)).to(dtype)
        return tl.tensor(TensorHandle(made.numpy(), like.handle.dtype), like.type)

    return function
