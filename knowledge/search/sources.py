"""Values and documents of the wiki as they stand in the search index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db.models import OuterRef, Subquery
from django.urls import reverse

from knowledge.models import Document, Kind, Revision, Spec, SpecState
from knowledge.search.index import Entry, put

AT_ONCE = 2_000


def index_specs(specs: Iterable[Spec]) -> None:
    """Put these values into the index. What review makes of them is read when they are shown."""
    put(_spec(spec) for spec in specs)


def index_documents(newest: Iterable[tuple[Document, str]]) -> None:
    """Put documents into the index, each with its newest text."""
    put(_document(document, text) for document, text in newest)


def all_specs() -> Iterator[Entry]:
    """Every value that is not retired."""
    rows = Spec.objects.exclude(state=SpecState.RETIRED).select_related("platform")
    for spec in rows.iterator(AT_ONCE):
        yield _spec(spec)


def all_documents() -> Iterator[Entry]:
    """Every document with its newest text."""
    newest = Revision.objects.filter(document=OuterRef("pk")).order_by("-number")
    rows = Document.objects.annotate(newest=Subquery(newest.values("text")[:1]))
    for document in rows.iterator(100):
        yield _document(document, document.newest or "")


def _spec(spec: Spec) -> Entry:
    platform = spec.platform
    return Entry(
        kind=Kind.SPEC,
        key=str(spec.pk),
        url=spec.get_absolute_url(),
        title=f"{spec.metric} of {platform.name}: {spec.shown}",
        body="\n".join(filter(None, (" ".join(spec.qualifiers.values()), spec.source, spec.note))),
        facets={
            "platform": platform.slug,
            "arch": platform.target,
            "dtype": spec.qualifiers.get("dtype", ""),
        },
        also=f"{platform.vendor} {platform.arch} {spec.evidence}",
    )


def _document(document: Document, text: str) -> Entry:
    # Its own address may be longer than the column; the hit asks the document for it.
    return Entry(
        kind=Kind.DOCUMENT,
        key=str(document.pk),
        url=reverse("knowledge:documents"),
        title=document.title,
        also=f"{document.path} {text}",
    )
