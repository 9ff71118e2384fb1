"""A folder of wiki documents, or one measured document → rows. All or nothing, and repeatable.

What is new is taken as its author may: at once from a command of this installation, as proposals
from a person. A line that changed is never simply believed: its citation is flagged and the new
line proposed, unless whoever runs the import vouches for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from django.db.models import Exists, OuterRef

from knowledge.curation.errors import CurationError
from knowledge.curation.owners import (
    keep_origins,
    not_owned,
    require_origin,
)
from knowledge.curation.review import approve, put_out_of_use
from knowledge.curation.revise import CitationChange, StoredRevision, settle, store_text, withdraw
from knowledge.curation.store import NewSpec, store_specs
from knowledge.curation.turn import turn
from knowledge.exchange.platform_rows import PlatformChange, store_platforms
from knowledge.exchange.readers.bundle import Bundle, read_bundle, read_document
from knowledge.exchange.readers.folder import TAKEN, ImportRefused, read_folder
from knowledge.exchange.readers.foreign import LineFate, LineOutcome
from knowledge.exchange.take_values import take_earlier, take_values
from knowledge.experience.catalogue.store import take_catalogue
from knowledge.lookup.needs import Question, question_of
from knowledge.models import Batch, Document, Flag, FlagAnswer, Platform, Revision, Spec, SpecState
from knowledge.models.document import MEASURED_ORIGIN, SHIPPED_ORIGIN
from knowledge.specs.facts import UNKNOWN_VALUE, Rank
from knowledge.specs.reader import Page, SpecLine

SHIPPED = Path(__file__).resolve().parents[1] / "wiki"
MEASURED = "docs/measured/"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Who brings documents in, and how far they are believed.

    by: the user, or None for a command. vouched: changed lines replace the old ones at once.
    whole: documents of this origin that are not among the files are withdrawn.
    """

    origin: str = SHIPPED_ORIGIN
    by: Any = None
    batch: Batch | None = None
    vouched: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did: counts of documents, specs and flags, the platforms that it introduced or
    described anew, and the outcome of each value that does not stand in a spec line.

    specs_brought_back: returned and retired ones, as an export has them.
    """

    documents: int = 0
    new_revisions: int = 0
    documents_withdrawn: int = 0
    specs_added: int = 0
    specs_proposed: int = 0
    specs_retired: int = 0
    specs_unchanged: int = 0
    specs_brought_back: int = 0
    flags_raised: int = 0
    platforms: tuple[PlatformChange, ...] = ()
    told: tuple[LineOutcome, ...] = ()

    def __add__(self, other: ImportSummary) -> ImportSummary:
        names = [field.name for field in fields(self)]
        return ImportSummary(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def changed(self) -> bool:
        """Whether anything was stored."""
        return any(getattr(self, field.name) for field in fields(self) if field.name not in UNMOVED)


UNMOVED = ("documents", "specs_unchanged", "told")


def import_wiki(folder: Path = SHIPPED, *, vouched: bool = False) -> ImportSummary:
    """Store the documents and records of `folder`; unchanged files change nothing.

    Raises ImportRefused naming the file (and the line, where one is wrong).
    """
    intake = ImportOptions(origin=origin_of(folder), vouched=vouched)
    return take_files(read_folder(folder, TAKEN), intake)


def origin_of(folder: Path) -> str:
    """What documents of this folder are marked with, to know them again at the next import.

    ImportRefused for a folder whose name documents of this installation have.
    """
    found = folder.resolve()
    if found == SHIPPED:
        return SHIPPED_ORIGIN
    try:
        return require_origin(found.name)
    except CurationError as error:
        raise ImportRefused(f"{folder}: the name of the folder: {error.message}") from error


def take_files(texts: Mapping[str, str], intake: ImportOptions) -> ImportSummary:
    """Store files by path. Documents of the same origin that are not among them are withdrawn.

    Raises ImportRefused; then nothing was stored.
    """
    with turn():
        bundle = read_bundle(texts, ours=intake.origin == SHIPPED_ORIGIN)
        return take_bundle(bundle, intake)


def take_bundle(bundle: Bundle, intake: ImportOptions) -> ImportSummary:
    """The same for files that were read in this turn."""
    bundle.require_readable()
    for message in not_owned(bundle.texts, intake.origin).values():
        raise ImportRefused(message)
    # Platforms first: a document may speak of one that a later document introduces.
    described = store_platforms(bundle.platforms)
    stored = set(Document.objects.values_list("path", flat=True))
    total = ImportSummary(documents=len(bundle.pages), platforms=described)
    left_out = take_earlier(bundle, stored, intake.origin, intake.by, intake.batch)
    for page in bundle.pages.values():
        total += _store(page, bundle, intake, is_new=page.path not in stored)
    if intake.whole:
        total += _withdraw(set(bundle.texts), intake)
    keep_origins(bundle.kept.origins, stored, intake.by)
    # Last, as a value may rest on an earlier text, or on a document that is gone.
    taken = take_values(bundle.values, stored, intake.origin, intake.by)
    total += ImportSummary(
        specs_added=taken.approved,
        specs_proposed=taken.proposed,
        specs_brought_back=taken.kept,
        flags_raised=taken.flagged,
        told=(*left_out, *bundle.told, *taken.told),
    )
    if total.changed:
        check_preferred()
    require_catalogue(intake.origin)
    return total


def require_catalogue(origin: str) -> None:
    """Bring the catalogue of strategies to what the texts say; refuse a row of this origin."""
    faults = take_catalogue(origin)
    if faults:
        raise ImportRefused(str(faults[0]))


def write_measured_document(path: str, text: str) -> Revision:
    """Store a document that this installation measured, under docs/measured/; the newest revision.

    The text is a whole document: title, `## Platform` (a full block, or the slug of a known
    platform) and `## Specs`. A new measurement replaces the one before it, without a review: no
    person could know better. Raises ImportRefused; then nothing was stored.
    """
    if not path.startswith(MEASURED):
        raise ImportRefused(f"{path}: measured documents are stored under {MEASURED}")
    page = read_document(path, text)
    with turn():
        store_platforms([page.platform] if page.platform is not None else [])
        alone = Bundle(texts={path: text}, pages={path: page})
        _store(page, alone, ImportOptions(origin=MEASURED_ORIGIN, vouched=True), is_new=False)
        # Also where the text is the same, as one that came with the wiki may be.
        Document.objects.filter(path=path).update(origin=MEASURED_ORIGIN)
        check_preferred()
        return Document.objects.get(path=path).latest


def _store(page: Page, bundle: Bundle, intake: ImportOptions, *, is_new: bool) -> ImportSummary:
    """One document's new revision with its specs; nothing if the text is already the newest."""
    if intake.origin != MEASURED_ORIGIN and _own_measurement(page.path):
        why = "measured on this installation's own device; that measurement is kept"
        return ImportSummary(told=(LineOutcome(page.path, 1, page.title, LineFate.LEFT_OUT, why),))
    text = bundle.texts[page.path]
    stored = store_text(
        page.path, page.title, text, origin=intake.origin, by=intake.by, batch=intake.batch
    )
    if stored is None:
        unchanged = ImportSummary(specs_unchanged=len(page.specs))
        return unchanged + _vouch(page.path, intake) if intake.vouched else unchanged
    platform = _platform(page)
    drifts = list(stored.drifts)
    total = ImportSummary(new_revisions=1) + _carry_over(drifts, stored.revision, intake)
    held = {drift.anchor.first_line for drift in drifts if drift.holds}
    held |= bundle.instead.get(page.path, frozenset())
    lines = [line for line in page.specs if line.line not in held]
    if platform is not None and lines:
        at_once = intake.vouched or (intake.by is None and is_new)
        total += _add_lines(lines, platform, stored, drifts, intake, at_once=at_once)
    return total


