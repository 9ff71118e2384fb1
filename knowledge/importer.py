"""A folder of wiki documents, or one measured document → rows. All or nothing, and repeatable."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import Exists, OuterRef

from knowledge.models import Citation, Document, Platform, Revision, Spec, SpecState
from knowledge.models.document import text_hash
from knowledge.specs.citation import CitationError, check_path
from knowledge.specs.facts import UNKNOWN_VALUE, PlatformFacts, Rank
from knowledge.specs.reader import Page, ReaderError, SpecLine, read_page

SHIPPED = Path(__file__).resolve().parent / "wiki"
MEASURED = "docs/measured/"
MAX_BYTES = 2_000_000


class ImportRefused(ValueError):
    """A file or document that is not taken; the message names it. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did: counts of documents and of specs."""

    documents: int
    new_revisions: int
    specs_added: int
    specs_retired: int
    specs_unchanged: int


@dataclass(frozen=True, slots=True)
class _Stored:
    new_revision: bool = False
    added: int = 0
    retired: int = 0
    unchanged: int = 0


def import_wiki(folder: Path = SHIPPED) -> ImportSummary:
    """Store every Markdown file of `folder`; unchanged files change nothing.

    Raises ImportRefused naming the file (and the line, where one is wrong).
    """
    texts = read_folder(folder)
    pages = [_read(path, text) for path, text in sorted(texts.items())]
    with transaction.atomic():
        # Platforms first: a document may speak of one that a later document introduces.
        for page in pages:
            if page.platform is not None:
                _store_platform(page.platform)
        done = [_store(page, texts[page.path]) for page in pages]
        if any(one.new_revision for one in done):
            _check_preferred()
    return ImportSummary(
        documents=len(done),
        new_revisions=sum(one.new_revision for one in done),
        specs_added=sum(one.added for one in done),
        specs_retired=sum(one.retired for one in done),
        specs_unchanged=sum(one.unchanged for one in done),
    )


def write_measured_document(path: str, text: str) -> Revision:
    """Store a document that this installation measured, under docs/measured/; the newest revision.

    The text is a whole document: title, `## Platform` (a full block, or the slug of a known
    platform) and `## Specs`. Raises ImportRefused; then nothing was stored.
    """
    if not path.startswith(MEASURED):
        raise ImportRefused(f"{path}: measured documents are stored under {MEASURED}")
    page = _read(path, text)
    with transaction.atomic():
        if page.platform is not None:
            _store_platform(page.platform)
        _store(page, text)
        _check_preferred()
        return Document.objects.get(path=path).latest


def read_folder(folder: Path) -> dict[str, str]:
    """Path → text of every Markdown file in `folder`; ImportRefused names one that is not taken."""
    root = folder.resolve()
    if not root.is_dir():
        raise ImportRefused(f"{folder}: not a folder")
    texts = {}
    for file in sorted(root.rglob("*.md")):
        path = file.relative_to(root).as_posix()
        if not file.resolve().is_relative_to(root):
            raise ImportRefused(f"{path}: points outside {folder}")
        if file.stat().st_size > MAX_BYTES:
            raise ImportRefused(f"{path}: larger than {MAX_BYTES} bytes")
        try:
            texts[path] = file.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise ImportRefused(f"{path}: not UTF-8 at byte {error.start}") from error
    return texts


def _read(path: str, text: str) -> Page:
    try:
        return read_page(check_path(path), text)
    except (CitationError, ReaderError) as error:
        raise ImportRefused(str(error)) from error


def _store_platform(facts: PlatformFacts) -> None:
    fields = asdict(facts) | {"aliases": list(facts.aliases)}
    Platform.objects.update_or_create(slug=fields.pop("slug"), defaults=fields)


def _store(page: Page, text: str) -> _Stored:
    """One document's new revision with its specs; nothing if the text is already the newest."""
    document, _ = Document.objects.get_or_create(path=page.path, defaults={"title": page.title})
    newest = document.revisions.order_by("-number").first()
    sha256 = text_hash(text)
    if newest is not None and newest.sha256 == sha256:
        return _Stored(unchanged=len(page.specs))
    if document.title != page.title:
        Document.objects.filter(pk=document.pk).update(title=page.title)
    number = newest.number + 1 if newest else 1
    revision = Revision.objects.create(document=document, number=number, sha256=sha256, text=text)
    return _store_specs(page, revision, newest)


def _store_specs(page: Page, revision: Revision, before: Revision | None) -> _Stored:
    """A line that stood in the last revision keeps its spec; the others are retired or added."""
    platform = _platform(page)
    stood = list(before.citations.select_related("spec")) if before is not None else []
    quotes = {line.quote for line in page.specs}
    kept = {
        cited.quote: cited.spec
        for cited in stood
        if cited.quote in quotes and cited.spec.platform == platform
    }
    retired = _retire({cited.spec_id for cited in stood} - {spec.pk for spec in kept.values()})
    if platform is None:
        return _Stored(new_revision=True, retired=retired)
    for line in page.specs:
        spec = kept.get(line.quote) or _add(page.path, platform, line)
        _cite(revision, spec, line)
    return _Stored(True, len(page.specs) - len(kept), retired, len(kept))


def _retire(keys: set[int]) -> int:
    specs = Spec.objects.filter(pk__in=keys).exclude(state=SpecState.RETIRED)
    return specs.update(state=SpecState.RETIRED)


def _platform(page: Page) -> Platform | None:
    if page.platform_slug is None:
        return None
    try:
        return Platform.objects.get(slug=page.platform_slug)
    except Platform.DoesNotExist:
        known = ", ".join(Platform.objects.values_list("slug", flat=True)) or "none yet"
        message = f"{page.path}: unknown platform '{page.platform_slug}'; known: {known}"
        raise ImportRefused(message) from None


def _check_preferred() -> None:
    """Refuse values that answer a question for which no approved value is preferred."""
    preferred = Spec.objects.preferred().filter(
        platform=OuterRef("platform"), metric=OuterRef("metric"), qualifiers=OuterRef("qualifiers")
    )
    answers = Spec.objects.approved().exclude(shown=UNKNOWN_VALUE)
    orphan = answers.exclude(Exists(preferred)).for_sheet().first()
    if orphan is not None and orphan.citation is not None:
        line = orphan.citation.line
        raise ImportRefused(
            f"{line.path}:{line.locator}: no value of {orphan.metric} of {orphan.platform.slug} "
            "is rank=preferred; exactly one is accepted"
        )


def _add(path: str, platform: Platform, line: SpecLine) -> Spec:
    facts = line.facts
    qualifiers = dict(sorted(facts.qualifiers.items()))
    rivals = Spec.objects.preferred().filter(platform=platform, metric=facts.metric)
    if facts.rank == Rank.PREFERRED and rivals.filter(qualifiers=qualifiers).exists():
        raise ImportRefused(
            f"{path}:L{line.line}: {facts.metric} of {platform.slug} has a preferred value in "
            "another document; accepted here: rank=normal, or rank=deprecated with a note"
        )
    return Spec.objects.create(
        platform=platform,
        metric=facts.metric,
        value=facts.value,
        unit=facts.unit,
        shown=facts.shown,
        qualifiers=qualifiers,
        evidence=facts.evidence,
        source_kind=facts.source_kind,
        source=facts.source,
        source_url=facts.source_url,
        note=facts.note,
        rank=facts.rank,
        state=SpecState.APPROVED,
    )


def _cite(revision: Revision, spec: Spec, line: SpecLine) -> None:
    Citation.objects.create(
        spec=spec,
        revision=revision,
        first_line=line.line,
        last_line=line.line,
        quote=line.quote,
    )
