"""Documents by words of their path, title or newest text, with the line that holds them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery

from knowledge.models import Document, Revision

MOST_CHARACTERS, MOST_WORDS = 200, 20
SNIPPET = 160  # characters


def documents_with(text: str) -> QuerySet[Document]:
    """Documents that hold every word, those with all of them in path or title first.

    Each has `changed_at`, the time of its newest text. An empty text asks for all. None holds more
    words than MOST_WORDS or more characters than MOST_CHARACTERS.
    """
    found = Document.objects.annotate(changed_at=Max("revisions__created_at")).order_by("path")
    words = text.split()
    if len(text) > MOST_CHARACTERS or len(words) > MOST_WORDS:
        return found.none()
    if not words:
        return found
    newest = Revision.objects.filter(document=OuterRef("pk")).order_by("-number")
    named = Q()
    for word in words:
        named &= Q(path__icontains=word) | Q(title__icontains=word)
    texts = found.annotate(text=Subquery(newest.values("text")[:1]), named=named)
    for word in words:
        texts = texts.filter(
            Q(path__icontains=word) | Q(title__icontains=word) | Q(text__icontains=word)
        )
    return texts.order_by(F("named").desc(), "path")


def snippets(documents: Iterable[Document], text: str) -> dict[int, tuple[int, str]]:
    """Key of a document → number and words of the line with most of the words; none without."""
    words = [word.casefold() for word in text.split()]
    found = {}
    for document in documents:
        lines = str(vars(document).get("text", "")).splitlines()
        held = [sum(word in line.casefold() for word in words) for line in lines]
        if any(held):
            best = held.index(max(held))
            found[document.pk] = (best + 1, _around(lines[best].strip(), words))
    return found


def _around(line: str, words: Iterable[str]) -> str:
    """The part of a long line around the first of the words."""
    if len(line) <= SNIPPET:
        return line
    first = min(at for word in words if (at := line.casefold().find(word)) >= 0)
    start = max(0, min(first - SNIPPET // 3, len(line) - SNIPPET))
    cut = line[start : start + SNIPPET]
    return f"{'…' if start else ''}{cut}{'…' if start + SNIPPET < len(line) else ''}"
