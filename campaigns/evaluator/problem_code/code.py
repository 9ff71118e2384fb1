"""Load a problem's `ref.py` in this process and call its functions, where it can do no harm."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Param
from campaigns.evaluator.contract.errors import BadReference, is_out_of_memory
from campaigns.evaluator.contract.layout import ITEM_BYTES, TensorArg
from campaigns.evaluator.contract.problem_words import complaint, distribution_of
from campaigns.evaluator.reference.reference import Draw, Made, ReferenceCall, is_tensor

ACCEPTED = {
    "setup": 'setup(*, …params of a case, seed, device) -> {"inputs": {…}, "outputs": […]}',
    "reference": "reference(**inputs), which writes its outputs in place",
}


class ProblemCode:
    """`setup`, `reference`, `valid`, `work` of one problem. What they raise is a BadReference."""

    def __init__(self, folder: Path) -> None:
        path = self._path = folder / "ref.py"
        self.where = f"{folder.name}/ref.py"
        name = f"kopt_problem_{folder.name}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise BadReference(f"{self.where}: no such file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        with self.blame(self.where):
            spec.loader.exec_module(module)
        self._setup = self._function(module, "setup")
        self._reference = self._function(module, "reference")
        self._work = getattr(module, "work", None)
        self._valid = getattr(module, "valid", None)

    @property
    def has_work(self) -> bool:
        """Whether the problem has a function `work` of its own."""
        return self._work is not None

    @property
    def has_valid(self) -> bool:
        """Whether the problem says which inputs it promises its kernels."""
        return self._valid is not None

    @property
    def line(self) -> str:
        """`softmax/ref.py:12`, where `reference` begins, or the file alone."""
        return self._line_of(self._reference)

    def examples(self, draw: Draw) -> Made:
        """Call `setup(**params, seed=…, device=…)`. Raises BadReference naming what is wrong."""
        import torch

        made = [self._example(draw, seed) for seed in draw.seeds]
        inputs = dict(made[0].inputs)
        for name, first in inputs.items():
            if not is_tensor(first):
                continue
            rows: list[Any] = [one.inputs.get(name) for one in made]
            alike = (first.shape, first.dtype)
            if any(not is_tensor(row) or (row.shape, row.dtype) != alike for row in rows):
                where = f"{self.where}: setup({draw.case})"
                raise BadReference(f"{where}: {name}: another shape or dtype for another seed")
            inputs[name] = torch.stack(rows) if len(rows) > 1 else first.unsqueeze(0)
        return Made(inputs, made[0].outputs, made[0].notes)

    def _example(self, draw: Draw, seed: int) -> Made:
        """The same for one seed, without the first axis."""
        where = f"{self.where}: setup({draw.case})"
        with self.blame(where), marked_blanks() if draw.marked else nullcontext():
            made = self._setup(**draw.params, seed=seed, device=draw.device)
        if not isinstance(made, dict) or not isinstance(made.get("inputs"), dict):
            raise BadReference(
                f"{self._line_of(self._setup)}: setup({draw.case}): returns "
                f"{type(made).__name__}; accepted: {ACCEPTED['setup']}"
            )
        outputs = made.get("outputs")
        if not isinstance(outputs, list | tuple) or not outputs:
            raise BadReference(f"{where}: outputs: name at least one of the inputs as an output")
        name = distribution_of(draw.params)
        if name and (why := complaint(name, made.get("group_sizes"))):
            raise BadReference(f"{where}: group_sizes: {why}")
        inputs = made["inputs"]
        for name in outputs:
            if name not in inputs:
                raise BadReference(
                    f"{where}: outputs: {name!r} is not among the inputs ({', '.join(inputs)})"
                )
        notes: list[str] = []
        taken = {
            name: _argument(where, name, value, name in outputs, notes.append)
            for name, value in inputs.items()
        }
        return Made(taken, tuple(outputs), tuple(notes))

    def expected(self, inputs: Mapping[str, Any]) -> None:
        """Run `reference(**inputs)`, which writes the tensors of its outputs in place."""
        with self.blame(f"{self.where}: reference"):
            self._reference(**inputs)

    def answers(self, call: ReferenceCall) -> dict[str, Any]:
        """See `Functions`."""
        given = {
            name: value.detach().to(call.dtype(value), copy=True) if is_tensor(value) else value
            for name, value in call.inputs.items()
        }
        self.run_rows(given, call.rows)
        return {name: given[name] for name in call.outputs}

    def room(self, tensors: Iterable[TensorArg], rows: int) -> dict[str, Any]:
        """See `Functions`."""
        import torch

        return {
            one.name: torch.empty((rows, one.count), dtype=getattr(torch, one.dtype))
            for one in tensors
        }

    def release(self) -> None:
        """Nothing is held beyond a call."""

    def run_rows(self, given: Mapping[str, Any], rows: int) -> None:
        """Run `reference` on each row, in place."""
        for k in range(rows):
            # Detached, or a reference that works with gradients would make all rows need them.
            self.expected({n: v[k].detach() if is_tensor(v) else v for n, v in given.items()})

    def allows(self, inputs: Mapping[str, Any]) -> bool:
        """Whether made inputs may be given to a kernel: `valid(**inputs)`, where there is one."""
        if self._valid is None:
            return True
        with self.blame(f"{self.where}: valid"):
            return bool(self._valid(**inputs))

    def work(self, case: str, params: Mapping[str, Param]) -> tuple[float, float]:
        """(floating-point operations, bytes) at the least, by the problem's own `work`."""
        if self._work is None:
            raise BadReference(f"{self.where}: work: no such function")
        with self.blame(f"{self.where}: work({case})"):
            found = tuple(map(float, self._work(**params)))
            if len(found) != 2 or not all(math.isfinite(x) and x >= 0 for x in found):
                raise ValueError(f"returns {found}; accepted: (operations, bytes), none below 0")
        return found

    def _function(self, module: object, name: str) -> Callable[..., Any]:
        found = getattr(module, name, None)
        if not callable(found):
            defined = [key for key, value in vars(module).items() if _is_defined_in(value, module)]
            raise BadReference(
                f"{self.where}: {name}: no such function; accepted: {ACCEPTED[name]}; "
                f"it defines: {', '.join(defined) or 'nothing'}"
            )
        return found  # type: ignore[no-any-return]

    def _line_of(self, function: Callable[..., Any]) -> str:
        code = getattr(function, "__code__", None)
        return f"{self.where}:{code.co_firstlineno}" if code else self.where

    @contextmanager
    def blame(self, where: str) -> Iterator[None]:
        """Turn whatever a person's `ref.py` raises into one line that says where."""
        try:
            yield
        except (Exception, SystemExit) as error:
            if isinstance(error, Exception) and is_out_of_memory(error):
                raise
            raise BadReference(f"{where}: {_at(error, self._path)}") from error


