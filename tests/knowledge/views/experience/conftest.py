"""Attempts and lessons, as the tests of their steps make them."""

from tests.knowledge.experience.lessons.conftest import active, entry, lesson

__all__ = ["active", "entry", "lesson"]
