"""tips.md: entries with context, signal, takeaway and applicability, four lines each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from campaigns.trails.importers.claims import Claim, refused
from campaigns.trails.importers.markdown_reader import plain, said, sections

FIELDS = ("Context", "Signal", "Takeaway", "Applicability")
ENTRY = re.compile(r"(?P<at>.*?)\s*\bround-(?P<round>\d{1,6})\s*[—–:-]+\s*(?P<status>.+)")
FIELD = re.compile(r"\s*[-*]?\s*\**(\w+)\**\s*:\**\s*(.*)")


def tips_of(path: str, text: str) -> Iterator[Claim]:
    """One claim for each field of each entry. TrailRefused for an entry that lacks one."""
    for section in sections(text):
        entry = ENTRY.fullmatch(section.title) if section.level == 3 else None
        if entry is None:
            continue
        name = f"round-{entry['round']} {entry['status'].strip()}"
        found: dict[str, Claim] = {}
        for line, words in section.body:
            field = FIELD.match(words)
            if field and field[1].capitalize() in FIELDS and said(field[2]):
                label = field[1].capitalize()
                found[label] = Claim(f"{name}: {label}", plain(field[2]), path, line)
        lost = [label for label in FIELDS if label not in found]
        if lost:
            what = f"tip {name}: without {', '.join(lost)}"
            raise refused(path, section.line, what, ", ".join(FIELDS))
        yield from (found[label] for label in FIELDS)
