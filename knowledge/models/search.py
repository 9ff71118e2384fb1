"""The search index: one row for each thing that can be found, and the words that are in use.

The full-text index over `words` is made by a migration: FTS5 on SQLite, an array of lexemes with a
GIN index on PostgreSQL. `knowledge.search` is the only writer.
"""

from __future__ import annotations

from django.db import models


class Kind(models.TextChoices):
    """What a row stands for, in the order in which a page shows it."""

    PLATFORM = "platform", "platforms"
    SPEC = "spec", "values"
    DOCUMENT = "document", "documents"
    STRATEGY = "strategy", "strategies"
    TRACK = "track", "experience"
    LESSON = "lesson", "lessons"
    ENTRY = "entry", "attempts"
    ROUND = "round", "rounds"
    GAP = "gap", "gaps"


class SearchRow(models.Model):
    """One thing that can be found.

    key: its own key within its kind, as text. facets: name → value, each also in `words` as
    `name=value`. title, body: what is shown and ranked. words: every distinct word, lower case,
    with a space between each two. weight: of equal matches the largest comes first.
    """

    kind = models.CharField(max_length=12, choices=Kind.choices)
    key = models.CharField(max_length=80)
    url = models.CharField(max_length=300)
    title = models.CharField(max_length=300)
    body = models.TextField(blank=True)
    facets = models.JSONField(default=dict, blank=True)
    words = models.TextField()
    weight = models.FloatField(default=0.0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="one_search_row")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class SearchWord(models.Model):
    """A word of the index, and in how many rows it stands."""

    word = models.CharField(max_length=60, primary_key=True)
    rows = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.word
