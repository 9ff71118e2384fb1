"""PURE: `verified_ineffective.jsonl` of the third source system: directions that did not work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.exchange.formats import Format, GivenFile
from knowledge.experience.readers.drafts import FORMATS, AttemptDraft
from knowledge.experience.terms import AttemptLabel
from knowledge.specs.json_text import Node, RecordError, parse_json

FORMAT = "verified_ineffective.jsonl"
FIELDS = ("round", "direction", "reason", "modified_files", "at")
# <op>_<backend>_<gpu>_<date>/ is the folder of a campaign.
CAMPAIGN = re.compile(r"(?P<op>\w+)_(?P<backend>[a-z]+)_(?P<platform>[a-z0-9]+)_\d{8}")


def _read(file: GivenFile) -> Iterator[AttemptDraft | RecordError]:
    """A line an attempt; in the place of one that cannot be read, why."""
    for number, line in enumerate(file.text.splitlines(), 1):
        try:
            if line.strip():
                yield _attempt(file.path, number, parse_json(line))
        except RecordError as error:
            yield RecordError(error.message, error.place, error.key, number)


def _attempt(file: str, number: int, row: Node) -> AttemptDraft:
    row.fields(FIELDS)
    direction = row["direction"].text().strip()
    if not direction:
        raise row["direction"].error("is missing; accepted: what was tried")
    where = next(filter(None, map(CAMPAIGN.fullmatch, file.split("/"))), None)
    names = where.groupdict() if where else {"op": "", "backend": "", "platform": ""}
    round_, files = row["round"].count(), row["modified_files"].texts()
    values = {
        "label": AttemptLabel.TIE,
        "title": direction.partition("\n")[0][:300],
        "change": direction,
        "notes": row["reason"].text().strip(),
        "evidence": [f"changed: {', '.join(files)}"] if files else [],
        "external": f"round {round_}" if round_ is not None else "",
    }
    return AttemptDraft(file, number, {**names, "strategy": "", "bottleneck": ""}, values)


FORMATS.append(Format(FORMAT, FORMAT, lambda file: file.name == FORMAT, _read))
