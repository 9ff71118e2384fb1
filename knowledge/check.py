"""Does every citation still hold? Against its pinned revision, and against the shipped files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knowledge.folder import read_folder
from knowledge.importer import MEASURED, SHIPPED
from knowledge.models import Citation, Document, Flag, Revision, SpecState
from knowledge.specs.citation import CitationState, resolve


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not hold: where, what state it is in, and what to do."""

    place: str  # path:L23, or a path
    state: str  # changed, lost, corrupt, not imported
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.state}: {self.message}"


def check_wiki(folder: Path = SHIPPED) -> list[Problem]:
    """Every citation that does not resolve and every file that is not stored; empty if all is well.

    Raises ImportRefused for a folder that cannot be read.
    """
    files = read_folder(folder)
    problems = [
        *_corrupt(),
        *_broken_pins(),
        *_flagged(),
        *_drifted(files),
        *_missing(files),
    ]
    return sorted(problems, key=lambda problem: problem.place)


def _corrupt() -> Iterator[Problem]:
    for revision in Revision.objects.select_related("document").iterator():
        if not revision.intact:
            message = f"revision {revision.number} no longer has the hash {revision.short}"
            yield Problem(revision.document.path, "corrupt", message)


def _broken_pins() -> Iterator[Problem]:
    cited = Citation.objects.select_related("spec__platform", "revision__document")
    for citation in cited.iterator():
        state = resolve(citation.line, citation.quote, citation.revision.text)
        if state is not CitationState.OK:
            yield _problem(citation, state, f"in its own revision {citation.revision.short}")


def _flagged() -> Iterator[Problem]:
    """What a second person has not answered yet."""
    for flag in Flag.objects.open().select_related("spec__platform"):
        citation = flag.spec.citation
        place = f"{citation.line.path}:{citation.line.locator}" if citation else str(flag.spec)
        yield Problem(place, flag.kind, f"{flag.spec} waits for an answer; {flag.note}")


def _drifted(files: dict[str, str]) -> Iterator[Problem]:
    """Citations of the newest revisions against the files. Measured documents have no file."""
    for document in Document.objects.exclude(path__startswith=MEASURED):
        current = document.latest.citations.exclude(spec__state=SpecState.RETIRED)
        text = files.get(document.path)
        if text is None:
            yield Problem(document.path, CitationState.LOST, "the file is gone")
        for citation in current.select_related("spec__platform", "revision__document"):
            state = resolve(citation.line, citation.quote, text)
            if state is not CitationState.OK:
                yield _problem(citation, state, "in the file; import it, or restore the line")


def _missing(files: dict[str, str]) -> Iterator[Problem]:
    stored = {document.path: document.latest for document in Document.objects.all()}
    for path, text in files.items():
        if path not in stored:
            yield Problem(path, "not imported", "run `python manage.py wiki import`")
        elif stored[path].text != text:
            yield Problem(path, "not imported", "the file has changed since the last import")


def _problem(citation: Citation, state: CitationState, where: str) -> Problem:
    line = citation.line
    return Problem(f"{line.path}:{line.locator}", state, f"{line.metric}: {line.shown} {where}")
