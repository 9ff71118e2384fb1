"""PURE: one way of writing things down that an import can read; each file of one registers it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Generic, TypeVar

Given = TypeVar("Given")
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Format(Generic[Given, Said]):
    """A format of ours or of another system.

    sign: what it is known by, in words. detect: whether what is given is written so, by what only
    its writer writes. read: what it says.
    """

    name: str
    sign: str
    detect: Callable[[Given], bool]
    read: Callable[[Given], Said]


def load_all(package: str, folder: Iterable[str]) -> None:
    """Import every module of a package, so that each registers its format."""
    for found in pkgutil.iter_modules(folder):
        import_module(f"{package}.{found.name}")
