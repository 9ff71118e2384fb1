"""A document gets a new text, or goes: store it, and say of each citation what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils import timezone

from knowledge.curation.answer import close_all
from knowledge.curation.store import chunks, entry_of
from knowledge.models import (
    DRIFT,
    Action,
    Batch,
    Citation,
    Document,
    Flag,
    FlagAnswer,
    Revision,
    Spec,
    SpecChange,
    SpecState,
)
from knowledge.models.document import text_hash
from knowledge.specs.citation import CitationState
from knowledge.specs.tracking.anchoring import Anchor, Reanchor

# A retired value may lie on a text that is gone; nobody rests on it.
LIVE = (SpecState.PROPOSED, SpecState.APPROVED, SpecState.RETURNED)


@dataclass(frozen=True, slots=True)
class CitationChange:
    """One citation of a document and where it stands in the document's new text."""

    spec: Spec
    citation: Citation
    anchor: Anchor

    @property
    def holds(self) -> bool:
        return self.anchor.state in (CitationState.OK, CitationState.MOVED)


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A new revision and what became of the citations into the text before it."""

    revision: Revision
    drifts: tuple[CitationChange, ...] = field(default=())


def store_text(
    path: str, title: str, text: str, *, origin: str, by: Any, batch: Batch | None = None
) -> StoredRevision | None:
    """Store a text as the newest revision of the document at `path`; None if it already is that.

    The document is of this origin from now on; whether it may be is for `owners` to say. Flags are
    not raised here: `settle` or the caller decides about the drifts, and the caller puts the text
    into the search index. Run it in a turn.
    """
    document, is_new = Document.objects.get_or_create(
        path=path, defaults={"title": title, "origin": origin}
    )
    newest = None if is_new else document.revisions.order_by("-number").first()
    back = document.withdrawn_at is not None
    sha256 = text_hash(text)
    if newest is not None and newest.sha256 == sha256 and not back:
        return None
    if not is_new:
        rows = Document.objects.filter(pk=document.pk)
        rows.update(title=title, origin=origin, withdrawn_at=None)
    revision = Revision.objects.create(
        document=document,
        number=newest.number + 1 if newest else 1,
        sha256=sha256,
        text=text,
        author=by,
        batch=batch,
    )
    document.title = title
    return StoredRevision(revision, () if newest is None else tuple(drifts(document, text)))


def withdraw(document: Document, by: Any) -> tuple[CitationChange, ...]:
    """The document is no longer where it came from: every citation into it loses its source."""
    Document.objects.filter(pk=document.pk).update(withdrawn_at=timezone.now())
    gone = tuple(drifts(document, None))
    settle(gone, None, by)
    return gone


def drifts(document: Document, text: str | None) -> Iterable[CitationChange]:
    """The new place of each live citation into the document; text None: the document is gone."""
    by_revision: dict[int, list[Citation]] = defaultdict(list)
    here = Citation.objects.newest().filter(revision__document=document, spec__state__in=LIVE)
    for citation in here:
        by_revision[citation.revision_id].append(citation)
    texts = Revision.objects.in_bulk(list(by_revision))
    for key, citations in by_revision.items():
        found = Reanchor(texts[key].text, text)
        for citation in citations:
            slug = citation.spec.platform.slug
            anchor = found.anchor(citation.line, citation.quote, slug)
            yield CitationChange(citation.spec, citation, anchor)


def settle(
    found: Iterable[CitationChange],
    revision: Revision | None,
    by: Any,
    *,
    closing: tuple[Any, str] = (None, "the cited text stands again"),
) -> None:
    """Cite again what stands unchanged, and raise a flag on what does not.

    A flag that is already open follows to the newest text; one whose text came back is closed, in
    the name and with the words of `closing`.
    """
    every = list(found)
    flagged: dict[int, list[Flag]] = defaultdict(list)
    for some in chunks([drift.spec.pk for drift in every]):
        drifted = Flag.objects.open().filter(spec__in=some, kind__in=DRIFT)
        for flag in drifted.select_related("spec__platform"):
            flagged[flag.spec_id].append(flag)
    if revision is not None:
        standing = [drift for drift in every if drift.holds]
        _follow(standing, revision, by)
        back = [flag for drift in standing for flag in flagged[drift.spec.pk]]
        close_all(back, FlagAnswer.WITHDRAWN, *closing)
        every = [drift for drift in every if not drift.holds]
    following = []
    for drift in every:
        seen = _seen(drift, revision, by)
        for flag in flagged[drift.spec.pk]:
            for name, value in seen.items():
                setattr(flag, name, value)
            following.append(flag)
    for flags in chunks(following):
        Flag.objects.bulk_update(
            flags, ("kind", "revision", "first_line", "last_line", "quote", "note", "raised_by")
        )
    new = [drift for drift in every if not flagged[drift.spec.pk]]
    Flag.objects.bulk_create(Flag(spec=d.spec, **_seen(d, revision, by)) for d in new)
    changes = []
    for drift in new:
        anchor, before = drift.anchor, drift.citation.quote
        words = f"{anchor.state}: {anchor.note}" if anchor.note else str(anchor.state)
        ends = {"before": before, "after": anchor.quote}
        changes.append(entry_of(drift.spec, Action.FLAGGED, by, words, **ends))
    SpecChange.objects.bulk_create(changes)


def _seen(drift: CitationChange, revision: Revision | None, by: Any) -> dict[str, Any]:
    """The columns of a flag: what became of a citation, and where its place is now."""
    anchor = drift.anchor
    return {
        "kind": anchor.state.value,
        "revision": revision,
        "first_line": anchor.first_line,
        "last_line": anchor.last_line,
        "quote": anchor.quote,
        "note": anchor.note,
        "raised_by": by,
    }


def _follow(standing: list[CitationChange], revision: Revision, by: Any) -> None:
    """Store where unchanged quotes stand in the new text."""
    citations, moves = [], []
    for drift in standing:
        now, before = drift.anchor, drift.citation.line
        if now.first_line is None or now.last_line is None:
            raise ValueError(f"{drift.citation}: {now.state} has no lines to follow")
        place = replace(before, first_line=now.first_line, last_line=now.last_line)
        lines = {"first_line": place.first_line, "last_line": place.last_line}
        citations.append(Citation(spec=drift.spec, revision=revision, quote=now.quote, **lines))
        if now.state is CitationState.MOVED:
            ends = {"before": before.locator, "after": place.locator}
            words = f"moved with its text {now.note}"
            moves.append(entry_of(drift.spec, Action.CITED, by, words, **ends))
    Citation.objects.bulk_create(citations)
    SpecChange.objects.bulk_create(moves)


def recheck(spec: Spec, by: Any) -> bool:
    """Follow a citation whose text has moved, and flag one that does not hold; whether it did that.

    by: who brings the value back, and may therefore not answer the flag. Run it in a turn.
    """
    citation = spec.citation
    if citation is None:
        return False
    document = citation.revision.document
    newest = None if document.withdrawn_at is not None else document.latest
    found = Reanchor(citation.revision.text, None if newest is None else newest.text)
    anchor = found.anchor(citation.line, citation.quote, spec.platform.slug)
    drift = CitationChange(spec, citation, anchor)
    if drift.anchor.state is CitationState.OK and drift.anchor.quote == citation.quote:
        return False
    settle([drift], newest, by)
    return not drift.holds
