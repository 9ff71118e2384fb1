"""Who did something to a value, in words: here, or where the value was imported from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COMMAND = "a command"


def actor(person: Any, elsewhere: Mapping[str, str] | None, name: str = "by") -> str:
    """ "alice" is a user of this installation; "alice, imported" is a name in a file.

    elsewhere: what a file says of the row, null of one that was made here; name: its key.
    """
    if person is not None:
        return str(person.get_username())
    if elsewhere is None or name not in elsewhere:
        return COMMAND
    return f"{elsewhere[name] or COMMAND}, imported"
