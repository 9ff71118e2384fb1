"""The index of SQLite: FTS5 over the words of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from knowledge.search.engine.expression import AllOf, AnyOf, Expression, Holds

FTS = "knowledge_searchrow_fts"
# Rows that are asked for, as a condition on their key with one parameter.
CONDITION = f"knowledge_searchrow.id IN (SELECT rowid FROM {FTS} WHERE {FTS} MATCH %s)"


def written(asked: Expression) -> str:
    """The expression in the language of MATCH. Every word is quoted, so none is an operator."""
    if isinstance(asked, Holds):
        return '"' + asked.word.replace('"', '""') + '"'
    if isinstance(asked, AllOf):
        return "(" + " AND ".join(map(written, asked.parts)) + ")"
    if isinstance(asked, AnyOf):
        return "(" + " OR ".join(map(written, asked.parts)) + ")"
    return f"({written(asked.wanted)} NOT {written(asked.unwanted)})"


@contextmanager
def by_index() -> Iterator[None]:
    """Nothing to arrange: MATCH is always answered by the index."""
    yield
