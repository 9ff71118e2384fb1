"""Whether what a lesson rests on was measured with another compiler or driver than now."""

from __future__ import annotations

from knowledge.experience.staleness import stale_words
from knowledge.models import EntryStanding, Lesson


def lesson_stale_words(lesson: Lesson) -> list[str]:
    """Why the newest attempt that supports the lesson asks to be tried again; empty where none."""
    rests = lesson.evidence.filter(agrees=True, entry__standing=EntryStanding.COUNTS)
    newest = rests.select_related("entry__track").order_by("-entry__happened_at").first()
    return stale_words(newest.entry) if newest else []
