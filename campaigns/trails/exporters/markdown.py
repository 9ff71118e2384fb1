"""Markdown of records: what people and candidates wrote stays text, wherever it is put."""

from __future__ import annotations

import re

NOTHING = "N/A — not recorded"
# What Markdown reads as a mark within a line. Where it reads HTML, entities keep that out.
_MARKS = re.compile(r"([\\`*\[\]|])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
# A citation stays as the wiki writes it, so that whoever reads the file can copy it: in code marks.
_CITED = re.compile(r"(\w+: [^`|<\\;\[\]]{1,80}<- <gpu-wiki>/[\w./+-]+(?::L\d+(?:-L\d+)?)?)")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def said(text: object) -> str:
    """One line of plain text inside of Markdown."""
    one_line = " ".join(_UNPRINTABLE.sub("", str(text)).split())
    parts = _CITED.split(one_line)
    # A pattern in brackets leaves what it matched at every second place.
    for n, part in enumerate(parts):
        bare = _MARKS.sub(r"\\\1", _TAG.sub("&lt;", _ENTITY.sub("&amp;", part)))
        parts[n] = f"`{part}`" if n % 2 else bare
    return "".join(parts)


def told(text: object) -> str:
    """The same, and that nobody recorded it where it is empty."""
    return said(text) or NOTHING


def fenced(text: str, language: str = "") -> list[str]:
    """Text as it is, in a fence that it can not close."""
    clean = _UNPRINTABLE.sub("", text).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *clean.split("\n"), fence]
