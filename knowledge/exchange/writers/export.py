"""The wiki as a plain folder that imports again to the same records.

Documents byte for byte, an index where there is none, and specs.json with what the documents'
own spec lines do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.db.models import Exists, OuterRef

from knowledge.curation.store import chunks
from knowledge.exchange.readers.bundle import read_document
from knowledge.exchange.readers.exported_specs import FILE_NAME, KEPT_FILE, Row, is_kept
from knowledge.exchange.readers.files import JUNK, TAKEN, ImportRefused, read_folder, require_inside
from knowledge.exchange.writers.exported_rows import (
    FilePosition,
    brought_at,
    snapshot,
    spec_row,
    special_specs,
    stated,
    with_everything,
    write_kept,
)
from knowledge.models import Citation, Document, Flag, Platform, Revision
from knowledge.specs.facts import PlatformFacts, PlatformKind
from knowledge.specs.reader import Page, SpecLine

DOCUMENTS_AT_ONCE = 50
TEXTS_AT_ONCE = 10
INDEX = "README.md"


class ExportRefused(ValueError):
    """A folder that is not written to; the message says why. Nothing was written."""


def export_files() -> Iterator[tuple[str, str]]:
    """Name and text of one file of the export after the other; the same for the same records.

    Take all of them in one `snapshot`, so that the files agree. Raises ExportRefused before the
    first one where a document is stored under a path that leaves the folder.
    """
    export = _Export()
    yield from export.documents()
    yield from write_kept(export.rows())


def export_folder(folder: Path) -> int:
    """Write the export into an empty folder, or over an earlier export; the number of files.

    Files of the earlier export that are gone from the wiki are removed. Raises ExportRefused.
    """
    stale = _earlier_export(folder)
    written = set()
    with snapshot():
        for name, text in export_files():
            file = folder / name
            if not file.resolve().is_relative_to(folder.resolve()):
                raise ExportRefused(f"{name}: points outside {folder}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
            written.add(name)
    for name in stale - written:
        (folder / name).unlink()
    return len(written)


def _earlier_export(folder: Path) -> set[str]:
    """What stands in the folder already, all of which an export may replace."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise ExportRefused(f"{folder}: not a folder; accepted: an empty one, or a new name")
    if not any(folder.iterdir()):
        return set()
    every = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()}
    try:
        found = read_folder(folder, TAKEN, as_documents=False)
    except ImportRefused as error:
        raise ExportRefused(f"{folder}: no earlier export: {error}") from error
    strange = sorted(every - set(found))
    if strange or not is_kept(KEPT_FILE, found.get(KEPT_FILE, "")):
        holds = strange[0] if strange else f"no {KEPT_FILE} of an export"
        raise ExportRefused(
            f"{folder}: not empty and no earlier export ({holds}); accepted: an empty folder"
        )
    return set(found)


@dataclass(slots=True)
class _Newest:
    """The newest text of a document, without the text."""

    pk: int
    sha256: str
    withdrawn: bool


