"""What a round's stored hypothesis says of how its gain reaches real use (R21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from campaigns.models import Round
from campaigns.rules.verdict.buckets import Bucket, Declared


def declared_of(round_: Round) -> Declared | None:
    """None for the baseline; one of before there were buckets declares none."""
    stored: Mapping[str, Any] = round_.hypothesis
    if not stored:
        return None
    bucket = stored.get("bucket")
    return Declared(
        bucket=Bucket(bucket) if bucket else None,
        work_us=stored.get("work_us"),
        step_us=stored.get("step_us"),
    )
