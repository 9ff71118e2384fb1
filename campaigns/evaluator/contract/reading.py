"""JSON values into frozen values, strictly: what is unknown or of another type is refused."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from campaigns.evaluator.contract.job import ContractError as ContractError

T = TypeVar("T")


@functools.cache
def _hints(kind: Hashable) -> dict[str, Any]:
    """Compiled once: a report has values of the same few types for each case."""
    return typing.get_type_hints(kind)


def build(kind: type[T], value: Any, at: str) -> T:
    """An instance of a dataclass from a JSON object; `at` names it in errors."""
    if not isinstance(value, Mapping):
        raise ContractError(f"{at or kind.__name__}: expected an object, got {value!r:.60}")
    hints = _hints(typing.cast(Any, kind))
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    for name in value:
        if name not in known:
            raise ContractError(f"{at}.{name}: unknown field; accepted: {', '.join(sorted(known))}")
    built = {name: convert(hints[name], item, f"{at}.{name}") for name, item in value.items()}
    try:
        return kind(**built)
    except TypeError as error:
        raise ContractError(f"{at or kind.__name__}: {error}") from None


def convert(hint: Any, value: Any, at: str) -> Any:
    """A JSON value as the type that `hint` names. Raises ContractError naming the place."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        rest = [arg for arg in args if arg is not type(None)]
        return convert(rest[0], value, at) if len(rest) == 1 else value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ContractError(f"{at}: expected a list, got {value!r:.60}")
        return tuple(convert(args[0], item, f"{at}[{i}]") for i, item in enumerate(value))
    if is_dataclass(hint):
        return build(typing.cast(type[Any], hint), value, at)
    if origin is not None or hint is Any:
        return value
    return _scalar(hint, value, at)


def _scalar(hint: type, value: Any, at: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if issubclass(hint, StrEnum | Path):
        try:
            return hint(value)
        except (ValueError, TypeError):
            raise ContractError(f"{at}: {value!r:.60} is not a {hint.__name__}") from None
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise ContractError(f"{at}: expected {hint.__name__}, got {value!r:.60}")
    return value