@dataclass(slots=True)
class _Export:
    """Goes through the documents once, and notes what specs.json has to say of them."""

    special: set[int] = field(default_factory=set)
    newest: dict[int, _Newest] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    places: dict[int, FilePosition] = field(
        default_factory=dict
    )  # spec → where it stands in specs.json
    texts: set[int] = field(default_factory=set)  # revisions that are no document of the export
    unread: list[tuple[str, int, str]] = field(default_factory=list)
    described: dict[str, PlatformFacts] = field(default_factory=dict)

    def documents(self) -> Iterator[tuple[str, str]]:
        """Every document under its name in the folder, by path; then the index."""
        self.special = special_specs()
        withdrawn = set(Document.objects.exclude(withdrawn_at=None).values_list("pk", flat=True))
        revisions = Revision.objects.order_by("number")
        for pk, revision, sha256 in revisions.values_list("document", "pk", "sha256"):
            self.newest[pk] = _Newest(revision, sha256, pk in withdrawn)
        every = list(Document.objects.order_by("path"))
        present = [document.path for document in every if document.withdrawn_at is None]
        self.names = file_names(present)
        try:
            for name in self.names.values():
                require_inside(name)
        except ImportRefused as error:
            raise ExportRefused(str(error)) from error
        titles = []
        for first in range(0, len(every), DOCUMENTS_AT_ONCE):
            some = every[first : first + DOCUMENTS_AT_ONCE]
            texts = Revision.objects.in_bulk([self.newest[d.pk].pk for d in some])
            cited = _cited(some)
            for document in some:
                here = cited.get(document.pk, [])
                if document.withdrawn_at is not None:
                    self.texts.add(self.newest[document.pk].pk)
                    self._note(None, document, here)
                    continue
                text = texts[self.newest[document.pk].pk].text
                yield self.names[document.path], text
                try:
                    page = read_document(document.path, text)
                except ImportRefused:
                    page = None  # stored before a rule of today: its values are all recorded
                titles.append((document.path, page.title if page is not None else document.title))
                self._note(page, document, here)
        if needs_index(present):
            rows = "\n".join(f"- [{title}]({path})" for path, title in titles)
            yield INDEX, f"# Hardware wiki\n\nEvery document of this wiki.\n\n{rows}\n"

    def rows(self) -> Iterator[tuple[str, Row]]:
        """The records of specs.json, once all documents have been gone through."""
        for path, name in sorted(self.names.items()):
            if name != path:
                yield "names", {"file": name, "path": path}
        for path, origin in Document.objects.order_by("path").values_list("path", "origin"):
            yield "documents", {"path": path, "origin": origin}
        for p in Platform.objects.order_by("slug"):
            own = (p.slug, p.name, p.vendor, p.arch, PlatformKind(p.kind), p.target)
            facts = PlatformFacts(*own, tuple(p.aliases))
            if self.described.get(p.slug) != facts:
                yield "platforms", asdict(facts)
        for path, sha256, text in self._earlier():
            yield "earlier", {"path": path, "sha256": sha256, "text": text}
        for path, number, quote in self.unread:
            yield "unread", {"path": path, "line": number, "quote": quote}
        for some in chunks(list(self.places)):
            found = with_everything(some)
            for key in some:
                yield "specs", spec_row(found[key], self.places)

    def _note(self, page: Page | None, document: Document, cited: list[Citation]) -> None:
        """Which values of a document need a record, and which of its lines make no value."""
        if page is not None and page.platform is not None:
            self.described[page.platform.slug] = page.platform
        lines = {line.line: line for line in page.specs} if page is not None else {}
        newest = self.newest[document.pk]
        rebuilt: set[int] = set()  # lines of which an import makes exactly the stored spec
        others: list[tuple[Citation, bool, SpecLine | None]] = []
        for citation in cited:
            spec = citation.spec
            earlier = newest.withdrawn or citation.revision.sha256 != newest.sha256
            # The spec line that it rests on alone, if it is one.
            single = not earlier and citation.first_line == citation.last_line
            line = lines.get(citation.first_line) if single else None
            same = page is not None and spec.platform.slug == page.platform_slug
            same = same and spec.pk not in self.special
            if (
                line is not None
                and line.line not in rebuilt
                and same
                and stated(spec) == stated(line.facts)
            ):
                rebuilt.add(line.line)
            else:
                others.append((citation, earlier, line))
        claimed = set()
        for citation, earlier, line in others:
            instead = line is not None and line.line not in rebuilt
            instead = instead and line is not None and line.facts.metric == citation.spec.metric
            if instead:
                claimed.add(citation.first_line)
            if earlier:
                self.texts.add(citation.revision_id)
            self.places[citation.spec_id] = FilePosition(len(self.places) + 1, instead, earlier)
        for number in sorted(set(lines) - rebuilt - claimed):
            self.unread.append((document.path, number, lines[number].quote))

    def _earlier(self) -> Iterator[tuple[str, str, str]]:
        """The texts that values and flags rest on and that are no document of the export.

        Of a text that came back only the last time counts.
        """
        for revision in Flag.objects.exclude(revision=None).values_list(
            "revision", "revision__document", "revision__sha256"
        ):
            newest = self.newest[revision[1]]
            if newest.withdrawn or revision[2] != newest.sha256:
                self.texts.add(revision[0])
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for some in chunks(list(self.texts)):
            columns = ("document__path", "sha256", "number", "pk")
            for path, sha256, number, key in Revision.objects.filter(pk__in=some).values_list(
                *columns
            ):
                found[path, sha256] = max(found.get((path, sha256), (0, 0)), (number, key))
        order = sorted(found, key=lambda at: (at[0], found[at]))
        for first in range(0, len(order), TEXTS_AT_ONCE):
            group = order[first : first + TEXTS_AT_ONCE]
            texts = Revision.objects.in_bulk([found[at][1] for at in group])
            for path, sha256 in group:
                yield path, sha256, texts[found[path, sha256][1]].text


def _cited(documents: Iterable[Document]) -> dict[int, list[Citation]]:
    """Document → the newest citation of each spec that rests on it, as they stand in the file."""
    newer = Citation.objects.filter(spec=OuterRef("spec"), pk__gt=OuterRef("pk"))
    here = Citation.objects.filter(revision__document__in=[d.pk for d in documents])
    rows = here.filter(~Exists(newer)).select_related("spec__platform", "revision")
    found: dict[int, list[Citation]] = {}
    for citation in rows.defer("revision__text", "quote"):
        found.setdefault(citation.revision.document_id, []).append(citation)
    for citations in found.values():
        citations.sort(
            key=lambda c: (
                *(c.first_line, c.last_line, c.spec.metric, c.spec.shown),
                *(brought_at(c.spec), c.spec.pk),
            )
        )
    return found


def needs_index(paths: Iterable[str]) -> bool:
    """Whether no document is the index, in whatever letters."""
    return INDEX.casefold() not in {path.casefold() for path in paths}


# Some file systems do not tell capital letters from small ones, and no folder is a file as well.
def file_names(paths: Iterable[str]) -> dict[str, str]:
    """Path of a document → its file in the folder; the same for the same paths."""
    every = sorted(paths)
    # A path or folder in small letters → as it is, and whether it is a file.
    spelled = {INDEX.casefold(): (INDEX, True)} if needs_index(every) else {}
    found: dict[str, str] = {}
    clashing = [path for path in every if not _take(path, spelled, found)]
    number = 0
    for path in clashing:
        while path not in found:
            number += 1
            name = f"renamed/{number}.md"
            if _take(name, spelled, found):
                found[path] = found.pop(name)
    return found


def _take(path: str, spelled: dict[str, tuple[str, bool]], found: dict[str, str]) -> bool:
    """Give a path its own name, unless that stands for something else already."""
    parts = path.split("/")
    folders = ("/".join(parts[:count]) for count in range(1, len(parts)))
    own = {each.casefold(): (each, False) for each in folders} | {path.casefold(): (path, True)}
    reserved = path.startswith(JUNK) or FILE_NAME.fullmatch(parts[0].casefold())
    if reserved or path.casefold() in spelled:
        return False
    if any(spelled.get(key, mine) != mine for key, mine in own.items()):
        return False
    spelled |= own
    found[path] = path
    return True
