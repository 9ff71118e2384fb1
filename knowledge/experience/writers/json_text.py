"""All that was learned as one JSON text, which imports again with its UUIDs."""

from __future__ import annotations

import json

from knowledge.experience.readers.own_json import FORMAT
from knowledge.experience.writers.records import entry_record, gap_record, lesson_record
from knowledge.experience.writers.selection import Selection


def json_text(selection: Selection) -> str:
    """The oldest first, so that what is exported again differs at the end alone."""
    everything = {
        "format": FORMAT,
        "experience": [entry_record(each) for each in selection.entries().order_by("pk")],
        "lessons": [lesson_record(each) for each in selection.lessons().order_by("pk")],
        "gaps": [gap_record(each) for each in selection.gaps().order_by("pk")],
    }
    return json.dumps(everything, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
