"""Imports and disagreements, as the files of their pages write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from knowledge.api.lists import Read
from knowledge.api.shapes import columns_of
from knowledge.models import Batch, Disagreement


def _name(field: str) -> serializers.CharField:
    return serializers.CharField(source=f"{field}.username", allow_null=True, default=None)


def _uuid(field: str) -> serializers.UUIDField:
    return serializers.UUIDField(source=f"{field}.uuid", allow_null=True, default=None)


def _url(row: Any) -> str:
    found: str = row.get_absolute_url()
    return found


BatchSerializer = columns_of(
    "Batch",
    Batch,
    "number kind origin format state why author created_at decided_at undone_at undone_by url",
    "One import of files.",
    number=serializers.IntegerField(),
    author=_name("author"),
    undone_by=_name("undone_by"),
    url=Read(serializers.CharField(), _url),
)
DisagreementSerializer = columns_of(
    "Disagreement",
    Disagreement,
    "id state first second lesson decision by found_at decided_at url",
    "Two sides that say the opposite. first, second: attempts; lesson: the second side of others.",
    first=_uuid("first"),
    second=_uuid("second"),
    lesson=_uuid("lesson"),
    by=_name("by"),
    url=Read(serializers.CharField(), _url),
)
