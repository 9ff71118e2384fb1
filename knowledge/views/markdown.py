"""Rows as a Markdown file that reads as well on GitHub, with the lines that its figures rest on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

ACTIVE = re.compile(r"([\\`*_\[\]|#!])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "~": "&#126;"})


def markdown_answer(name: str, parts: Iterable[str]) -> HttpResponse:
    """A file called `name`.md of these parts, an empty line between each two."""
    text = "\n\n".join(part for part in parts if part) + "\n"
    answer = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    answer["Content-Disposition"] = f'inline; filename="{name}.md"'
    return answer


def plain(text: str) -> str:
    """Text on one line in which Markdown means nothing."""
    return ACTIVE.sub(r"\\\1", " ".join(text.split())).translate(ENTITIES)


def code(text: str) -> str:
    """Text on one line as it is, in a cell too; empty stays empty."""
    one = " ".join(text.split()).replace("`", "'").replace("|", r"\|")
    return f"`{one}`" if one else ""


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
