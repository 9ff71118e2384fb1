"""Confirm or drop a planned import; of two people who decide at once one wins."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from knowledge.archive import Brought
from knowledge.bundle import read_bundle
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.people import may_review, require_proposer
from knowledge.curation.plan import Row, bases, counts, platform_columns, row
from knowledge.folder import ImportRefused
from knowledge.importer import SHIPPED_ORIGIN, ImportSummary, Intake, take_files
from knowledge.models import Batch, BatchState, Citation, Document, Spec, SpecChange, SpecState
from knowledge.models.document import text_hash

NAMED = 5  # documents that a message lists
AT_ONCE = "imported at once, without a plan"


def may_decide(batch: Batch, person: Any) -> bool:
    """Whether this user may confirm or drop the plan: its author, or a curator."""
    return bool(person == batch.author or may_review(person))


def describes_anew(batch: Batch) -> list[str]:
    """Known platforms whose description would change: at once, so only a curator confirms it."""
    return [each["slug"] for each in batch.plan.get("platforms", ()) if not each["is_new"]]


def confirm(batch: Batch, by: Any) -> ImportSummary:
    """Do what was planned, all or nothing, in the name of who planned it.

    Raises Forbidden, Conflict (decided already, or documents changed since) and CurationError for
    files that are not taken.
    """
    _require_may_decide(batch, by)
    anew = describes_anew(batch)
    if anew and by is not None and not may_review(by):
        raise Forbidden(f"it describes {', '.join(anew)} anew; a curator confirms that")
    if batch.plan.get("refused"):
        raise CurationError("files", "some files are refused; accepted: a plan without refusals")
    try:
        with transaction.atomic():
            _decide(batch, BatchState.CONFIRMED, by)
            _require_unchanged(batch)
            whole = bool(batch.plan["whole"])
            intake = Intake(batch.origin, batch.author, batch, whole=whole)
            return _take(batch, batch.files, intake)
    except ImportRefused as error:
        raise CurationError("files", str(error)) from error


def drop(batch: Batch, by: Any, why: str = "") -> None:
    """Forget the files of a plan; that there was one stays."""
    _require_may_decide(batch, by)
    with transaction.atomic():
        _decide(batch, BatchState.DROPPED, by)
        Batch.objects.filter(pk=batch.pk).update(files={}, why=why.strip()[:300])
    batch.refresh_from_db()


def take_at_once(brought: Brought, *, vouched: bool = False) -> tuple[Batch | None, ImportSummary]:
    """Import without a plan, from a command; it can be undone as one.

    None where no document changes. Vouching for values of unchanged documents is a review, which
    an undo leaves alone.
    """
    intake = Intake(brought.name, None, None, vouched=vouched, whole=brought.whole)
    with transaction.atomic():
        if not _differs(brought):
            return None, take_files(brought.texts, intake)
        batch = Batch.objects.create(
            origin=brought.name, state=BatchState.CONFIRMED, plan={"whole": brought.whole}
        )
        return batch, _take(batch, brought.texts, replace(intake, batch=batch))


def _differs(brought: Brought) -> bool:
    """Whether a document would be new, changed or withdrawn. Raises ImportRefused."""
    bundle = read_bundle(brought.texts, ours=brought.name == SHIPPED_ORIGIN)
    bundle.require_readable()
    hashes = {path: text_hash(text) for path, text in bundle.texts.items()}
    return bases(brought.name, brought.texts, whole=brought.whole) != hashes


def _require_may_decide(batch: Batch, by: Any) -> None:
    require_proposer(by)
    if by is not None and not may_decide(batch, by):
        raise Forbidden("only who planned an import, or a curator, decides on it")


def _decide(batch: Batch, state: BatchState, by: Any) -> None:
    plan = batch.plan | {"decided_by": by.get_username() if by is not None else "a command"}
    rows = Batch.objects.filter(pk=batch.pk, state=BatchState.PLANNED)
    if not rows.update(state=state, decided_at=timezone.now(), plan=plan):
        batch.refresh_from_db()
        who = batch.plan.get("decided_by", "somebody")
        raise Conflict(f"{batch} was {batch.get_state_display()} by {who} in the meantime")
    batch.state, batch.plan = state, plan


def _require_unchanged(batch: Batch) -> None:
    """Refuse a plan that was made for other texts than are stored now."""
    planned = batch.plan["base"]
    now = bases(batch.origin, batch.files, whole=bool(batch.plan["whole"]))
    changed = sorted(p for p in planned | now if planned.get(p) != now.get(p))
    if changed:
        more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
        raise Conflict(
            f"{', '.join(changed[:NAMED])}{more} changed since this plan was made; drop it and "
            "make a new one"
        )


def _take(batch: Batch, files: dict[str, str], intake: Intake) -> ImportSummary:
    """Import, and note what an undo has to know."""
    touched = bases(intake.origin, files, whole=intake.whole)
    platforms = platform_columns()
    held = _approved_in(touched) if intake.vouched else set()
    summary = take_files(files, intake)
    now, gone = platform_columns(), _gone(touched)
    described = {slug: [old, now[slug]] for slug, old in platforms.items() if now[slug] != old}
    made = {
        "last_spec": Spec.objects.aggregate(last=Max("pk"))["last"] or 0,
        "last_citation": Citation.objects.aggregate(last=Max("pk"))["last"] or 0,
        "last_change": SpecChange.objects.aggregate(last=Max("pk"))["last"] or 0,
        "withdrawn": gone,
        "were_withdrawn": [path for path, sha256 in touched.items() if not sha256],
        "retired": sorted(held - _approved_in(touched)),
        "platforms": described,
    }
    plan = batch.plan | {"made": made, "done": counts(summary)}
    plan |= {"told": [asdict(told) for told in summary.told]}
    if "documents" not in plan:
        plan |= {"documents": _stored(batch) + [row(path, "withdrawn") for path in gone]}
    Batch.objects.filter(pk=batch.pk).update(files={}, plan=plan, decided_at=timezone.now())
    batch.refresh_from_db()
    return summary


def _stored(batch: Batch) -> list[Row]:
    """The documents of an import that nobody planned."""
    found = batch.revisions.select_related("document").defer("text").order_by("document__path")
    titles = {each.document.path: each.document.title for each in found}
    born = {each.document.path for each in found if each.number == 1}
    return [
        row(path, "new" if path in born else "changed", title=title, note=AT_ONCE)
        for path, title in titles.items()
    ]


def _approved_in(paths: dict[str, str]) -> set[int]:
    """Approved specs that rest on one of these documents."""
    specs = Spec.objects.filter(state=SpecState.APPROVED)
    here = specs.filter(citations__revision__document__path__in=list(paths))
    return set(here.values_list("pk", flat=True))


def _gone(touched: dict[str, str]) -> list[str]:
    """Documents that this import has withdrawn."""
    were_there = [path for path, sha256 in touched.items() if sha256]
    gone = Document.objects.filter(path__in=were_there).exclude(withdrawn_at=None)
    return list(gone.values_list("path", flat=True))
