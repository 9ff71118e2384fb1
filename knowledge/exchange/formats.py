"""PURE: one way of writing things down that an import can read; each file of one registers it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, Generic, TypeVar

from knowledge.specs.json_text import Node, RecordError, parse_json

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


@dataclass(frozen=True)
class GivenFile:
    """A file of an import, as every format looks at it."""

    path: str
    text: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @cached_property
    def json(self) -> Node:
        """What stands in a JSON text. Raises RecordError."""
        return parse_json(self.text)

    @property
    def value(self) -> Any:
        """What a .json file holds; None for any other. Raises RecordError."""
        return self.json.value if self.name.endswith(".json") else None

    def each(
        self, nodes: Iterable[Node], read: Callable[[str, Node], Said]
    ) -> Iterator[Said | RecordError]:
        """What `read` makes of each object; in the place of one that cannot be read, why."""
        for node in nodes:
            try:
                yield read(self.path, node)
            except RecordError as error:
                yield error
