"""Take a confirmed import back as one. Nothing is rewritten: earlier texts return as new revisions.

What has been built upon since is never pulled away: the undo is refused and names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from knowledge.curation.errors import LONGEST_BATCH_REASON, Conflict, require_reason
from knowledge.curation.people import require_reviewer
from knowledge.curation.review import enter, put_out_of_use
from knowledge.curation.revise import LIVE, CitationChange, settle, store_text, withdraw
from knowledge.curation.store import record
from knowledge.curation.turn import turn
from knowledge.exchange.importer import check_preferred, require_catalogue
from knowledge.exchange.platform_rows import platform_columns
from knowledge.exchange.readers.bundle import read_document
from knowledge.exchange.readers.folder import ImportRefused
from knowledge.models import (
    Action,
    Batch,
    BatchState,
    Citation,
    Document,
    FlagAnswer,
    Platform,
    Revision,
    Spec,
    SpecChange,
    SpecState,
)
from knowledge.models.document import SHIPPED_ORIGIN
from knowledge.models.spec import SpecQuerySet
from knowledge.search.index import index_documents
from knowledge.specs.tracking.anchoring import Reanchor

NAMED = 8  # things that a refusal lists


def undo(batch: Batch, by: Any, why: str) -> None:
    """Take an import back: documents, proposals, approvals and flags that it caused.

    by: a curator, or None for a command. Raises Forbidden, CurationError without a reason, and
    Conflict where somebody was first or something imported has been built upon since.
    """
    require_reviewer(by)
    reason = require_reason(why, LONGEST_BATCH_REASON)
    with turn(batch):
        if batch.state != BatchState.CONFIRMED:
            state = batch.get_state_display()
            raise Conflict(f"{batch} is {state}; only a confirmed import can be undone")
        built = [*_built_upon(batch)]
        if built:
            more = f"; and {len(built) - NAMED} more" if len(built) > NAMED else ""
            raise Conflict(f"built upon since: {'; '.join(built[:NAMED])}{more}")
        words = f"{batch} was undone: {reason}"
        _retire_made(batch, by, words)
        _put_documents_back(batch, by, words)
        _put_platforms_back(batch)
        try:
            check_preferred()
            require_catalogue(SHIPPED_ORIGIN)
        except ImportRefused as error:
            raise Conflict(f"without this import {error}") from error
        done = {"state": BatchState.UNDONE, "undone_at": timezone.now(), "undone_by": by}
        Batch.objects.filter(pk=batch.pk).update(**done, why=reason)
    batch.refresh_from_db()


def made_by(batch: Batch) -> SpecQuerySet:
    """The specs that an import created: their first citation came with it."""
    first = Citation.objects.filter(spec=OuterRef("pk")).order_by("pk")
    made = batch.plan["made"]
    own = Spec.objects.filter(pk__lte=made["last_spec"], citations__revision__batch=batch)
    began = own.annotate(began=Subquery(first.values("revision__batch")[:1]))
    found: SpecQuerySet = began.filter(began=batch.pk).distinct().select_related("platform")
    return found


def _built_upon(batch: Batch) -> Iterator[str]:
    """What somebody did since that rests on this import, each in a few words."""
    last = batch.plan["made"]
    imported = batch.revisions.select_related("document").order_by("number")
    # Of a document that came with earlier texts, the last one is what the import left behind.
    for revision in {revision.document_id: revision for revision in imported}.values():
        newest = revision.document.latest
        if newest.sha256 != revision.sha256:
            who = newest.author.get_username() if newest.author else "a command"
            yield f"{revision.document.path} has revision {newest.number} by {who}"
        elif revision.document.withdrawn_at is not None:
            yield f"{revision.document.path} was withdrawn"
    later = Citation.objects.filter(revision__batch=batch, pk__gt=last["last_citation"])
    for citation in later.filter(spec__state__in=LIVE).select_related(
        "spec__platform", "revision__document"
    ):
        yield f"{citation} of {citation.spec.platform.slug} was cited by hand"
    mine = made_by(batch)
    keys = mine.values("pk")
    others = Spec.objects.filter(replaces__in=keys, state__in=LIVE).exclude(pk__in=keys)
    for other in others.select_related("platform", "replaces"):
        yield f"{other} replaces {other.replaces.shown if other.replaces else ''}"
    since = {"changes__pk__gt": last["last_change"], "changes__action": Action.APPROVED}
    for spec in mine.filter(state=SpecState.APPROVED, **since):
        yield from _replaced_by_hand(spec, last["last_change"])
    yield from _decided_since(batch)
    yield from _taken_places(batch)


def _replaced_by_hand(spec: Spec, last_change: int) -> Iterator[str]:
    """Values that stepped back when a person approved this one."""
    approval = spec.changes.filter(pk__gt=last_change, action=Action.APPROVED).first()
    if approval is None:
        return
    same = Q(platform=spec.platform, metric=spec.metric, qualifiers=spec.qualifiers)
    if spec.replaces_id:
        same |= Q(pk=spec.replaces_id)
    stepped = Spec.objects.filter(same).exclude(pk=spec.pk).filter(
        changes__pk__gt=last_change, changes__action__in=[Action.RETIRED, Action.RANKED]
    )  # fmt: skip
    for other in stepped.distinct():
        yield f"{spec} was approved by {approval.who} in place of {other.shown}"


def _decided_since(batch: Batch) -> Iterator[str]:
    """Values that this import retired, and on which somebody has spoken since."""
    made = batch.plan["made"]
    later = SpecChange.objects.filter(spec__in=made["retired"], pk__gt=made["last_change"])
    # A decision says more than the flags that it answers.
    every = sorted(
        later.select_related("by", "spec__platform"),
        key=lambda change: (change.action not in (Action.FLAGGED, Action.ANSWERED), change.pk),
    )
    for change in {change.spec_id: change for change in every}.values():
        yield f"{change.spec} was {change.get_action_display()} by {change.who}"


def _taken_places(batch: Batch) -> Iterator[str]:
    """Values that are preferred now where one that this import retired would return."""
    mine = set(made_by(batch).values_list("pk", flat=True))
    for spec in Spec.objects.filter(pk__in=batch.plan["made"]["retired"], rank="preferred"):
        now = Spec.objects.preferred().asking(spec.platform, spec.metric, spec.qualifiers)
        yield from (f"{other} is preferred now" for other in now if other.pk not in mine)


def _retire_made(batch: Batch, by: Any, words: str) -> None:
    mine = made_by(batch).exclude(state=SpecState.RETIRED)
    put_out_of_use(mine, FlagAnswer.WITHDRAWN, by, words)


def _put_documents_back(batch: Batch, by: Any, words: str) -> None:
    made = batch.plan["made"]
    paths = {*batch.revisions.values_list("document__path", flat=True), *made["withdrawn"]}
    texts = []
    for document in Document.objects.filter(path__in=paths):
        earlier = _before(document, batch)
        if earlier is None or document.path in made["were_withdrawn"]:
            _withdraw(document, by)
            continue
        page = read_document(document.path, earlier.text)
        stored = store_text(document.path, page.title, earlier.text, origin=document.origin, by=by)
        if stored is None:
            continue  # a later import has brought it back already
        # What this import had flagged stands as it did.
        settle(stored.drifts, stored.revision, by, closing=(by, words))
        _restore(document, earlier, stored.revision, batch, (by, words))
        texts.append((stored.revision.document, earlier.text))
    index_documents(texts)


def _before(document: Document, batch: Batch) -> Revision | None:
    """The newest text from before the import; of a document that it withdrew, the last one."""
    earlier = document.revisions.order_by("-number")
    first = document.revisions.filter(batch=batch).order_by("number").first()
    revision: Revision | None = (
        earlier.filter(number__lt=first.number).first() if first is not None else earlier.first()
    )
    return revision


def _withdraw(document: Document, by: Any) -> None:
    if document.withdrawn_at is None:
        withdraw(document, by)


def _restore(
    document: Document, earlier: Revision, now: Revision, batch: Batch, said: tuple[Any, str]
) -> None:
    """Values that the import had replaced on the word of a command count again."""
    by, words = said
    retired = Spec.objects.filter(
        pk__in=batch.plan["made"]["retired"], citations__revision__document=document
    )
    for spec in retired.filter(state=SpecState.RETIRED).distinct():
        citation = spec.citation
        if citation is None:
            continue
        found = Reanchor(citation.revision.text, earlier.text)
        anchor = found.anchor(citation.line, citation.quote, spec.platform.slug)
        drift = CitationChange(spec, citation, anchor)
        enter(spec, SpecState.APPROVED)
        record(spec, Action.RESTORED, by, words, after=spec.shown)
        settle([drift], now, by)


def _put_platforms_back(batch: Batch) -> None:
    """What the import changed about a platform, unless somebody changed it again."""
    now = platform_columns()
    for slug, (before, after) in batch.plan["made"]["platforms"].items():
        if now.get(slug) != after:
            continue
        for other, columns in now.items():
            taken = set(before["aliases"]) & set(columns["aliases"])
            if other != slug and taken:
                raise Conflict(f"built upon since: drivers report '{min(taken)}' of {other} now")
        Platform.objects.filter(slug=slug).update(**before)
