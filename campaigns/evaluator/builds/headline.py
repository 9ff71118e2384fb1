"""The one line of a log that says why something failed."""

from __future__ import annotations

import re

LONGEST = 300
# From the most to the least telling. The compiler's driver only repeats that the linker failed.
TELLING = (
    re.compile(r" error: (?!ld returned|linker command failed)(?=.*\w)"),
    re.compile(r"undefined reference|undefined symbol|cannot find"),
    re.compile(r"^[\w.]*Error\b"),
    re.compile("error", re.IGNORECASE),
)


def headline(log: str) -> str:
    """A compiler's or linker's first error, else an exception's last line, else the last line."""
    # A line of carets only points at the line above it.
    lines = [line.strip() for line in log.splitlines() if line.strip(" \t^~|")]
    for pattern in TELLING:
        if found := [line for line in lines if pattern.search(line)]:
            # An exception's line stands under those of its causes.
            return found[-1 if pattern is TELLING[2] else 0][:LONGEST]
    return (lines or ["no message"])[-1][:LONGEST]
