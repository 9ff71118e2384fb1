"""PURE: `verified_ineffective.jsonl` of the third source system: directions that did not work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.exchange.formats import Format
from knowledge.experience.readers.drafts import AttemptDraft, ReadRefused
from knowledge.experience.readers.json_rows import FORMATS, GivenFile, JsonRow, json_root
from knowledge.experience.terms import AttemptLabel

FORMAT = "verified_ineffective.jsonl"
FIELDS = ("round", "direction", "reason", "modified_files", "at")
# <op>_<backend>_<gpu>_<date>/ is the folder of a campaign.
CAMPAIGN = re.compile(r"(?P<op>\w+)_(?P<backend>[a-z]+)_(?P<platform>[a-z0-9]+)_\d{8}")


def _read(file: GivenFile) -> Iterator[AttemptDraft | ReadRefused]:
    """A line an attempt; in the place of one that cannot be read, why."""
    for number, line in enumerate(file.text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            node, lines = json_root(line)
            yield _attempt(file.path, number, JsonRow(node, lines))
        except ReadRefused as refused:
            yield ReadRefused(number, refused.field, refused.message)


def _attempt(file: str, number: int, row: JsonRow) -> AttemptDraft:
    row.only(*FIELDS)
    direction = row.text("direction").strip()
    if not direction:
        row.refuse("direction", "is missing; accepted: what was tried")
    where = next(filter(None, map(CAMPAIGN.fullmatch, file.split("/"))), None)
    names = where.groupdict() if where else {"op": "", "backend": "", "platform": ""}
    round_, files = row.count("round"), row.texts("modified_files")
    values = {
        "label": AttemptLabel.TIE,
        "title": direction.partition("\n")[0][:300],
        "change": direction,
        "notes": row.text("reason").strip(),
        "evidence": [f"changed: {', '.join(files)}"] if files else [],
        "external": f"round {round_}" if round_ is not None else "",
    }
    return AttemptDraft(file, number, {**names, "strategy": "", "bottleneck": ""}, values)


FORMATS.append(Format(FORMAT, FORMAT, lambda file: file.name == FORMAT, _read))
