"""The files of one import as read: documents, and values that stand outside their spec lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from knowledge.exchange.readers.exported_specs import ExportedSpec, ExportedWiki, is_kept, read_kept
from knowledge.exchange.readers.files import MAX_BYTES, ImportRefused
from knowledge.exchange.readers.foreign import (
    CITES,
    SHOWN,
    CitedValue,
    LineFate,
    LineOutcome,
    json_document,
    read_json,
)
from knowledge.exchange.readers.plain_lines import read_citations
from knowledge.lookup.platform_names import PlatformNames
from knowledge.models import Document, Platform
from knowledge.specs.citation import MAX_PATH, CitationError, check_path, split_lines
from knowledge.specs.facts import PlatformFacts
from knowledge.specs.reader import Page, ReaderError, read_page

MAX_TITLE = 200  # characters; the column of a document's title
OURS = ("- platform: ", " | evidence=")  # only lines of ours hold these


@dataclass(slots=True)
class Bundle:
    """texts: documents by path, JSON files among them as documents. plain: documents of which no
    values are read, with why. refused: files that are not taken, with why. instead: path → lines
    that specs.json speaks for.
    """

    texts: dict[str, str] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    kept: ExportedWiki = field(default_factory=ExportedWiki)
    values: tuple[CitedValue, ...] = ()
    told: tuple[LineOutcome, ...] = ()
    instead: Mapping[str, frozenset[int]] = field(default_factory=dict)

    @property
    def platforms(self) -> list[PlatformFacts]:
        """Platforms that the files introduce, each once; specs.json overrides a document."""
        every = [page.platform for page in self.pages.values() if page.platform is not None]
        found = {each.slug: each for each in (*every, *self.kept.platforms)}
        return list(found.values())

    def require_readable(self) -> None:
        """Raise ImportRefused for the first file that is not taken."""
        for message in self.refused.values():
            raise ImportRefused(message)


def read_document(path: str, text: str) -> Page:
    """The document as read; ImportRefused names the line that is not accepted.

    A document without a line in our form is taken as it is: it has a title, and no values.
    """
    try:
        check_path(path)
        page = read_page(path, text)
    except CitationError as error:
        raise ImportRefused(str(error)) from error
    except ReaderError as error:
        if any(mark in text for mark in OURS):
            raise ImportRefused(str(error)) from error
        page = Page(path, title_of(path, text), None, None, ())
    if len(path) > MAX_PATH or len(page.title) > MAX_TITLE:
        raise ImportRefused(
            f"{path[:MAX_PATH]}: path or title too long; accepted: {MAX_PATH} and {MAX_TITLE} "
            "characters"
        )
    return page


def title_of(path: str, text: str) -> str:
    """The first heading of a text that says something, else the name of its file."""
    headings = (line.lstrip("# ").strip() for line in split_lines(text) if line.startswith("#"))
    return next((title[:MAX_TITLE] for title in headings if title), PurePosixPath(path).stem)


def document_paths(files: Iterable[str]) -> list[str]:
    """Under which paths these files are stored as documents."""
    return [f"{path}.md" if path.endswith(".json") else path for path in files]


def as_documents(files: Mapping[str, str]) -> dict[str, str]:
    """Path → text of the documents that these files are stored as."""
    texts = {}
    for path, text in files.items():
        if not is_kept(path, text):
            own, kept = json_document(path, text) if path.endswith(".json") else (path, text)
            texts[own] = kept
    return texts


def read_bundle(files: Mapping[str, str], *, ours: bool) -> Bundle:
    """Read the files of one import; nothing is raised, `refused` says what is not taken.

    ours: documents of this product, whose prose is not searched for citation lines.
    """
    found = Bundle()
    parts = {path: text for path, text in files.items() if is_kept(path, text)}
    try:
        found.kept = read_kept(parts)
    except ImportRefused as error:
        found.refused[str(error).partition(":")[0]] = str(error)
    for path, text in sorted(files.items()):
        try:
            if path in parts:
                continue
            own, kept = path, text
            if path.endswith(".json"):
                if len(text.encode()) > MAX_BYTES:
                    raise ImportRefused(f"{path}: larger than {MAX_BYTES} bytes")
                own, kept = json_document(path, text)
                if own in files:
                    raise ImportRefused(f"{own}: stands beside {path}; accepted: one of them")
            page = read_document(own, kept)
            found.texts[own], found.pages[own] = kept, page
            if own != path:
                found.plain[own] = "a JSON file, kept as it is; its records are proposed"
            elif page.platform_slug is None:
                found.plain[own] = "no ## Platform section: kept as it is, no spec lines are read"
        except ImportRefused as error:
            found.refused[path] = str(error)
    every = [*_kept_values(found), *(() if ours or parts else _foreign(found, files))]
    found.values = tuple(each for each in every if isinstance(each, CitedValue))
    found.told = tuple(each for each in every if isinstance(each, LineOutcome))
    found.instead = _instead(found)
    return found


def _foreign(found: Bundle, files: Mapping[str, str]) -> Iterator[CitedValue | LineOutcome]:
    plain = sorted(path for path in found.plain if path in files)
    records = sorted(path for path in files if path.endswith(".json"))
    if not plain and not records:
        return
    cited = {each["path"] for path in (*plain, *records) for each in CITES.finditer(files[path])}
    stored = Document.objects.filter(path__in=cited - set(found.texts), withdrawn_at=None)
    texts = {document.path: document.latest.text for document in stored} | found.texts
    # Platforms by every name they have, as far as it is the name of one alone.
    every: list[Platform | PlatformFacts] = [*Platform.objects.all(), *found.platforms]
    names = PlatformNames.of((each.slug, each.name, each.aliases) for each in every)
    documents = {}
    for path, text in texts.items():
        page = found.pages.get(path) or read_document(path, text)
        about = page.platform_slug or names.spoken_of(page.title, path)
        if about is not None:
            documents[path] = about
    names = PlatformNames(names.platforms, documents)
    for path in records:
        yield from read_json(path, files[path], names, texts)
    for path in plain:
        yield from read_citations(path, files[path], names, texts)


def _instead(found: Bundle) -> dict[str, frozenset[int]]:
    """The lines that specs.json speaks for, as far as they read as it says."""
    said = [spec for spec in found.kept.specs if spec.instead]
    places = [(s.citation.path, s.citation.first_line, s.quote) for s in said]
    places += [(line.path, line.line, line.quote) for line in found.kept.unread]
    places += [lost.instead for lost in found.kept.not_taken if lost.instead is not None]
    lines = {path: split_lines(found.texts.get(path, "")) for path in {at[0] for at in places}}
    spoken: dict[str, set[int]] = {}
    for path, number, quote in places:
        if lines[path][number - 1 : number] == [quote]:
            spoken.setdefault(path, set()).add(number)
    return {path: frozenset(numbers) for path, numbers in spoken.items()}


def _kept_values(found: Bundle) -> Iterator[CitedValue | LineOutcome]:
    """What specs.json says, held against the texts that it came with."""
    texts = {(path, ""): split_lines(text) for path, text in found.texts.items()}
    for earlier in found.kept.earlier:
        texts[earlier.path, earlier.sha256] = split_lines(earlier.text)
    for spec in found.kept.specs:
        yield _kept(spec, texts.get((spec.citation.path, spec.revision), []))
    for line in found.kept.unread:
        if texts.get((line.path, ""), [])[line.line - 1 : line.line] == [line.quote]:
            fate = LineFate.LEFT_OUT
            why = "retired or undecided where it comes from: no value is made of it"
        else:
            fate, why = (
                LineFate.UNRESOLVED,
                f"{line.path}:L{line.line} reads otherwise in the folder",
            )
        yield LineOutcome(*line.at, line.quote[:SHOWN], fate, why)
    for lost in found.kept.not_taken:
        yield LineOutcome(lost.file, lost.line, lost.text, LineFate.UNRESOLVED, lost.why)


def _kept(spec: ExportedSpec, lines: list[str]) -> CitedValue | LineOutcome:
    cited = spec.citation
    own = (spec.file, spec.line, spec.platform, spec.facts)
    value = CitedValue(*own, cited, spec.quote, kept=spec)
    stands = "\n".join(lines[cited.first_line - 1 : cited.last_line])
    if cited.last_line > len(lines) or stands != spec.quote:
        return value.told(LineFate.UNRESOLVED, "the quoted text does not stand there in the folder")
    if spec.state != "retired" and not cited.proven_by(spec.quote):
        return value.told(LineFate.UNRESOLVED, f"'{spec.facts.shown}' does not stand in the quote")
    return value
