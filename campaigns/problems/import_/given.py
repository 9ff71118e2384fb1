"""What somebody gives to have a problem made of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Given:
    """What a person gives. reference: a file's name and text; empty where the kernel's file has it.

    entry, function: the names of the kernel's and the reference's function, where they are not
    plain. calls: example calls as source, one each. outputs: names of what a call writes.
    keep: sizes that hidden cases leave as they are. path: where the kernel lies, if parts of files
    beside it may be put into it.
    """

    file_name: str
    kernel: str
    reference_file: str = ""
    reference: str = ""
    entry: str = ""
    function: str = ""
    calls: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    name: str = ""
    title: str = ""
    keep: tuple[str, ...] = ()
    path: Path | None = None
