"""Stored text as Markdown in which it means nothing: it makes no markup, link, issue or mention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

ACTIVE = re.compile(r"([\\`*_\[\]|#!])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "~": "&#126;"})
# GitHub reads these out of the finished text, after every escape: "@name", "#12", "GH-12". What
# keeps them apart has no width.
APART = "\N{ZERO WIDTH SPACE}"
MENTIONS = re.compile(r"@(?=[\w-])|#(?=\d)|(?i:\bgh)(?=-\d)")
# And these are links without any markup.
SCHEME, HOST = re.compile(r":(?=//)"), re.compile(r"(?i)\b(www)\.")


def plain(text: str) -> str:
    """Text on one line in which Markdown means nothing."""
    one = MENTIONS.sub(lambda found: found[0] + APART, " ".join(text.split()))
    escaped = ACTIVE.sub(r"\\\1", one).translate(ENTITIES)
    return HOST.sub(r"\1&#46;", SCHEME.sub("&#58;", escaped))


def code(text: str) -> str:
    """Text on one line as it is, in a cell too; empty stays empty."""
    one = " ".join(text.split()).replace("`", "'").replace("|", r"\|")
    return f"`{one}`" if one else ""


def link(text: str, address: str) -> str:
    """A link that reads as the text. address: of ours, so that nothing but a path can be in it."""
    quoted = address.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
    return f"[{plain(text)}]({quoted})"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; empty without rows."""
    lines = [" | ".join(row) for row in rows]
    if not lines:
        return ""
    head = [" | ".join(columns), " | ".join("---" for _ in columns)]
    return "\n".join(f"| {line} |" for line in (*head, *lines))


def citations(texts: Iterable[str]) -> str:
    """Each citation line once, as the importer reads it; empty without any."""
    lines = [f"- {code(text)}" for text in dict.fromkeys(texts) if text]
    return "\n\n".join(["## Citations", "\n".join(lines)]) if lines else ""


def joined(parts: Iterable[str]) -> str:
    """The parts with an empty line between each two; those that are empty are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
