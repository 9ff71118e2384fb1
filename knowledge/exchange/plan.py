"""Plan an import: what it would do, document by document, before anything is done.

The plan is the import itself, run and taken back: what it says is what confirming it does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from django.db import transaction
from django.db.models import Max, Prefetch, Q

from knowledge.curation.errors import CurationError
from knowledge.curation.owners import not_owned, require_origin
from knowledge.curation.people import require_proposer
from knowledge.curation.turn import turn
from knowledge.curation.warn import warnings_of
from knowledge.exchange.importer import take_bundle
from knowledge.exchange.readers.bundle import Bundle, document_paths, read_bundle
from knowledge.exchange.readers.files import ImportRefused, WikiFiles
from knowledge.exchange.take_documents import (
    ImportOptions,
    ImportSummary,
    platform_columns,
    store_platforms,
)
from knowledge.models import Batch, Citation, Document, Flag, FlagKind, Revision, Spec
from knowledge.models.document import SHIPPED_ORIGIN
from knowledge.specs.facts import PlatformFacts

CHECKED = 200  # values that a plan holds against the constraints
LISTED = 50  # proposed values that a plan lists of one document; it counts the others
QUOTED = 200  # characters of a text that a plan repeats
TRIES = 5  # runs without the document that stopped the last one
# Values that a person brings at a time: a plan is an import, and on SQLite nobody else writes then.
MOST_VALUES = 20_000
MARKS = (" | evidence=", '"value"', " <- <gpu-wiki>/")  # each value in a file has one of them

Row = dict[str, Any]
Trial = Callable[[Mapping[str, str], Bundle, ImportOptions], Row]


def plan_import(brought: WikiFiles, by: Any) -> Batch:
    """Store a plan of importing these files. No document and no spec is written.

    by: the user, or None for a command. Raises Forbidden, and CurationError for a name that
    documents of this installation have and for more values than one import may hold.
    """
    origin = require_plannable(brought, by)
    with turn():
        plan = plan_of(brought, ImportOptions(origin=origin, by=by, whole=brought.whole))
        return Batch.objects.create(origin=origin, files=brought.texts, plan=plan, author=by)


def require_plannable(brought: WikiFiles, by: Any) -> str:
    """The origin of what this user brings. Raises as `plan_import` does."""
    require_proposer(by)
    if by is None:
        return brought.name
    origin = require_origin(brought.name)
    values = sum(text.count(mark) for text in brought.texts.values() for mark in MARKS)
    if values > MOST_VALUES:
        raise CurationError(
            "files",
            f"{values:,} values; accepted: {MOST_VALUES:,} at a time, in several imports, or all "
            "of them by `.venv/bin/python manage.py wiki import` on the server",
        )
    return origin


def bases(origin: str, files: Iterable[str], *, whole: bool) -> dict[str, str]:
    """The documents that an import of these files touches, each with the hash of its newest text.

    The hash is "" for a document that is withdrawn.
    """
    touched = Q(path__in=document_paths(files))
    if whole:
        touched |= Q(origin=origin, withdrawn_at=None)
    documents = Document.objects.filter(touched)
    newest: dict[int, str] = {}
    revisions = Revision.objects.filter(document__in=documents).order_by("number")
    for document, sha256 in revisions.values_list("document", "sha256"):
        newest[document] = sha256
    return {d.path: "" if d.withdrawn_at else newest[d.pk] for d in documents}


def plan_of(brought: WikiFiles, intake: ImportOptions, attempt: Trial | None = None) -> Row:
    """What an import of these files would do. attempt: imports them and takes that back."""
    bundle = read_bundle(brought.texts, ours=intake.origin == SHIPPED_ORIGIN)
    known = platform_columns()
    described = {facts.slug: known.get(facts.slug) for facts in bundle.platforms}
    refused = bundle.refused | not_owned(bundle.texts, intake.origin)
    found: Row = {}
    for _ in range(TRIES):
        # A file, or the document that keeps it.
        readable = {
            path: text
            for path, text in brought.texts.items()
            if path not in refused and document_paths([path])[0] not in refused
        }
        try:
            if refused:
                bundle = read_bundle(readable, ours=intake.origin == SHIPPED_ORIGIN)
            found = (attempt or try_import)(readable, bundle, intake)
            break
        except ImportRefused as error:
            path = str(error).partition(":")[0]
            if path not in readable:
                refused[""] = str(error)
                break
            refused[path] = str(error)
    rows = [row(path or "all files", "refused", note=why) for path, why in refused.items()]
    return {
        "whole": brought.whole,
        "left_out": list(brought.left_out),
        "refused": len(refused),
        "base": bases(intake.origin, brought.texts, whole=brought.whole),
        "described": described,
        "counts": found.get("counts", {}),
        "unchecked": found.get("unchecked", 0),
        "documents": rows + found.get("documents", []),
        "platforms": found.get("platforms", []),
        "told": found.get("told", []),
    }


def row(path: str, outcome: str, *, note: str = "", title: str = "") -> Row:
    """One document of a plan."""
    return {
        "path": path,
        "outcome": outcome,
        "title": title,
        "note": note,
        "specs": [],
        "specs_more": 0,
        "citations": [],
    }


def try_import(
    files: Mapping[str, str],
    bundle: Bundle,
    intake: ImportOptions,
    platforms: Iterable[PlatformFacts] = (),
) -> Row:
    """Import, look what that did, and take it back. platforms: what else it may speak of."""
    with turn():
        trial = Batch.objects.create(origin=intake.origin, author=intake.by)
        intake = replace(intake, batch=trial)
        described = store_platforms(platforms)
        before = bases(intake.origin, files, whole=intake.whole)
        last = Spec.objects.aggregate(last=Max("pk"))["last"] or 0
        flagged = Flag.objects.aggregate(last=Max("pk"))["last"] or 0
        summary = take_bundle(bundle, intake)
        rows = _documents(files, bundle, before, trial)
        unchecked = _fill_citations(rows, trial, last)
        _fill_flags(rows, trial, flagged)
        found = {
            "counts": counts(summary),
            "unchecked": unchecked,
            "documents": list(rows.values()),
            "platforms": [asdict(platform) for platform in (*described, *summary.platforms)],
            "told": [asdict(told) for told in summary.told],
        }
        transaction.set_rollback(True)
    return found


def counts(summary: ImportSummary) -> dict[str, int]:
    """The numbers of a summary."""
    every = {field.name: getattr(summary, field.name) for field in fields(summary)}
    return {name: count for name, count in every.items() if isinstance(count, int)}


def _documents(
    files: Iterable[str], bundle: Bundle, before: Mapping[str, str], trial: Batch
) -> dict[str, Row]:
    stored = set(trial.revisions.values_list("document__path", flat=True))
    rows = {}
    taken = set(document_paths(files))
    for path, page in bundle.pages.items():
        if path not in taken:
            continue
        if path not in stored:
            outcome = "unchanged"
        elif path not in before:
            outcome = "new"
        else:
            outcome = "changed" if before[path] else "back"
        rows[path] = row(path, outcome, title=page.title, note=bundle.plain.get(path, ""))
    gone = Document.objects.filter(path__in=[path for path in before if path not in rows])
    for document in gone.exclude(withdrawn_at=None):
        if before[document.path]:
            note = "not among the files: its values lose their source"
            rows[document.path] = row(document.path, "withdrawn", title=document.title, note=note)
    return rows


def _fill_citations(rows: Mapping[str, Row], trial: Batch, last_spec: int) -> int:
    """The values that are proposed, and the citations that move with their text.

    How many values were not held against the constraints; a review does that for each.
    """
    made = Citation.objects.filter(revision__batch=trial).order_by("first_line", "pk")
    made = made.select_related("spec__platform", "spec__replaces", "revision__document")
    made = made.defer("revision__text")
    followed = made.filter(spec__lte=last_spec).order_by().values("spec")
    before = Citation.objects.filter(spec__in=followed).exclude(revision__batch=trial)
    was = {citation.spec_id: citation for citation in before.order_by("pk")}
    new: dict[str, list[Citation]] = defaultdict(list)
    for citation in made:
        path = citation.revision.document.path
        if path not in rows:
            continue
        if citation.spec_id > last_spec:
            new[path].append(citation)
        elif was[citation.spec_id].first_line != citation.first_line:
            place = f"L{was[citation.spec_id].first_line}"
            rows[path]["citations"].append(
                {"text": str(citation), "state": "moved", "was": place, "note": "", "quote": ""}
            )
    listed = {path: citations[:LISTED] for path, citations in new.items()}
    keys = [citation.spec_id for citations in listed.values() for citation in citations]
    specs = Spec.objects.for_sheet().filter(pk__in=keys[:CHECKED]).order_by("pk")
    warned = warnings_of(list(specs))
    for path, citations in listed.items():
        rows[path]["specs_more"] = len(new[path]) - len(citations)
        for citation in citations:
            spec = citation.spec
            told: Row = {"text": str(citation), "platform": spec.platform.slug}
            told |= {"state": spec.state, "rank": spec.rank}
            told["replaces"] = spec.replaces.shown if spec.replaces else ""
            warnings = warned.get(spec.pk, [])
            told["warnings"] = [each.message for each in warnings if not each.waived]
            rows[path]["specs"].append(told)
    return max(0, sum(map(len, new.values())) - CHECKED)


def _fill_flags(rows: Mapping[str, Row], trial: Batch, last_flag: int) -> None:
    """The citations that would not hold."""
    gone = [path for path, row in rows.items() if row["outcome"] == "withdrawn"]
    lost = Q(kind=FlagKind.SOURCE_MISSING, spec__citations__revision__document__path__in=gone)
    flags = Flag.objects.open().filter(Q(revision__batch=trial) | lost).distinct()
    flags = flags.select_related("revision__document")
    by_path: dict[str, list[Flag]] = defaultdict(list)
    for flag in flags.prefetch_related(Prefetch("spec", Spec.objects.for_sheet())):
        citation = flag.spec.citation
        if citation is not None:
            by_path[citation.revision.document.path].append(flag)
    for path, row in rows.items():
        for flag in by_path[path]:
            note = flag.note if flag.pk > last_flag else f"flagged before. {flag.note}"
            row["citations"].append(
                {
                    "text": str(flag.spec.citation),
                    "state": flag.kind,
                    "was": "",
                    "note": note.strip(),
                    "quote": flag.quote[:QUOTED],
                }
            )
