"""The function of a Python candidate that makes one call, and how its answer is handed over."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from campaigns.evaluator.builds.compile import BuildFailed
from campaigns.evaluator.layout import Layout

ENTRY = "run_kernel"
Entry = Callable[..., Any]


def entry_of(module: ModuleType, layout: Layout, name: str) -> Entry:
    """`run_kernel`, or the only function that takes the arguments of a case by name.

    One that takes all but the outputs returns them; its answers are made in their places, or where
    that cannot be, copied there as a part of the call. name: of the source, for people. Raises
    BuildFailed.
    """
    found = getattr(module, ENTRY, None)
    if callable(found):
        return _fitted(found, layout) or _refuse(found, layout, name)
    fitting = {
        key: fitted
        for key, value in vars(module).items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not key.startswith("_")
        and (fitted := _fitted(value, layout))
    }
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    which = f"; {', '.join(fitting)} could each be it" if fitting else ""
    raise BuildFailed(f"{name}: no function {ENTRY}(…) is defined{which}")


def _fitted(function: Entry, layout: Layout) -> Entry | None:
    """The function as one that is called with every argument; None where it takes others."""
    names = [arg.name for arg in layout.args]
    answers = [arg.name for arg in layout.outputs if not arg.update]
    if _takes(function, names):
        return function
    inputs = [name for name in names if name not in answers]
    return _copying(function, answers) if answers and _takes(function, inputs) else None


def _takes(function: Entry, names: list[str]) -> bool:
    try:
        inspect.signature(function).bind(**dict.fromkeys(names))
    except (TypeError, ValueError):
        return False
    return True


def _copying(function: Entry, answers: list[str]) -> Entry:
    def call(**arguments: Any) -> None:
        places = [arguments.pop(name) for name in answers]
        found = function(**arguments)
        given = found if isinstance(found, tuple | list) else (found,)
        for place, answer in zip(places, given, strict=True):
            place.copy_(answer)

    # Not above: it imports torch, and this module is read wherever a source is.
    from campaigns.evaluator.builds.placed_answers import PlacedAnswers

    return PlacedAnswers(call, answers)


def _refuse(function: Entry, layout: Layout, name: str) -> Entry:
    names = [arg.name for arg in layout.args]
    signature = inspect.signature(function)
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        raise BuildFailed(
            f"{name}: {ENTRY}{signature}: {error}; the cases give {', '.join(names)}"
        ) from None
    return function
