"""The series of an accepted kernel: each measurement against v0 after its campaign, sorted, and
what a person answered. All are events, so they stand in the campaign's log and are never rewritten.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from campaigns.models.event import Datum, Event


class SeriesWish(Event):
    """A measurement was queued. evaluation: its key. why: without a full stop."""

    KIND = "series_queued"

    evaluation = Datum[int]()
    why = Datum[str]()

    class Meta:
        proxy = True
        verbose_name_plural = "series wishes"


class SeriesEntry(Event):
    """What one measurement came to, beside the one that it is compared with.

    evaluation, before: keys; before is None for the first. why: it was measured. sort, sentence,
    changed: as `campaigns.rules.noise.series.Sorted`. floor: its words. was, now: the fields of
    `campaigns.rules.noise.series.SeriesSession` as plain data; was is None for the first.
    """

    KIND = "series_sorted"

    evaluation = Datum[int]()
    before = Datum[int | None]()
    why = Datum[str]()
    sort = Datum[str]()
    sentence = Datum[str]()
    changed = Datum[list[dict[str, str]]]()
    was = Datum[dict[str, Any] | None]()
    now = Datum[dict[str, Any]]()

    class Meta:
        proxy = True
        verbose_name_plural = "series entries"


class SeriesAnswerWord(models.TextChoices):
    """What follows from a number that moved."""

    KNOWN = "known", "the new number is accepted"
    REOPENED = "reopened", "a new campaign takes it up"
    INVALID = "invalid", "the result is invalid"


class SeriesAnswer(Event):
    """A person's answer to one entry. entry: the key of the `SeriesEntry`."""

    KIND = "series_answered"

    entry = Datum[int]()
    answer = Datum[str]()
    why = Datum[str]()

    class Meta:
        proxy = True

    @property
    def words(self) -> str:
        """The answer as people read it."""
        return SeriesAnswerWord(self.answer).label
