"""What confirming an import of documents stores, what is noted of it, and how it is taken back.

Nothing is rewritten: earlier texts return as new revisions. What has been built upon since is never
pulled away: the undo is refused and names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from django.db.models import Max, OuterRef, Q, Subquery

from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.owners import brought_by_other, own_measurements
from knowledge.curation.review import enter, put_out_of_use
from knowledge.curation.revise import LIVE, CitationChange, settle, store_text, withdraw
from knowledge.curation.store import record
from knowledge.curation.turn import turn
from knowledge.exchange.batches import ImportKind, close
from knowledge.exchange.importer import check_preferred, require_catalogue, take_bundle
from knowledge.exchange.plan import Row, bases, counts, row
from knowledge.exchange.readers.bundle import Bundle, read_bundle, read_document
from knowledge.exchange.readers.files import ImportRefused, WikiFiles
from knowledge.exchange.take_documents import ImportOptions, ImportSummary, platform_columns, untold
from knowledge.models import (
    Action,
    Batch,
    BatchKind,
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
from knowledge.models.document import SHIPPED_ORIGIN, text_hash
from knowledge.models.spec import SpecQuerySet
from knowledge.search.index import index_documents
from knowledge.specs.tracking.anchoring import Reanchor

NAMED = 5  # documents that a message lists
AT_ONCE = "imported at once, without a plan"


def _needs_second_person(batch: Batch) -> list[str]:
    """Why a curator other than its author has to confirm a plan; empty where its author may."""
    if batch.author is None:
        return []
    platforms = batch.plan.get("platforms", ())
    new = sorted(each["slug"] for each in platforms if each["is_new"])
    anew = sorted(each["slug"] for each in platforms if not each["is_new"])
    other = brought_by_other(batch.origin, batch.author)
    reasons = {
        f"it introduces {', '.join(new)}": new,
        f"it describes {', '.join(anew)} anew": anew,
        f"documents of '{batch.origin}' were brought in by {other}": other,
    }
    return [reason for reason, holds in reasons.items() if holds]


def _take_planned(batch: Batch, by: Any, ready: None) -> ImportSummary:
    bundle = read_bundle(batch.files, ours=batch.origin == SHIPPED_ORIGIN)
    return _take(batch, bundle, intake_of(batch))


def intake_of(batch: Batch) -> ImportOptions:
    """How a planned import is taken."""
    return ImportOptions(batch.origin, batch.author, batch, whole=bool(batch.plan["whole"]))


def take_at_once(
    brought: WikiFiles, *, vouched: bool = False, tell: Callable[[int, int], None] = untold
) -> tuple[Batch | None, ImportSummary]:
    """Import without a plan, from a command; it can be undone as one.

    tell: called now and then, with how many documents are stored and how many there are. None where
    no document changes. Vouching for values of unchanged documents is a review, which
    an undo leaves alone. Raises ImportRefused, and Conflict where its turn does not come.
    """
    intake = ImportOptions(brought.name, None, None, vouched, brought.whole, tell)
    with turn():
        bundle = read_bundle(brought.texts, ours=brought.name == SHIPPED_ORIGIN)
        bundle.require_readable()
        hashes = {path: text_hash(text) for path, text in bundle.texts.items()}
        stored = bases(intake.origin, bundle.texts, whole=intake.whole)
        # Whether a document would be new, changed or withdrawn; own measurements never are.
        touched = {*stored, *hashes} - own_measurements(bundle.texts)
        if all(stored.get(path) == hashes.get(path) for path in touched):
            return None, take_bundle(bundle, intake)
        batch = Batch.objects.create(
            origin=brought.name, state=BatchState.CONFIRMED, plan={"whole": brought.whole}
        )
        return batch, _take(batch, bundle, replace(intake, batch=batch))


def _require_ready(batch: Batch) -> None:
    """Refuse a plan with refusals, or made for other texts or platforms than are stored now."""
    if batch.plan.get("refused"):
        raise CurationError("files", "some files are refused; accepted: a plan without refusals")
    planned = batch.plan["base"]
    now = bases(batch.origin, batch.files, whole=bool(batch.plan["whole"]))
    changed = sorted(p for p in planned | now if planned.get(p) != now.get(p))
    columns = platform_columns()
    before = batch.plan["described"]
    changed += sorted(f"platform {slug}" for slug in before if before[slug] != columns.get(slug))
    if changed:
        more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
        raise Conflict(
            f"{', '.join(changed[:NAMED])}{more} changed since this plan was made; drop it and "
            "make a new one"
        )


def _take(batch: Batch, bundle: Bundle, intake: ImportOptions) -> ImportSummary:
    """Import, and note what an undo has to know."""
    before = before_import(bundle.texts, intake)
    summary = take_bundle(bundle, intake)
    note_import(batch, before, summary)
    return summary


def before_import(texts: Mapping[str, str], intake: ImportOptions) -> Row:
    """What an undo has to know of the time before: documents, platforms and values."""
    touched = bases(intake.origin, texts, whole=intake.whole)
    held = sorted(_approved_in(touched)) if intake.vouched else []
    return {"touched": touched, "platforms": platform_columns(), "held": held}


def note_import(batch: Batch, before: Row, summary: ImportSummary) -> None:
    """The import is done: forget its files, and keep what it did."""
    touched, platforms = before["touched"], before["platforms"]
    now = platform_columns()
    were_there = [path for path, sha256 in touched.items() if sha256]
    withdrawn = Document.objects.filter(path__in=were_there).exclude(withdrawn_at=None)
    gone = list(withdrawn.values_list("path", flat=True))
    described = {slug: [old, now[slug]] for slug, old in platforms.items() if now[slug] != old}
    made = {
        "last_spec": Spec.objects.aggregate(last=Max("pk"))["last"] or 0,
        "last_citation": Citation.objects.aggregate(last=Max("pk"))["last"] or 0,
        "last_change": SpecChange.objects.aggregate(last=Max("pk"))["last"] or 0,
        "withdrawn": gone,
        "were_withdrawn": [path for path, sha256 in touched.items() if not sha256],
        "retired": sorted(set(before["held"]) - _approved_in(touched)),
        "platforms": described,
    }
    plan: Row = {"made": made, "done": counts(summary)}
    plan |= {"told": [asdict(told) for told in summary.told]}
    if "documents" not in batch.plan:  # nobody planned it
        found = batch.revisions.select_related("document").defer("text").order_by("document__path")
        born = {each.document.path for each in found if each.number == 1}
        rows = {
            d.path: row(d.path, "new" if d.path in born else "changed", title=d.title, note=AT_ONCE)
            for d in (each.document for each in found)
        }
        plan["documents"] = [*rows.values(), *(row(path, "withdrawn") for path in gone)]
        plan["platforms"] = [asdict(platform) for platform in summary.platforms]
    close(batch, **plan)


def _approved_in(paths: Mapping[str, str]) -> set[int]:
    """Approved specs that rest on one of these documents."""
    specs = Spec.objects.filter(state=SpecState.APPROVED)
    here = specs.filter(citations__revision__document__path__in=list(paths))
    return set(here.values_list("pk", flat=True))


def _take_back(batch: Batch, by: Any, words: str) -> None:
    """Take back documents, proposals, approvals and flags that an import caused.

    Raises Conflict where what is left does not hold without it. Run it in a turn.
    """
    mine = made_by(batch).exclude(state=SpecState.RETIRED)
    put_out_of_use(mine, FlagAnswer.WITHDRAWN, by, words)
    _put_documents_back(batch, by, words)
    _put_platforms_back(batch)
    try:
        check_preferred()
        require_catalogue(SHIPPED_ORIGIN)
    except ImportRefused as error:
        raise Conflict(f"without this import {error}") from error


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
    # Values that are preferred now where one that this import retired would return.
    own = set(keys.values_list("pk", flat=True))
    for spec in Spec.objects.filter(pk__in=last["retired"], rank="preferred"):
        now = Spec.objects.preferred().asking(spec.platform, spec.metric, spec.qualifiers)
        yield from (f"{other} is preferred now" for other in now if other.pk not in own)


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


def _put_documents_back(batch: Batch, by: Any, words: str) -> None:
    made = batch.plan["made"]
    paths = {*batch.revisions.values_list("document__path", flat=True), *made["withdrawn"]}
    texts = []
    for document in Document.objects.filter(path__in=paths):
        # The newest text from before the import; of a document that it withdrew, the last one.
        texts_before = document.revisions.order_by("-number")
        first = texts_before.filter(batch=batch).last()
        if first is not None:
            texts_before = texts_before.filter(number__lt=first.number)
        earlier = texts_before.first()
        if earlier is None or document.path in made["were_withdrawn"]:
            if document.withdrawn_at is None:
                withdraw(document, by)
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


WIKI = ImportKind(
    BatchKind.WIKI, _require_ready, _take_planned, _built_upon, _take_back, _needs_second_person
)
