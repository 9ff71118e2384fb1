"""Confirm or drop a planned import; of two people who decide at once one wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db.models import Max
from django.utils import timezone

from knowledge.curation.errors import (
    LONGEST_BATCH_REASON,
    Conflict,
    CurationError,
    Forbidden,
    require_storable,
)
from knowledge.curation.owners import brought_by_other, own_measurements
from knowledge.curation.people import may_review, require_proposer
from knowledge.curation.turn import turn, who_was_first
from knowledge.exchange.importer import take_bundle
from knowledge.exchange.plan import Row, bases, counts, row
from knowledge.exchange.platform_rows import platform_columns
from knowledge.exchange.readers.archive import WikiFiles
from knowledge.exchange.readers.bundle import Bundle, read_bundle
from knowledge.exchange.readers.folder import ImportRefused
from knowledge.exchange.take_documents import ImportOptions, ImportSummary, untold
from knowledge.models import Batch, BatchState, Citation, Document, Spec, SpecChange, SpecState
from knowledge.models.document import SHIPPED_ORIGIN, text_hash

NAMED = 5  # documents that a message lists
AT_ONCE = "imported at once, without a plan"


def may_decide(batch: Batch, person: Any) -> bool:
    """Whether this user may confirm or drop the plan: its author, or a curator."""
    return bool(person == batch.author or may_review(person))


def second_person_for(batch: Batch) -> list[str]:
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


def is_second_person(batch: Batch, person: Any) -> bool:
    """Whether this user may confirm what its author alone may not."""
    return bool(person != batch.author and may_review(person))


def confirm(batch: Batch, by: Any) -> ImportSummary:
    """Do what was planned, all or nothing, in the name of who planned it.

    Raises Forbidden, Conflict (decided already, or documents changed since) and CurationError for
    files that are not taken.
    """
    try:
        with turn(batch):
            decide_to_take(batch, by, BatchState.CONFIRMED)
            bundle = read_bundle(batch.files, ours=batch.origin == SHIPPED_ORIGIN)
            return _take(batch, bundle, intake_of(batch))
    except ImportRefused as error:
        raise CurationError("files", str(error)) from error


def decide_to_take(batch: Batch, by: Any, state: BatchState) -> None:
    """Bring a plan that may be confirmed to this state. Raises as `confirm` does; in its turn."""
    require_proposer(by)
    _require_may_decide(batch, by)
    _require_second_person(batch, by)
    if batch.plan.get("refused"):
        raise CurationError("files", "some files are refused; accepted: a plan without refusals")
    _decide(batch, state, by)
    _require_unchanged(batch)


def intake_of(batch: Batch) -> ImportOptions:
    """How a planned import is taken."""
    return ImportOptions(batch.origin, batch.author, batch, whole=bool(batch.plan["whole"]))


def drop(batch: Batch, by: Any, why: str = "") -> None:
    """Forget the files of a plan; that there was one stays."""
    require_proposer(by)
    reason = require_storable("why", why.strip(), LONGEST_BATCH_REASON)
    with turn(batch):
        _require_may_decide(batch, by)
        _decide(batch, BatchState.DROPPED, by, among=(BatchState.PLANNED, BatchState.PLANNING))
        Batch.objects.filter(pk=batch.pk).update(files={}, why=reason)
    batch.refresh_from_db()


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
        if not _differs(bundle, intake):
            return None, take_bundle(bundle, intake)
        batch = Batch.objects.create(
            origin=brought.name, state=BatchState.CONFIRMED, plan={"whole": brought.whole}
        )
        return batch, _take(batch, bundle, replace(intake, batch=batch))


def _differs(bundle: Bundle, intake: ImportOptions) -> bool:
    """Whether a document would be new, changed or withdrawn; own measurements never are."""
    hashes = {path: text_hash(text) for path, text in bundle.texts.items()}
    stored = bases(intake.origin, bundle.texts, whole=intake.whole)
    own = own_measurements(bundle.texts)
    return any(stored.get(p) != hashes.get(p) for p in {*stored, *hashes} - own)


def _require_may_decide(batch: Batch, by: Any) -> None:
    if by is not None and not may_decide(batch, by):
        raise Forbidden("only its author or a curator can decide on an import")


def _require_second_person(batch: Batch, by: Any) -> None:
    reasons = second_person_for(batch)
    if reasons and by is not None and not is_second_person(batch, by):
        raise Forbidden(f"{'; '.join(reasons)}: a curator other than its author confirms that")


def _decide(
    batch: Batch, state: BatchState, by: Any, among: Sequence[str] = (BatchState.PLANNED,)
) -> None:
    if batch.state not in among:
        raise Conflict(who_was_first(batch))
    plan = batch.plan | {"decided_by": by.get_username() if by is not None else "a command"}
    rows = Batch.objects.filter(pk=batch.pk)
    rows.update(state=state, plan=plan, decided_at=timezone.now())
    batch.state, batch.plan = state, plan


def _require_unchanged(batch: Batch) -> None:
    """Refuse a plan that was made for other texts or platforms than are stored now."""
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
    now, gone = platform_columns(), _gone(touched)
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
    plan = batch.plan | {"made": made, "done": counts(summary)}
    plan |= {"told": [asdict(told) for told in summary.told]}
    if "documents" not in plan:
        plan |= {"documents": _stored(batch) + [row(path, "withdrawn") for path in gone]}
        plan |= {"platforms": [asdict(platform) for platform in summary.platforms]}
    rows = Batch.objects.filter(pk=batch.pk)
    done = {"state": BatchState.CONFIRMED, "decided_at": timezone.now()}
    rows.update(files={}, plan=plan, progress={}, **done)
    batch.refresh_from_db()


def _stored(batch: Batch) -> list[Row]:
    """The documents of an import that nobody planned."""
    found = batch.revisions.select_related("document").defer("text").order_by("document__path")
    titles = {each.document.path: each.document.title for each in found}
    born = {each.document.path for each in found if each.number == 1}
    return [
        row(path, "new" if path in born else "changed", title=title, note=AT_ONCE)
        for path, title in titles.items()
    ]


def _approved_in(paths: Mapping[str, str]) -> set[int]:
    """Approved specs that rest on one of these documents."""
    specs = Spec.objects.filter(state=SpecState.APPROVED)
    here = specs.filter(citations__revision__document__path__in=list(paths))
    return set(here.values_list("pk", flat=True))


def _gone(touched: Mapping[str, str]) -> list[str]:
    """Documents that this import has withdrawn."""
    were_there = [path for path, sha256 in touched.items() if sha256]
    gone = Document.objects.filter(path__in=were_there).exclude(withdrawn_at=None)
    return list(gone.values_list("path", flat=True))