@contextmanager
def marked_blanks() -> Iterator[None]:
    """Within, `torch.empty` gives NaN or the largest integer instead of what lay there before.

    https://docs.pytorch.org/docs/stable/deterministic.html
    """
    import torch

    # The debug mode sets the same switch; `use_deterministic_algorithms` would import a compiler of
    # kernels besides, which takes seconds.
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def _argument(where: str, name: str, value: Any, output: bool, note: Callable[[str], None]) -> Any:
    """A dense tensor or a number. Raises BadReference for anything else."""
    import torch

    if not isinstance(value, torch.Tensor):
        if isinstance(value, int | float) and not output:
            return value
        raise BadReference(f"{where}: {name}: {type(value).__name__}; a tensor or a number only")
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in ITEM_BYTES or value.numel() == 0:
        pairs = "; complex values as pairs (torch.view_as_real)" if value.is_complex() else ""
        raise BadReference(
            f"{where}: {name}: {dtype}{list(value.shape)}; a non-empty tensor of "
            f"{', '.join(ITEM_BYTES)} is accepted{pairs}"
        )
    if not value.is_contiguous():
        strides = list(value.stride())
        note(f"{name} has strides {strides} in setup; candidates are given it row-major")
    # A parameter of a torch module as the tensor that it is.
    return value.detach().contiguous()


def _is_defined_in(value: object, module: object) -> bool:
    return getattr(value, "__module__", None) == getattr(module, "__name__", "")


def _at(error: BaseException, path: Path) -> str:
    line = getattr(error, "lineno", None)
    trace = error.__traceback__
    while line is None and trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    # A call that does not fit fails before the function's first line.
    place = f"line {line}: " if line is not None else ""
    return f"{place}{type(error).__name__}: {error}"
