"""Parse what a stranger wrote with tree-sitter, and give up on texts that are made to take long.

Honest texts take some milliseconds for every hundred lines. Where one does not parse, tree-sitter
tries to mend it, and there are texts of a few pages for which that takes hours.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# Of this thread's own processor time, so that a busy host does not matter.
MOST_S = 5.0
CHUNK = 1 << 16


class TooSlow(ValueError):
    """A text that could not be parsed in `MOST_S` seconds."""


def parse_within(parser: Parser, text: str) -> Node:
    """The root of the syntax tree. Raises TooSlow."""
    data = text.encode("utf-8", "replace")
    end = time.thread_time() + MOST_S

    def read(at: int, point: object) -> bytes:
        return data[at : at + CHUNK]

    def is_late(at: int, has_error: bool) -> bool:
        return time.thread_time() > end

    try:
        # The parser tells how far it is only where it reads by itself; but then the text of a node
        # is read anew each time, and not safely. So this is a trial, and is parsed once more.
        parser.parse(read, progress_callback=is_late)
    except ValueError:
        parser.reset()
        raise TooSlow(f"the text does not parse within {MOST_S:g} s") from None
    return parser.parse(data).root_node
