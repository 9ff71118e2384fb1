"""Whose a document is: only an import of the origin that brought it changes it.

What belongs to this installation, the shipped wiki and its measurements, takes its own path back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from knowledge.curation.errors import CurationError, require_storable
from knowledge.curation.revise import LIVE
from knowledge.curation.store import chunks
from knowledge.models import Citation, Document, Revision
from knowledge.models.document import MEASURED_ORIGIN, OWN_ORIGINS, text_hash
from knowledge.specs.citation import LONGEST_ORIGIN


def require_origin(origin: str) -> str:
    """The name of an import that is not this installation's own; CurationError says what is."""
    name = require_storable("origin", origin.strip(), LONGEST_ORIGIN)
    if not name:
        raise CurationError("origin", "a name is needed, by which a later import knows it again")
    if name.casefold() in OWN_ORIGINS:
        raise CurationError(
            "origin", f"'{name}' names documents of this installation; accepted: another name"
        )
    return name


def not_owned(texts: Mapping[str, str], origin: str) -> dict[str, str]:
    """Documents of another origin that these texts would change: path → whose, and what to do.

    A withdrawn document on which no value rests is nobody's.
    """
    if origin in OWN_ORIGINS:
        return {}
    rests = Citation.objects.filter(revision__document=OuterRef("pk"), spec__state__in=LIVE)
    newest = Revision.objects.filter(document=OuterRef("pk")).order_by("-number")
    others = Document.objects.filter(path__in=list(texts)).exclude(origin=origin)
    found = {}
    for document in others.annotate(
        newest=Subquery(newest.values("sha256")[:1]), rests=Exists(rests)
    ):
        gone = document.withdrawn_at is not None
        same = not gone and document.newest == text_hash(texts[document.path])
        if not same and (document.rests or not gone):
            if document.origin in OWN_ORIGINS:
                accepted = "the same text, or another path; a backup is restored into a wiki "
                accepted += "without documents"
            else:
                accepted = "bring it under that name; a curator who did not plan it confirms"
            found[document.path] = (
                f"{document.path}: belongs to '{document.origin}'; accepted: {accepted}"
            )
    return found


def own_measurements(paths: Iterable[str]) -> set[str]:
    """Keep the paths that hold a measurement of this installation, which stands."""
    own = Document.objects.filter(origin=MEASURED_ORIGIN, withdrawn_at=None)
    return set(own.filter(path__in=list(paths)).values_list("path", flat=True))


def keep_origins(said: Iterable[tuple[str, str]], stored: Collection[str], by: Any) -> None:
    """Give documents that were new here the origins that the export says, which a command brings.

    said: path and origin; stored: paths of documents that were here before. That a document is this
    installation's own, shipped or measured, is believed only where none of its own was here: then
    it is a backup that is restored. Run it in a turn, after the documents.
    """
    if by is not None:
        return
    own = Document.objects.filter(origin__in=OWN_ORIGINS).values_list("path", flat=True)
    restored = not set(stored).intersection(own)
    found: dict[str, list[str]] = defaultdict(list)
    for path, name in said:
        is_own = name.casefold() in OWN_ORIGINS
        if path not in stored and (restored or not is_own):
            found[name.casefold() if is_own else name].append(path)
    for name, paths in found.items():
        for some in chunks(paths):
            Document.objects.filter(path__in=some).update(origin=name)


def brought_by_other(origin: str, person: Any) -> str:
    """Who else has brought documents of this origin, in words; empty if nobody has."""
    texts = Revision.objects.filter(document__origin=origin).exclude(author=person)
    first = texts.select_related("author").order_by("pk").first()
    if first is None:
        return ""
    return first.author.get_username() if first.author is not None else "a command"
