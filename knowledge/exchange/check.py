"""Does every citation still hold? Against its pinned revision, and against the shipped files.

And do the tables of the catalogue, with every id that the guides name?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db.models import Exists, OuterRef, Prefetch, Q

from knowledge.curation.revise import LIVE, drifts
from knowledge.exchange.importer import SHIPPED, origin_of
from knowledge.exchange.readers.bundle import as_documents, read_document
from knowledge.exchange.readers.files import TAKEN, ImportRefused, read_folder
from knowledge.experience.catalogue.store import read_with_shipped, unknown_mentions
from knowledge.lookup.standing import standings
from knowledge.models import DRIFT, Citation, Document, Flag, Revision, Spec
from knowledge.models.document import MEASURED_ORIGIN
from knowledge.specs.citation import CitationState, resolve

REVISIONS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class WikiFault:
    """One thing that does not hold: where, what state it is in, and what to do."""

    place: str  # path:L23, or a path
    state: str  # a citation's state, a flag's kind, corrupt, not imported, unreadable, catalogue
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.state}: {self.message}"


def check_wiki(folder: Path = SHIPPED) -> list[WikiFault]:
    """Every citation that does not resolve and every file that is not stored; empty if all is well.

    It says of each citation what pages and an import of the folder say; one that moved holds. Only
    documents that come from this folder are compared with its files. Raises ImportRefused for a
    folder that cannot be read.
    """
    files = as_documents(read_folder(folder, TAKEN))
    stored = {d.path: d for d in Document.objects.filter(withdrawn_at=None)}
    problems = [*_broken_revisions(), *_waiting()]
    for path, text in files.items():
        why = ""
        if path not in stored:
            why = "run `.venv/bin/python manage.py wiki import`"
        # What this installation measured itself stands, whatever the wiki brings of that model.
        elif stored[path].origin != MEASURED_ORIGIN and stored[path].latest.text != text:
            why = "the file has changed since the last import"
        problems += [WikiFault(path, "not imported", why)] if why else []
    origin = origin_of(folder)
    # Rows of the catalogue that cannot be read, and ids that it does not hold.
    found = read_with_shipped(files, origin)
    for fault in (*found.faults, *unknown_mentions(files, found)):
        if fault.document in files:
            place = f"{fault.document}:L{fault.line}"
            problems.append(WikiFault(place, "catalogue", fault.message))
    for document in stored.values():
        if document.origin == origin:
            problems += _drifted(document, files.get(document.path))
    return sorted(problems, key=lambda problem: problem.place)


def _broken_revisions() -> Iterator[WikiFault]:
    """Stored texts without their hash, and citations that do not hold in the text they pin."""
    cited = Citation.objects.select_related("spec__platform")
    revisions = Revision.objects.select_related("document").prefetch_related(
        Prefetch("citations", cited)
    )
    for revision in revisions.iterator(chunk_size=REVISIONS_AT_ONCE):
        if not revision.intact:
            message = f"revision {revision.number} no longer has the hash {revision.short}"
            yield WikiFault(revision.document.path, "corrupt", message)
        for citation in revision.citations.all():
            citation.revision = revision
            state = resolve(citation.line, citation.quote, revision.text)
            if state is not CitationState.OK:
                yield _problem(citation, state, f"in its own revision {revision.short}")


def _waiting() -> Iterator[WikiFault]:
    """What a second person has not answered yet, and what was neither followed nor flagged.

    The latter may be of rows of an earlier version.
    """
    sheet = Prefetch("spec", Spec.objects.for_sheet())
    for flag in Flag.objects.open().prefetch_related(sheet):
        citation = flag.spec.citation
        place = f"{citation.line.path}:{citation.line.locator}" if citation else str(flag.spec)
        yield WikiFault(place, flag.kind, f"{flag.spec} waits for an answer; {flag.note}")

    newer = Revision.objects.filter(
        document=OuterRef("revision__document"), number__gt=OuterRef("revision__number")
    )
    old = Q(Exists(newer)) | Q(revision__document__withdrawn_at__isnull=False)
    behind = Citation.objects.newest().filter(old, spec__state__in=LIVE)
    flagged = Flag.objects.open().filter(kind__in=DRIFT)
    keys = behind.exclude(spec__in=flagged.values("spec")).values("spec")
    specs = list(Spec.objects.for_sheet().filter(pk__in=keys))
    states = standings(specs)
    for spec in specs:
        if spec.citation is not None and not states[spec.pk].holds:
            yield _problem(spec.citation, states[spec.pk], "in the newest text; cite it again")


def _drifted(document: Document, text: str | None) -> Iterator[WikiFault]:
    """What would become of a document's citations, were its file imported now."""
    if text is None:
        yield WikiFault(document.path, CitationState.SOURCE_MISSING, "the file is missing")
    elif text == document.latest.text:
        return
    else:
        try:
            read_document(document.path, text)
        except ImportRefused as error:
            yield WikiFault(document.path, "unreadable", str(error))
    for drift in drifts(document, text):
        if not drift.holds:
            words = f"in the file; import it, or restore the line. {drift.anchor.note}"
            yield _problem(drift.citation, drift.anchor.state, words)


def _problem(citation: Citation, state: CitationState, where: str) -> WikiFault:
    line = citation.line
    return WikiFault(f"{line.path}:{line.locator}", state, f"{line.metric}: {line.shown} {where}")
