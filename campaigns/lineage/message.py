"""A commit's message from plain texts, whatever those hold: one subject, and indented sections.

Hypotheses come from proposers, agents and people. Each text becomes one line of printable
characters first, and is indented below our titles. So none can begin a
line, be read as another section, or be taken for a trailer by git.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from campaigns.rules.wording import change

WIDTH = 72
INDENT = "    "
LONGEST_WORDS = 60
LONGEST_TEXT = 2000
CUT = "…"

Section = tuple[str, Sequence[str]]


def subject(op: str, number: int, strategy: str, gain: float | None) -> str:
    """R46's first line: `[opt] <op> round-N: <strategy> (+x %)`; without a gain no bracket."""
    words = f"[opt] {one_line(op, LONGEST_WORDS)} round-{number}: "
    words += one_line(strategy, LONGEST_WORDS) or "without a name"
    return words if gain is None else f"{words} ({change(gain)})"


def message(first: str, sections: Sequence[Section]) -> str:
    """The whole message. first: as `subject` wrote it. A section without a text is left out."""
    parts = [first]
    for title, texts in sections:
        told = [folded(text) for text in texts if one_line(text)]
        if told:
            parts.append("\n".join([f"{title}:", *told]))
    return "\n\n".join(parts) + "\n"


def folded(text: str) -> str:
    """A stored text as indented lines of one paragraph."""
    # A citation is found again only where it is whole.
    wrapper = textwrap.TextWrapper(WIDTH, INDENT, INDENT, break_on_hyphens=False)
    return wrapper.fill(one_line(text))


def one_line(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text without line ends, control characters, direction marks and runs of blanks."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    whole = " ".join(shown.split())
    return whole if len(whole) <= longest else whole[: longest - 1].rstrip() + CUT
