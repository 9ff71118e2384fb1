"""A folder of wiki documents, or one measured document → rows. All or nothing, and repeatable.

What is new is taken as its author may: at once from a command of this installation, as proposals
from a person. A line that changed is never simply believed: its citation is flagged and the new
line proposed, unless whoever runs the import vouches for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from django.db.models import Exists, OuterRef

from knowledge.curation.errors import CurationError
from knowledge.curation.owners import keep_origins, not_owned, require_origin
from knowledge.curation.review import put_out_of_use
from knowledge.curation.revise import withdraw
from knowledge.curation.turn import turn
from knowledge.exchange.readers.bundle import Bundle, read_bundle, read_document
from knowledge.exchange.readers.files import TAKEN, ImportRefused, read_folder
from knowledge.exchange.take_documents import (
    ImportOptions,
    ImportSummary,
    store_platforms,
    take_documents,
)
from knowledge.exchange.take_values import take_earlier, take_values
from knowledge.experience.catalogue.store import take_catalogue
from knowledge.models import Document, FlagAnswer, Revision, Spec
from knowledge.models.document import MEASURED_ORIGIN, SHIPPED_ORIGIN
from knowledge.specs.facts import UNKNOWN_VALUE, Rank

SHIPPED = Path(__file__).resolve().parents[1] / "wiki"
MEASURED = "docs/measured/"


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
    total += take_documents(bundle, intake, stored)
    gone = Document.objects.filter(origin=intake.origin, withdrawn_at=None)
    for document in gone.exclude(path__in=set(bundle.texts)) if intake.whole else ():
        drifts = withdraw(document, intake.by)
        if intake.vouched:
            specs = [drift.spec for drift in drifts]
            put_out_of_use(specs, FlagAnswer.REPLACED, intake.by, "its document is gone")
        flags = 0 if intake.vouched else len(drifts)
        retired = len(drifts) - flags
        total += ImportSummary(documents_withdrawn=1, flags_raised=flags, specs_retired=retired)
    keep_origins(bundle.kept.origins, stored, intake.by)
    # Last, as a value may rest on an earlier text, or on a document that is gone.
    total += ImportSummary(told=(*left_out, *bundle.told))
    total += take_values(bundle.values, stored, intake.origin, intake.by)
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
        take_documents(alone, ImportOptions(origin=MEASURED_ORIGIN, vouched=True), {path})
        # Also where the text is the same, as one that came with the wiki may be.
        Document.objects.filter(path=path).update(origin=MEASURED_ORIGIN)
        check_preferred()
        return Document.objects.get(path=path).latest


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
