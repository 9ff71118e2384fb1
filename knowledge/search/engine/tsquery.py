"""The index of PostgreSQL: lexemes that are the words as they are, under a GIN index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from knowledge.search.engine.expression import AllOf, AnyOf, Expression, Holds

CONDITION = "knowledge_searchrow.lexemes @@ %s::tsquery"


def written(asked: Expression) -> str:
    """The expression as a tsquery. Every word is quoted, so none is an operator."""
    if isinstance(asked, Holds):
        return "'" + asked.word.replace("\\", "\\\\").replace("'", "''") + "'"
    if isinstance(asked, AllOf):
        return "(" + " & ".join(map(written, asked.parts)) + ")"
    if isinstance(asked, AnyOf):
        return "(" + " | ".join(map(written, asked.parts)) + ")"
    return f"({written(asked.wanted)} & !{written(asked.unwanted)})"


@contextmanager
def by_index() -> Iterator[None]:
    """Let the planner read whole tables only where no index answers.

    It believes that words which often stand together are independent, and then reads a million
    texts to save the index a few thousand.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        yield
