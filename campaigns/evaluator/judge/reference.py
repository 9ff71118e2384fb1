"""Load a problem's `ref.py` and hold it to its contract. Only the judge does this."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.errors import BadReference, is_out_of_memory
from campaigns.evaluator.layout import ITEM_BYTES, Layout, Plain, ScalarArg, lay_out


@dataclass(frozen=True, slots=True)
class Example:
    """What `setup` gave for one case and seed: arguments in call order, and the output names."""

    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]


class Reference:
    """`setup`, `reference` and `work` of one problem, each checked before it is believed."""

    def __init__(self, folder: Path) -> None:
        path = self._path = folder / "ref.py"
        self._where = f"{folder.name}/ref.py"
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

    def _function(self, module: object, name: str) -> Callable[..., Any]:
        found = getattr(module, name, None)
        if not callable(found):
            raise BadReference(f"{self._where}: {name}: missing; a function {name}(…) is needed")
        return found  # type: ignore[no-any-return]

    def example(self, case: Case, seed: int, device: str) -> Example:
        """Call `setup(**params, seed=…, device=…)`. Raises BadReference naming what is wrong."""
        where = f"{self._where}: setup({case.name})"
        with _blame(where, self._path):
            made = self._setup(**case.params, seed=seed, device=device)
        if not isinstance(made, dict) or not isinstance(made.get("inputs"), dict):
            raise BadReference(f'{where}: must return {{"inputs": {{…}}, "outputs": […]}}')
        outputs = made.get("outputs")
        if not isinstance(outputs, list | tuple) or not outputs:
            raise BadReference(f"{where}: outputs: name at least one of the inputs as an output")
        inputs = made["inputs"]
        for name in outputs:
            if name not in inputs:
                raise BadReference(
                    f"{where}: outputs: {name!r} is not among the inputs ({', '.join(inputs)})"
                )
        return Example(inputs, tuple(outputs))

    def layout(self, case: Case, device: str, shift: int = 0) -> Layout:
        """The slot layout of `case`, from one example; shift: see `lay_out`."""
        import torch

        example = self.example(case, seed=0, device=device)
        args: list[Plain | ScalarArg] = []
        for name, value in example.inputs.items():
            where = f"{self._where}: setup({case.name}): {name}"
            if isinstance(value, torch.Tensor):
                dtype = str(value.dtype).removeprefix("torch.")
                if dtype not in ITEM_BYTES or value.numel() == 0:
                    raise BadReference(
                        f"{where}: {dtype}{list(value.shape)}; a non-empty tensor of "
                        f"{', '.join(ITEM_BYTES)} is accepted"
                    )
                args.append(Plain(name, dtype, tuple(value.shape), name in example.outputs))
            elif isinstance(value, int | float) and name not in example.outputs:
                args.append(ScalarArg(name, value))
            else:
                raise BadReference(f"{where}: {type(value).__name__}; a tensor or a number only")
        return lay_out(args, shift)

    def expected(self, kwargs: Mapping[str, Any], outputs: tuple[str, ...]) -> None:
        """Run `reference(**kwargs)`, which writes the tensors named in `outputs` in place."""
        with _blame(f"{self._where}: reference", self._path):
            self._reference(**kwargs)

    def work(self, case: Case) -> tuple[float, float] | None:
        """(floating-point operations, bytes) at the least, or None where there is no `work`."""
        if self._work is None:
            return None
        with _blame(f"{self._where}: work({case.name})", self._path):
            flops, moved = self._work(**case.params)
            return float(flops), float(moved)


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
    return f"line {line}: {type(error).__name__}: {error}"
