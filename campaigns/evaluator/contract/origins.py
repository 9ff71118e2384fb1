"""Where each line of a file that was put together lies in the files that it was made of.

A comment in the text tells, so that every process that reads the text can: `// line 12 of norm.h`
says of the line below it, and of those after that one, which they are; in Python with a `#`.
"""

from __future__ import annotations

import re

MARK = re.compile(r"[ \t]*(?://|#) line (\d+) of (\S.*)")
# A candidate is compiled under this name, with the line as g++ and nvcc have it.
PLACE = re.compile(r"\bcandidate\.(?:cpp|cu|py)\b(?:([:(])(\d+)\b)?")


def mark(line: int, file: str, comment: str = "//") -> str:
    """The comment that stands above that line of a file."""
    return f"{comment} line {line} of {file}"


def origins(text: str, file: str) -> list[tuple[str, int]]:
    """File and line of each line of a text; a mark has those of the line below it.

    file: whose the lines above the first mark are.
    """
    found, line = [], 1
    for one in text.split("\n"):
        if said := MARK.fullmatch(one):
            file, line = said[2].strip(), int(said[1])
        found.append((file, line))
        line += not said
    return found


def origin_of(text: str, line: int, file: str) -> tuple[str, int]:
    """The same of one line, counted from 1; as it was given where the text has no such line."""
    known = origins(text, file)
    return known[line - 1] if 0 < line <= len(known) else (file, line)


def with_origins(log: str, text: str, file: str) -> str:
    """What a compiler said of a candidate, with the lines and names of the files it is made of."""
    known = origins(text, file)

    def own(found: re.Match[str]) -> str:
        at = int(found[2] or 0) - 1
        name, line = known[at] if 0 <= at < len(known) else (file, at + 1)
        return f"{name}{found[1]}{line}" if found[2] else file

    return PLACE.sub(own, log)


def marked(text: str, file: str, comment: str = "//", *, at_start: bool = True) -> str:
    """The same text with a mark wherever the lines do not follow each other.

    at_start: also above its first line, which whoever reads it may know by another file's name.
    """
    lines: list[str] = []
    follows = None if at_start else (file, 1)
    for one, place in zip(text.split("\n"), origins(text, file), strict=True):
        if MARK.fullmatch(one):
            continue
        is_next = follows == place
        if one.strip() and not is_next:
            indent = one[: len(one) - len(one.lstrip())]
            lines.append(indent + mark(place[1], place[0], comment))
        # Blank lines around what was left out are one.
        if one.strip() or is_next or not lines or lines[-1].strip():
            lines.append(one)
        if one.strip() or is_next:
            follows = place[0], place[1] + 1
    return "\n".join(lines)