def _own_measurement(path: str) -> bool:
    own = Document.objects.filter(path=path, origin=MEASURED_ORIGIN, withdrawn_at=None)
    return own.exists()


def _vouch(path: str, intake: ImportOptions) -> ImportSummary:
    """Settle what an earlier import of this very text left for a person."""
    revision = Document.objects.get(path=path).latest
    waiting = Spec.objects.filter(
        state=SpecState.PROPOSED, proposed_by=None, elsewhere__isnull=True
    )
    added = [
        approve(spec, intake.by, "vouched for by a later import")
        for spec in waiting.filter(citations__revision=revision).select_related("replaces")
    ]
    flagged = Spec.objects.filter(flags__in=Flag.objects.open().filter(revision=revision))
    gone = flagged.exclude(state=SpecState.RETIRED).select_related("platform").distinct()
    retired = len(gone)
    put_out_of_use(gone, FlagAnswer.REPLACED, intake.by, "vouched for by a later import")
    return ImportSummary(specs_added=len(added), specs_retired=retired)


def _carry_over(
    drifts: list[CitationChange], revision: Revision, intake: ImportOptions
) -> ImportSummary:
    """Follow what stands; what does not is flagged, or retired where somebody vouches for it."""
    broken = [drift for drift in drifts if not drift.holds]
    unchanged = ImportSummary(specs_unchanged=len(drifts) - len(broken))
    if not intake.vouched:
        settle(drifts, revision, intake.by)
        return unchanged + ImportSummary(flags_raised=len(broken))
    settle([drift for drift in drifts if drift.holds], revision, intake.by)
    for drift in broken:
        put_out_of_use([drift.spec], FlagAnswer.REPLACED, intake.by, drift.anchor.note)
    return unchanged + ImportSummary(specs_retired=len(broken))


