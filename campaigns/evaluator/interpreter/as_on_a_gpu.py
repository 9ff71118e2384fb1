"""What Triton's interpreter takes or gives unlike a GPU, set right. Registers nothing."""

from __future__ import annotations

from typing import Any

from campaigns.evaluator.interpreter.stand_in import OnlyOnGpu


def put_in() -> None:
    """Have launches in the interpreter take what launches on a GPU take.

    A float is a float32 scalar in the kernel, a grid may be a list, and what a launch or a warm-up
    returns is a kernel of which nothing is known here.
    """
    import numpy
    import triton.language as tl
    from triton.runtime import interpreter

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

    interpreter._implicit_cvt = converted
    interpreter.GridExecutor.__init__ = with_grid
    interpreter.InterpretedFunction.run = launched
