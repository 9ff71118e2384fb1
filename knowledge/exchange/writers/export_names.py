"""Which file of an export a document is: its own path, unless that clashes with another one.

Some file systems do not tell capital letters from small ones, and no folder is a file as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from knowledge.exchange.exported_specs import FILE_NAME
from knowledge.exchange.readers.archive import JUNK

INDEX = "README.md"


def needs_index(paths: Iterable[str]) -> bool:
    """Whether no document is the index, in whatever letters."""
    return INDEX.casefold() not in {path.casefold() for path in paths}


def file_names(paths: Iterable[str]) -> dict[str, str]:
    """Path of a document → its file in the folder; the same for the same paths."""
    every = sorted(paths)
    # A path or folder in small letters → as it is, and whether it is a file.
    spelled = {INDEX.casefold(): (INDEX, True)} if needs_index(every) else {}
    found: dict[str, str] = {}
    clashing = [path for path in every if not _take(path, spelled, found)]
    number = 0
    for path in clashing:
        while path not in found:
            number += 1
            name = f"renamed/{number}.md"
            if _take(name, spelled, found):
                found[path] = found.pop(name)
    return found


def _take(path: str, spelled: dict[str, tuple[str, bool]], found: dict[str, str]) -> bool:
    """Give a path its own name, unless that stands for something else already."""
    own = {each.casefold(): (each, each == path) for each in _folders(path)}
    own[path.casefold()] = (path, True)
    reserved = path.startswith(JUNK) or FILE_NAME.fullmatch(path.partition("/")[0].casefold())
    if reserved or path.casefold() in spelled:
        return False
    if any(spelled.get(key, mine) != mine for key, mine in own.items()):
        return False
    spelled |= own
    found[path] = path
    return True


def _folders(path: str) -> Iterator[str]:
    parts = path.split("/")
    for count in range(1, len(parts)):
        yield "/".join(parts[:count])