def _add_lines(
    lines: list[SpecLine],
    platform: Platform,
    stored: StoredRevision,
    drifts: list[CitationChange],
    intake: ImportOptions,
    *,
    at_once: bool,
) -> ImportSummary:
    """Lines that no spec rests on yet: values at once, or proposals beside the flagged ones."""
    if at_once:
        _refuse_second_preferred(stored.revision.document.path, platform, lines)
    moved_on = {d.anchor.first_line: d.spec for d in drifts if not d.holds}
    new = []
    for line in lines:
        before = moved_on.get(line.line)
        same = before is not None and _asks(before, platform) == line.facts.question
        new.append(
            NewSpec(
                line.facts,
                platform,
                stored.revision,
                line.line,
                line.line,
                line.quote,
                SpecState.APPROVED if at_once else SpecState.PROPOSED,
                f"imported ({intake.origin})",
                replaces=before if same else None,
            )
        )
    count = len(store_specs(new, intake.by))
    return ImportSummary(specs_added=count) if at_once else ImportSummary(specs_proposed=count)


def _asks(spec: Spec, platform: Platform) -> Question | None:
    """The question that the spec answers; None for one of another product."""
    return question_of(spec) if spec.platform_id == platform.pk else None


def _refuse_second_preferred(path: str, platform: Platform, lines: Iterable[SpecLine]) -> None:
    preferred = Spec.objects.preferred().filter(platform=platform)
    taken = {question_of(spec) for spec in preferred.only("metric", "qualifiers")}
    for line in lines:
        facts = line.facts
        if facts.rank == Rank.PREFERRED and facts.question in taken:
            raise ImportRefused(
                f"{path}:L{line.line}: {facts.metric} of {platform.slug} has a preferred value in "
                "another document; accepted here: rank=normal, or rank=deprecated with a note"
            )


def _withdraw(paths: set[str], intake: ImportOptions) -> ImportSummary:
    gone = Document.objects.filter(origin=intake.origin, withdrawn_at=None)
    total = ImportSummary()
    for document in gone.exclude(path__in=paths):
        drifts = withdraw(document, intake.by)
        flags = 0 if intake.vouched else len(drifts)
        if intake.vouched:
            gone_too = [drift.spec for drift in drifts]
            put_out_of_use(gone_too, FlagAnswer.REPLACED, intake.by, "its document is gone")
        total += ImportSummary(
            documents_withdrawn=1, flags_raised=flags, specs_retired=len(drifts) - flags
        )
    return total


def _platform(page: Page) -> Platform | None:
    if page.platform_slug is None:
        return None
    try:
        return Platform.objects.get(slug=page.platform_slug)
    except Platform.DoesNotExist:
        known = ", ".join(Platform.objects.values_list("slug", flat=True)) or "none yet"
        message = f"{page.path}: unknown platform '{page.platform_slug}'; known: {known}"
        raise ImportRefused(message) from None


def check_preferred() -> None:
    """Refuse values that answer a question for which no approved value is preferred."""
    preferred = Spec.objects.preferred().filter(
        platform=OuterRef("platform"), metric=OuterRef("metric"), qualifiers=OuterRef("qualifiers")
    )
    answers = Spec.objects.approved().exclude(shown=UNKNOWN_VALUE)
    answers = answers.exclude(rank=Rank.DEPRECATED)
    orphan = answers.exclude(Exists(preferred)).for_sheet().first()
    if orphan is not None and orphan.citation is not None:
        line = orphan.citation.line
        raise ImportRefused(
            f"{line.path}:{line.locator}: no value of {orphan.metric} of {orphan.platform.slug} "
            "is rank=preferred; exactly one is accepted"
        )
