"""Load a problem's `ref.py` and hold it to its contract. Only the judge does this."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.errors import BadReference, is_out_of_memory
from campaigns.evaluator.layout import ITEM_BYTES, Layout, Plain, ScalarArg, Shift, lay_out
from campaigns.evaluator.problem.distributions import complaint, distribution_of

ACCEPTED = {
    "setup": 'setup(*, …params of a case, seed, device) -> {"inputs": {…}, "outputs": […]}',
    "reference": "reference(**inputs), which writes its outputs in place",
}


@dataclass(frozen=True, slots=True)
class Example:
    """What `setup` gave for one case and seed: arguments in call order, and the output names."""

    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]


class Reference:
    """`setup`, `reference` and `work` of one problem, each checked before it is believed.

    `valid(**inputs) -> bool`, where there is one, says whether inputs that the judge has made from
    drawn ones are what the problem promises its kernels (positive, in order, …).
    """

    def __init__(self, folder: Path, tell: Callable[[str], None] = lambda note: None) -> None:
        """tell: called once with each note for people."""
        path = self._path = folder / "ref.py"
        self._where = f"{folder.name}/ref.py"
        # Seconds that the problem's own functions have taken.
        self.spent_s = 0.0
        name = f"kopt_problem_{folder.name}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise BadReference(f"{self._where}: no such file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        with _blame(self._where, path):
            spec.loader.exec_module(module)
        self._setup = self._function(module, "setup")
        self._reference = self._function(module, "reference")
        self._work = getattr(module, "work", None)
        self._valid = getattr(module, "valid", None)
        self._updates: frozenset[str] | None = None
        self._tell = tell
        self._told: set[str] = set()
        # Whether it can be run on inputs that are raised to another precision.
        self.can_be_raised = True

    def note(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            self._tell(words)

    def _function(self, module: object, name: str) -> Callable[..., Any]:
        found = getattr(module, name, None)
        if not callable(found):
            defined = [key for key, value in vars(module).items() if _is_defined_in(value, module)]
            raise BadReference(
                f"{self._where}: {name}: no such function; accepted: {ACCEPTED[name]}; "
                f"it defines: {', '.join(defined) or 'nothing'}"
            )
        return found  # type: ignore[no-any-return]

    def _line_of(self, function: Callable[..., Any]) -> str:
        """`softmax/ref.py:12`, where the function begins, or the file alone."""
        code = getattr(function, "__code__", None)
        return f"{self._where}:{code.co_firstlineno}" if code else self._where

    def example(self, case: Case, seed: int, device: str) -> Example:
        """Call `setup(**params, seed=…, device=…)`. Raises BadReference naming what is wrong."""
        where = f"{self._where}: setup({case.name})"
        with self._its_own(where):
            made = self._setup(**case.params, seed=seed, device=device)
        if not isinstance(made, dict) or not isinstance(made.get("inputs"), dict):
            raise BadReference(
                f"{self._line_of(self._setup)}: setup({case.name}): returns "
                f"{type(made).__name__}; accepted: {ACCEPTED['setup']}"
            )
        outputs = made.get("outputs")
        if not isinstance(outputs, list | tuple) or not outputs:
            raise BadReference(f"{where}: outputs: name at least one of the inputs as an output")
        name = distribution_of(case.params)
        if name and (why := complaint(name, made.get("group_sizes"))):
            raise BadReference(f"{where}: group_sizes: {why}")
        inputs = made["inputs"]
        for name in outputs:
            if name not in inputs:
                raise BadReference(
                    f"{where}: outputs: {name!r} is not among the inputs ({', '.join(inputs)})"
                )
        return Example({name: _plain(value) for name, value in inputs.items()}, tuple(outputs))

    def layout(self, case: Case, device: str, shift: Shift | None = None) -> Layout:
        """The slot layout of `case`, from one example; shift: see `lay_out`."""
        example = self.example(case, seed=0, device=device)
        where = f"{self._where}: setup({case.name})"
        args = [self._argument(where, example, name) for name in example.inputs]
        updates = self.updates(case, device)
        return lay_out([_in_place(arg, updates) for arg in args], shift)

    def _argument(self, where: str, example: Example, name: str) -> Plain | ScalarArg:
        import torch

        value, output = example.inputs[name], name in example.outputs
        if not isinstance(value, torch.Tensor):
            if isinstance(value, int | float) and not output:
                return ScalarArg(name, value)
            raise BadReference(
                f"{where}: {name}: {type(value).__name__}; a tensor or a number only"
            )
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in ITEM_BYTES or value.numel() == 0:
            pairs = "; complex values as pairs (torch.view_as_real)" if value.is_complex() else ""
            raise BadReference(
                f"{where}: {name}: {dtype}{list(value.shape)}; a non-empty tensor of "
                f"{', '.join(ITEM_BYTES)} is accepted{pairs}"
            )
        if not value.is_contiguous():
            strides = list(value.stride())
            self.note(f"{name} has strides {strides} in setup; candidates are given it row-major")
        return Plain(name, dtype, tuple(value.shape), output)

    def updates(self, case: Case, device: str) -> frozenset[str]:
        """The outputs that it works on in place, as seen on the first case it is asked about."""
        # A command that only names problems loads without torch.
        from campaigns.evaluator.judge.correctness.in_place_outputs import (
            is_blank,
            marked_blanks,
            started_from,
        )

        if self._updates is None:
            with marked_blanks():
                example = self.example(case, seed=0, device=device)
            found = started_from(
                example.inputs, example.outputs, lambda given: self.expected(given, example.outputs)
            )
            where = f"{self._line_of(self._reference)}: reference"
            for name in sorted(found.unwritten):
                raise BadReference(
                    f"{where}: leaves the output {name!r} as it was; what it returns is not read; "
                    f"accepted: an answer that is written in place, such as {name}.copy_(…)"
                )
            for name in sorted(found.updated):
                if is_blank(example.inputs[name]):
                    raise BadReference(
                        f"{where}: does not write all of {name!r}, to which setup gives no contents"
                    )
                self.note(f"{name} is updated in place: each call starts from what setup gives it")
            self._updates = found.updated
        return self._updates

    def takes(self, case: Case, device: str) -> None:
        """Raises BadReference where it refuses what `setup` gives for `case`."""
        example = self.example(case, seed=0, device=device)
        self.expected(dict(example.inputs), example.outputs)

    def expected(self, kwargs: Mapping[str, Any], outputs: tuple[str, ...]) -> None:
        """Run `reference(**kwargs)`, which writes the tensors named in `outputs` in place."""
        with self._its_own(f"{self._where}: reference"):
            self._reference(**kwargs)

    @contextmanager
    def _its_own(self, where: str) -> Iterator[None]:
        """Blame `ref.py` for what it raises, and count its time."""
        since = time.monotonic()
        try:
            with _blame(where, self._path):
                yield
        finally:
            self.spent_s += time.monotonic() - since

    def allows(self, inputs: Mapping[str, Any]) -> bool:
        """Whether made inputs may be given to a kernel."""
        if self._valid is None:
            return True
        with self._its_own(f"{self._where}: valid"):
            return bool(self._valid(**inputs))

    @property
    def has_work(self) -> bool:
        """Whether the problem has a function `work` of its own."""
        return self._work is not None

    def work(self, case: Case) -> tuple[float, float] | None:
        """(floating-point operations, bytes) at the least, or None where there is no `work`."""
        if self._work is None:
            return None
        with _blame(f"{self._where}: work({case.name})", self._path):
            flops, moved = self._work(**case.params)
            return float(flops), float(moved)


def _is_defined_in(value: object, module: object) -> bool:
    return getattr(value, "__module__", None) == getattr(module, "__name__", "")


def _plain(value: Any) -> Any:
    """A parameter of a torch module as the tensor that it is."""
    return value.detach() if hasattr(value, "detach") else value


def _in_place(arg: Plain | ScalarArg, updates: frozenset[str]) -> Plain | ScalarArg:
    return replace(arg, update=True) if isinstance(arg, Plain) and arg.name in updates else arg


@contextmanager
def _blame(where: str, path: Path) -> Iterator[None]:
    """Turn whatever a person's `ref.py` raises into one line that says where."""
    try:
        yield
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise BadReference(f"{where}: {_at(error, path)}") from error


def _at(error: Exception, path: Path) -> str:
    line = getattr(error, "lineno", None)
    trace = error.__traceback__
    while line is None and trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    # A call that does not fit fails before the function's first line.
    place = f"line {line}: " if line is not None else ""
    return f"{place}{type(error).__name__}: {error}"
