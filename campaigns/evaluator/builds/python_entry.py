"""The function of a Python candidate that makes one call, and how its answer is handed over."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.shared_object import write_source
from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.layout import Layout, ScalarArg
from campaigns.evaluator.contract.programs import ENTRY


def write_python(source: Source, folder: Path) -> None:
    """Write the candidate, whose name is ours. Raises BuildFailed where it is no Python."""
    write_source(source, folder, ".py")
    try:
        compile(source.text, source.name, "exec")
    except SyntaxError as error:
        raise BuildFailed(f"{source.name}:{error.lineno}: {error.msg}") from None


def load_candidate(path: Path) -> ModuleType:
    """Execute the candidate's module."""
    spec = importlib.util.spec_from_file_location("candidate", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module


def bound_calls(
    run: Callable[..., None], layout: Layout, memory: Memory, slots: int
) -> list[partial[None]]:
    """A call of `run` on each slot."""

    def arguments(slot: int) -> dict[str, Any]:
        return {
            arg.name: arg.value if isinstance(arg, ScalarArg) else memory.tensor(layout, slot, arg)
            for arg in layout.args
        }

    return [partial(run, **arguments(slot)) for slot in range(slots)]


def blank_call(run: Callable[..., None], example: Layout, device: str) -> None:
    """Call `run` once on tensors of zeros, so that what compiles at a first call has done so.

    Integers may say what is read of other tensors, so that any other values would not do.
    """
    import torch

    run(
        **{
            arg.name: arg.value
            if isinstance(arg, ScalarArg)
            else torch.zeros(arg.shape, dtype=getattr(torch, arg.dtype), device=device)
            for arg in example.args
        }
    )


Entry = Callable[..., Any]


def entry_of(module: ModuleType, layout: Layout, name: str) -> Entry:
    """`run_kernel`, or the only function that takes the arguments of a case by name.

    One that takes all but the outputs returns them; its answers are made in their places, or where
    that cannot be, copied there as a part of the call. Numbers may be left out, as sizes that a
    function reads off its tensors. name: of the source, for people. Raises BuildFailed.
    """
    found: Entry | None = getattr(module, ENTRY, None)
    if callable(found):
        fitted = _fitted(found, layout) or _fitted(found, layout, needs_numbers=False)
        if fitted:
            return fitted
        signature = inspect.signature(found)
        try:
            signature.bind(**dict.fromkeys(arg.name for arg in layout.args))
        except TypeError as error:
            words = f"{ENTRY}{signature}: {error}; {_accepted(layout)}"
            raise BuildFailed(f"{name}: {words}") from None
        return found
    own = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not key.startswith("_")
    }
    missing = f"{name}: no function {ENTRY}(…) is defined"
    for needs_numbers in (True, False):
        fitting = {
            key: fitted
            for key, value in own.items()
            if (fitted := _fitted(value, layout, needs_numbers=needs_numbers))
        }
        if len(fitting) == 1:
            return next(iter(fitting.values()))
        if fitting:
            raise BuildFailed(f"{missing}; {', '.join(fitting)} could each be it")
    there = f"; there is {', '.join(own)}" if own else ""
    raise BuildFailed(f"{missing}{there}; {_accepted(layout)}")


def _accepted(layout: Layout) -> str:
    """What a function may take, in words."""
    given = ", ".join(arg.name for arg in layout.args)
    answers = _answers(layout)
    if not answers:
        return f"the cases give {given}"
    return f"the cases give {given}; one that does not take {', '.join(answers)} returns it"


def _answers(layout: Layout) -> list[str]:
    """Outputs that a function may return instead."""
    return [arg.name for arg in layout.outputs if not arg.update]


def _fitted(function: Entry, layout: Layout, *, needs_numbers: bool = True) -> Entry | None:
    """The function as one that is called with every argument; None where it takes others."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    left_out = {
        arg.name
        for arg in layout.args
        if isinstance(arg, ScalarArg) and not needs_numbers and arg.name not in signature.parameters
    }
    names = [arg.name for arg in layout.args if arg.name not in left_out]
    answers = _answers(layout)

    def shortened(**arguments: Any) -> Any:
        return function(**{key: arguments[key] for key in arguments.keys() - left_out})

    plain = shortened if left_out else function
    if _takes(signature, names):
        return plain
    if not answers or not _takes(signature, [name for name in names if name not in answers]):
        return None

    def call(**arguments: Any) -> None:
        places = [arguments.pop(name) for name in answers]
        found = plain(**arguments)
        given = found if isinstance(found, tuple | list) else (found,)
        for place, answer in zip(places, given, strict=True):
            place.copy_(answer)

    # Not above: it imports torch, and this module is read wherever a source is.
    from campaigns.evaluator.builds.placed_answers import PlacedAnswers

    return PlacedAnswers(call, answers)


def _takes(signature: inspect.Signature, names: list[str]) -> bool:
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError:
        return False
    return True
