"""The corpus of the judged queries as stored attempts, and the judged answers over it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.models import Experience, ExperienceOrigin
from tests.kept_wiki import put_wiki

HERE = Path(__file__).parent
AS_THEY_ARE = ("op", "dtype", "backend", "platform", "arch", "shapes", "params", "title", "notes")


def judged() -> dict[str, Any]:
    """`queries` and `questions`, with their graded answers."""
    return json.loads((HERE / "judged.json").read_text())


def take_in() -> Mapping[str, Experience]:
    """Store the shipped wiki with its catalogue, and the attempts: their ids and rows."""
    put_wiki()
    attempts = json.loads((HERE / "corpus.json").read_text())["attempts"]
    rows = record_attempts(
        NewExperience(
            strategy=each["strategy"],
            label=AttemptLabel(each["label"]),
            origin=ExperienceOrigin.IMPORTED,
            bottleneck=Bottleneck(each["bottleneck"]),
            gain=each["gain"],
            **{name: each[name] for name in AS_THEY_ARE},
        )
        for each in attempts
    )
    return {each["id"]: row for each, row in zip(attempts, rows, strict=True)}
