"""The files of one import as read: documents, and values that stand outside their spec lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from knowledge.folder import MAX_PATH, ImportRefused
from knowledge.foreign import (
    CITES,
    Fate,
    Names,
    Told,
    Value,
    json_document,
    read_citations,
    read_json,
)
from knowledge.models import Document, Platform, Spec
from knowledge.models.document import text_hash
from knowledge.specs.citation import CitationError, check_path, contains, quoted, split_lines
from knowledge.specs.facts import PlatformFacts, SpecFacts
from knowledge.specs.kept import KEPT_FILE, Kept, KeptError, KeptSpec, is_kept, read_kept
from knowledge.specs.reader import Page, ReaderError, read_page

MAX_TITLE = 200  # characters; the column of a document's title
OURS = ("- platform: ", " | evidence=")  # only lines of ours hold these


@dataclass(frozen=True, slots=True)
class Bundle:
    """texts: documents by path, JSON files among them as documents. plain: documents of which no
    values are read, with why. refused: files that are not taken, with why.
    """

    texts: dict[str, str] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)
    values: tuple[Value, ...] = ()
    told: tuple[Told, ...] = ()

    @property
    def platforms(self) -> list[PlatformFacts]:
        """Those that the files introduce."""
        found = [page.platform for page in self.pages.values() if page.platform is not None]
        return [*self.kept.platforms, *found]

    @property
    def instead(self) -> set[tuple[str, int]]:
        """Path and line of spec lines that specs.json speaks for."""
        cited = [spec.citation for spec in self.kept.specs if spec.instead]
        return {(citation.path, citation.first_line) for citation in cited}

    def values_by_age(self) -> tuple[list[Value], list[Value]]:
        """Those that rest on an earlier text, and those on the newest."""
        early = [value for value in self.values if value.revision]
        return early, [value for value in self.values if not value.revision]

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
        page = Page(path, _title(path, text), None, None, ())
    if len(path) > MAX_PATH or len(page.title) > MAX_TITLE:
        raise ImportRefused(
            f"{path[:MAX_PATH]}: path or title too long; accepted: {MAX_PATH} and {MAX_TITLE} "
            "characters"
        )
    _check_lengths(page)
    return page


def _check_lengths(page: Page) -> None:
    """SQLite stores any length and PostgreSQL does not: both refuse the same here."""
    if page.platform is not None:
        _require_short(page.path, Platform, page.platform)
    for line in page.specs:
        _require_short(f"{page.path}:L{line.line}", Spec, line.facts)


def _require_short(
    place: str, model: type[Platform | Spec], facts: PlatformFacts | SpecFacts
) -> None:
    for column in model._meta.concrete_fields:
        text = getattr(facts, column.name, None)
        most = getattr(column, "max_length", None)
        if isinstance(text, str) and most is not None and len(text) > most:
            raise ImportRefused(
                f"{place}: {column.name}: {len(text)} characters; accepted: at most {most}"
            )


def _title(path: str, text: str) -> str:
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
    kept = found.kept
    for path, text in sorted(files.items()):
        try:
            if is_kept(path, text):
                kept = read_kept(text)
            elif path.endswith(".json"):
                own, wrapped = json_document(path, text)
                if own in files:
                    raise ImportRefused(f"{own}: stands beside {path}; accepted: one of them")
                _add(found, own, wrapped)
                found.plain[own] = "a JSON file, kept as it is; its records are proposed"
            else:
                _add(found, path, text)
        except (ImportRefused, KeptError) as error:
            found.refused[path] = str(error)
    found = Bundle(found.texts, found.pages, found.plain, found.refused, kept)
    every = [*_kept_values(found), *([] if ours or kept != Kept() else _foreign(found, files))]
    values = tuple(each for each in every if isinstance(each, Value))
    told = tuple(each for each in every if isinstance(each, Told))
    return Bundle(found.texts, found.pages, found.plain, found.refused, found.kept, values, told)


def _add(found: Bundle, path: str, text: str) -> None:
    page = read_document(path, text)
    found.texts[path], found.pages[path] = text, page
    if page.platform_slug is None:
        found.plain[path] = "no ## Platform section: kept as it is, no spec lines are read"


def _foreign(found: Bundle, files: Mapping[str, str]) -> list[Value | Told]:
    plain = [path for path in found.plain if path in files]
    records = [path for path in files if path.endswith(".json") and path != KEPT_FILE]
    records += [path for path in files if path == KEPT_FILE and not is_kept(path, files[path])]
    if not plain and not records:
        return []
    cited = {each["path"] for path in (*plain, *records) for each in CITES.finditer(files[path])}
    texts = _stored(cited - set(found.texts)) | found.texts
    names = _names(found, texts)
    read: list[Value | Told] = []
    for path in sorted(records):
        read += read_json(path, files[path], names, texts)
    for path in sorted(plain):
        read += read_citations(path, files[path], names, texts)
    return read


def _stored(paths: Iterable[str]) -> dict[str, str]:
    documents = Document.objects.filter(path__in=list(paths), withdrawn_at=None)
    return {document.path: document.latest.text for document in documents}


def _names(found: Bundle, texts: Mapping[str, str]) -> Names:
    """Platforms by every name they have, as far as it is the name of one alone."""
    slugs: dict[str, set[str]] = defaultdict(set)
    stored = [(each.slug, each.name, each.aliases) for each in Platform.objects.all()]
    brought = [(each.slug, each.name, each.aliases) for each in found.platforms]
    for slug, name, aliases in (*stored, *brought):
        for each in (slug, name, *aliases):
            slugs[" ".join(each.split()).casefold()].add(slug)
    one = {name: min(each) for name, each in slugs.items() if len(each) == 1}
    documents = {}
    names = Names(one, {})
    for path, text in texts.items():
        page = found.pages.get(path) or read_document(path, text)
        named = (page.title, PurePosixPath(path).stem)
        about = page.platform_slug or next(filter(None, map(names.slug, named)), None)
        if about is not None:
            documents[path] = about
    return Names(one, documents)


def _kept_values(found: Bundle) -> list[Value | Told]:
    """What specs.json says, held against the texts that it came with."""
    earlier = {(each.path, each.sha256): each.text for each in found.kept.earlier}
    broken = {key for key, text in earlier.items() if text_hash(text) != key[1]}
    return [
        _kept(spec, None if key in broken else earlier.get(key, ""), found)
        for spec in found.kept.specs
        for key in [(spec.citation.path, spec.revision)]
    ]


def _kept(spec: KeptSpec, earlier: str | None, found: Bundle) -> Value | Told:
    cited = spec.citation
    text = earlier if spec.revision else found.texts.get(cited.path)
    value = Value(
        KEPT_FILE,
        spec.line,
        spec.platform,
        spec.facts,
        cited,
        spec.quote,
        spec.state,
        True,
        spec.revision,
        spec.waivers,
    )
    if text is None or quoted(text, cited.first_line, cited.last_line) != spec.quote:
        return value.told(Fate.UNRESOLVED, "the quoted text does not stand there in the folder")
    if spec.facts.known and not contains(spec.quote, spec.facts.shown):
        return value.told(Fate.UNRESOLVED, f"'{spec.facts.shown}' does not stand in the quote")
    if spec.state == "retired":
        return value.told(Fate.LEFT_OUT, "retired where it comes from: no value is made of it")
    return value
