"""Attempts as a table, which pandas reads with numbers as numbers and which imports again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from knowledge.experience.readers.own_csv import NESTED
from knowledge.experience.readers.own_json import ENTRY_FIELDS
from knowledge.experience.writers.records import entry_record
from knowledge.models import Experience

# A spreadsheet takes a text that begins with one of these for a formula; with the apostrophe
# itself, so that the reader can take one away from every text.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def csv_text(entries: Iterable[Experience]) -> str:
    """A row an attempt; lists and objects as JSON, nothing for what is not known."""
    # Only here: pandas takes a second to load, which no other page waits for.
    from pandas import DataFrame

    rows = [{name: _cell(name, said) for name, said in entry_record(e).items()} for e in entries]
    # As objects: numbers keep all their digits, and whole ones stay whole beside empty cells.
    table = DataFrame(rows, columns=list(ENTRY_FIELDS), dtype=object)
    text: str = table.to_csv(index=False, lineterminator="\n")
    return text


def _cell(name: str, said: Any) -> Any:
    if name in NESTED:
        return json.dumps(said, ensure_ascii=False) if said else None
    if isinstance(said, str):
        return f"'{said}" if said.startswith(FORMULA) else said
    return said
