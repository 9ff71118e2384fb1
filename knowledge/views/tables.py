"""Rows as a CSV file, or as Markdown that reads as well on GitHub with the lines it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse, JsonResponse

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
ACTIVE = re.compile(r"([\\`*_\[\]|#!])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "~": "&#126;"})


def csv_answer(
    name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> HttpResponse:
    """A download called `name`.csv; what a row has beside the columns is left out."""
    import pandas  # half a second, which no other page waits for

    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    # As objects: numbers keep all their digits, and whole ones stay whole beside empty cells.
    table = pandas.DataFrame(list(rows), columns=list(columns), dtype=object)
    table.map(_harmless).to_csv(response, index=False, lineterminator="\r\n")
    return response


def _harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell


def refusal(errors: Mapping[str, str], ending: str) -> HttpResponse:
    """What is wrong with the address of a file, by parameter; JSON for a JSON file."""
    if ending == "json":
        return JsonResponse({"errors": errors}, status=400)
    words = "\n".join(f"{name}: {message}" for name, message in errors.items())
    return HttpResponse(words, content_type="text/plain; charset=utf-8", status=400)


def qualifier_words(qualifiers: Mapping[str, str]) -> str:
    """Qualifiers in one cell: "cache=cold dtype=float32"."""
    return " ".join(f"{key}={value}" for key, value in qualifiers.items())


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
