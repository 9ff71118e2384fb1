"""A document gets a new text, or goes: store it, and say of each citation what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils import timezone

from knowledge.curation.answer import close_flags
from knowledge.curation.history import record
from knowledge.curation.propose import Place, cite
from knowledge.models import (
    DRIFT,
    Action,
    Answer,
    Batch,
    Citation,
    Document,
    Flag,
    Revision,
    Spec,
    SpecState,
)
from knowledge.models.document import text_hash
from knowledge.specs.anchoring import Anchor, Reanchor
from knowledge.specs.citation import CitationState

# A retired value may lie on a text that is gone; nobody rests on it.
LIVE = (SpecState.PROPOSED, SpecState.APPROVED, SpecState.RETURNED)


@dataclass(frozen=True, slots=True)
class Drift:
    """One citation of a document and where it stands in the document's new text."""

    spec: Spec
    citation: Citation
    anchor: Anchor

    @property
    def holds(self) -> bool:
        return self.anchor.state in (CitationState.OK, CitationState.MOVED)


@dataclass(frozen=True, slots=True)
class Stored:
    """A new revision and what became of the citations into the text before it."""

    revision: Revision
    drifts: tuple[Drift, ...] = field(default=())


def store_text(
    path: str, title: str, text: str, *, origin: str, by: Any, batch: Batch | None = None
) -> Stored | None:
    """Store a text as the newest revision of the document at `path`; None if it already is that.

    Flags are not raised here: `settle` or the caller decides about each drift. Run it in a
    transaction.
    """
    document, _ = Document.objects.get_or_create(
        path=path, defaults={"title": title, "origin": origin}
    )
    newest = document.revisions.order_by("-number").first()
    back = document.withdrawn_at is not None
    sha256 = text_hash(text)
    if newest is not None and newest.sha256 == sha256 and not back:
        return None
    Document.objects.filter(pk=document.pk).update(title=title, withdrawn_at=None)
    revision = Revision.objects.create(
        document=document,
        number=newest.number + 1 if newest else 1,
        sha256=sha256,
        text=text,
        author=by,
        batch=batch,
    )
    return Stored(revision, tuple(drifts(document, text)))


def withdraw(document: Document, by: Any) -> tuple[Drift, ...]:
    """The document is no longer where it came from: every citation into it loses its source."""
    Document.objects.filter(pk=document.pk).update(withdrawn_at=timezone.now())
    gone = tuple(drifts(document, None))
    for drift in gone:
        settle(drift, None, by)
    return gone


def drifts(document: Document, text: str | None) -> Iterable[Drift]:
    """Where each live citation into the document stands in `text`; None: the document is gone."""
    by_revision: dict[int, list[Citation]] = defaultdict(list)
    for citation in _current(document):
        by_revision[citation.revision_id].append(citation)
    texts = Revision.objects.in_bulk(list(by_revision))
    for key, citations in by_revision.items():
        found = Reanchor(texts[key].text, text)
        for citation in citations:
            anchor = found.anchor(citation.line, citation.quote)
            yield Drift(citation.spec, citation, anchor)


def settle(drift: Drift, revision: Revision | None, by: Any) -> None:
    """Cite again what stands unchanged, and raise a flag on what does not.

    A flag that is already open follows to the newest text; one whose text came back is closed.
    """
    open_flags = Flag.objects.open().filter(spec=drift.spec, kind__in=DRIFT)
    if drift.holds and revision is not None:
        follow(drift, revision, by)
        if open_flags.exists():
            close_flags(drift.spec, Answer.WITHDRAWN, None, "the cited text stands again")
        return
    anchor = drift.anchor
    seen = {
        "kind": anchor.state.value,
        "revision": revision,
        "first_line": anchor.first_line,
        "last_line": anchor.last_line,
        "quote": anchor.quote,
        "note": anchor.note,
        "raised_by": by,
    }
    if open_flags.update(**seen):
        return
    Flag.objects.create(spec=drift.spec, **seen)
    words = f"{anchor.state}: {anchor.note}" if anchor.note else str(anchor.state)
    record(drift.spec, Action.FLAGGED, by, words, before=drift.citation.quote, after=anchor.quote)


def follow(drift: Drift, revision: Revision, by: Any) -> None:
    """Store where an unchanged quote stands in the new text."""
    first, last = drift.anchor.first_line, drift.anchor.last_line
    if first is None or last is None:
        raise ValueError(f"{drift.citation}: {drift.anchor.state} has no lines to follow")
    citation = cite(drift.spec, Place(revision, first, last), drift.anchor.quote)
    if drift.anchor.state is CitationState.MOVED:
        before, after = drift.citation.line.locator, citation.line.locator
        record(drift.spec, Action.CITED, by, "moved with its text", before=before, after=after)


def _current(document: Document) -> list[Citation]:
    """The newest citation of each live spec, as far as it lies in this document."""
    newer = Citation.objects.filter(spec=OuterRef("spec"), pk__gt=OuterRef("pk"))
    here = Citation.objects.filter(revision__document=document, spec__state__in=LIVE)
    found = here.filter(~Exists(newer)).select_related("spec__platform", "revision__document")
    return list(found.defer("revision__text"))
