"""PURE: ids in documents that the catalogue does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from knowledge.experience.catalogue.read import CatalogueFault, ReadCatalogue

CODE = re.compile(r"`([a-z]+)\.([\w.>]*\w)`")
FILE_ENDINGS = (".md", ".json", ".py", ".cu", ".cpp", ".hip", ".toml")


def unknown_mentions(texts: Mapping[str, str], found: ReadCatalogue) -> Iterator[CatalogueFault]:
    """What looks like an id of the catalogue, a recipe or a sweep, and is none.

    "ge.1" stands for all that begin so. path → text.
    """
    names = {*found.strategies}
    for strategy in found.strategies.values():
        names |= {*strategy.aliases, *strategy.recipes}
    begins = {name.partition(".")[0] for name in names if "." in name}
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            for begin, rest in CODE.findall(line):
                code = f"{begin}.{rest}"
                if (
                    begin in begins
                    and not code.endswith(FILE_ENDINGS)
                    and not _is_known(code, names)
                ):
                    message = f"`{code}` is no strategy, recipe or sweep; accepted: one that is"
                    yield CatalogueFault(path, number, message)


def _is_known(code: str, names: set[str]) -> bool:
    return code in names or any(
        name.startswith(f"{code}.") or (name.endswith("*") and code.startswith(name[:-1]))
        for name in names
    )
