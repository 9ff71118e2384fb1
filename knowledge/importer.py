"""A folder of wiki documents, or one measured document → rows. All or nothing, and repeatable.

What is new is taken as its author may: at once from a command of this installation, as proposals
from a person. A line that changed is never simply believed: its citation is flagged and the new
line proposed, unless whoever runs the import vouches for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from knowledge.bundle import Bundle, read_bundle, read_document
from knowledge.curation.answer import close_flags
from knowledge.curation.history import record
from knowledge.curation.propose import Place, cite, fields_of
from knowledge.curation.review import approve, enter
from knowledge.curation.revise import Drift, Stored, settle, store_text, withdraw
from knowledge.curation.take_values import take_earlier, take_values
from knowledge.folder import TAKEN, ImportRefused, read_folder
from knowledge.foreign import Told
from knowledge.models import (
    Action,
    Answer,
    Batch,
    Document,
    Flag,
    Platform,
    Revision,
    Spec,
    SpecState,
)
from knowledge.specs.anchoring import Anchor
from knowledge.specs.citation import CitationState
from knowledge.specs.facts import UNKNOWN_VALUE, PlatformFacts, Rank
from knowledge.specs.reader import Page, SpecLine

SHIPPED = Path(__file__).resolve().parent / "wiki"
SHIPPED_ORIGIN = "shipped"
MEASURED_ORIGIN = "measured"
MEASURED = "docs/measured/"


@dataclass(frozen=True, slots=True)
class Intake:
    """Who brings documents in, and how far they are believed.

    by: the user, or None for a command. vouched: changed lines replace the old ones at once.
    whole: documents of this origin that are not among the files are withdrawn.
    """

    origin: str = SHIPPED_ORIGIN
    by: Any = None
    batch: Batch | None = None
    vouched: bool = False
    whole: bool = True

    @property
    def approves(self) -> bool:
        """Whether lines of a document that is new here count at once."""
        return self.by is None


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did: counts of documents, specs and flags, and the outcome of each value that
    does not stand in a spec line.
    """

    documents: int = 0
    new_revisions: int = 0
    documents_withdrawn: int = 0
    specs_added: int = 0
    specs_proposed: int = 0
    specs_retired: int = 0
    specs_unchanged: int = 0
    flags_raised: int = 0
    told: tuple[Told, ...] = ()

    def __add__(self, other: ImportSummary) -> ImportSummary:
        names = [field.name for field in fields(self)]
        return ImportSummary(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def changed(self) -> bool:
        """Whether anything was stored."""
        counts = {name: count for name, count in asdict(self).items() if name not in UNMOVED}
        return any(counts.values())


UNMOVED = ("documents", "specs_unchanged", "told")


def import_wiki(folder: Path = SHIPPED, *, vouched: bool = False) -> ImportSummary:
    """Store the documents and records of `folder`; unchanged files change nothing.

    Raises ImportRefused naming the file (and the line, where one is wrong).
    """
    intake = Intake(origin=origin_of(folder), vouched=vouched)
    return take_files(read_folder(folder, TAKEN), intake)


def origin_of(folder: Path) -> str:
    """What documents of this folder are marked with, to know them again at the next import."""
    found = folder.resolve()
    return SHIPPED_ORIGIN if found == SHIPPED else found.name[:80]


@transaction.atomic
def take_files(texts: Mapping[str, str], intake: Intake) -> ImportSummary:
    """Store files by path. Documents of the same origin that are not among them are withdrawn.

    Raises ImportRefused; then nothing was stored.
    """
    bundle = read_bundle(texts, ours=intake.origin == SHIPPED_ORIGIN)
    bundle.require_readable()
    # Platforms first: a document may speak of one that a later document introduces.
    for platform in bundle.platforms:
        store_platform(platform)
    stored = set(Document.objects.values_list("path", flat=True))
    total = ImportSummary(documents=len(bundle.pages))
    take_earlier(bundle, stored, intake.origin, intake.by, intake.batch)
    # What rests on an earlier text first: the newest one then says what became of it.
    early, late = bundle.values_by_age()
    taken = take_values(early, stored, intake.origin, intake.by)
    for page in bundle.pages.values():
        total += _store(page, bundle, intake, is_new=page.path not in stored)
    taken += take_values(late, stored, intake.origin, intake.by)
    total += ImportSummary(
        specs_added=taken.approved,
        specs_proposed=taken.proposed,
        told=(*bundle.told, *taken.told),
    )
    if intake.whole:
        total += _withdraw(set(bundle.texts), intake)
    if total.changed:
        check_preferred()
    return total


def write_measured_document(path: str, text: str) -> Revision:
    """Store a document that this installation measured, under docs/measured/; the newest revision.

    The text is a whole document: title, `## Platform` (a full block, or the slug of a known
    platform) and `## Specs`. A new measurement replaces the one before it, without a review: no
    person could know better. Raises ImportRefused; then nothing was stored.
    """
    if not path.startswith(MEASURED):
        raise ImportRefused(f"{path}: measured documents are stored under {MEASURED}")
    page = read_document(path, text)
    with transaction.atomic():
        if page.platform is not None:
            store_platform(page.platform)
        alone = Bundle(texts={path: text}, pages={path: page})
        _store(page, alone, Intake(origin=MEASURED_ORIGIN, vouched=True), is_new=False)
        check_preferred()
        return Document.objects.get(path=path).latest


def store_platform(facts: PlatformFacts) -> None:
    """Store what a document says of its platform. ImportRefused for another one's driver name."""
    for other in Platform.objects.exclude(slug=facts.slug):
        taken = set(other.aliases) & set(facts.aliases)
        if taken:
            raise ImportRefused(
                f"platform {facts.slug}: drivers report '{min(taken)}' of {other.slug}; accepted: "
                "aliases that no other platform has"
            )
    columns = asdict(facts) | {"aliases": list(facts.aliases)}
    Platform.objects.update_or_create(slug=columns.pop("slug"), defaults=columns)


def _store(page: Page, bundle: Bundle, intake: Intake, *, is_new: bool) -> ImportSummary:
    """One document's new revision with its specs; nothing if the text is already the newest."""
    text = bundle.texts[page.path]
    stored = store_text(
        page.path, page.title, text, origin=intake.origin, by=intake.by, batch=intake.batch
    )
    if stored is None:
        unchanged = ImportSummary(specs_unchanged=len(page.specs))
        return unchanged + _vouch(page.path, intake) if intake.vouched else unchanged
    platform = _platform(page)
    drifts = [_of_platform(drift, platform) for drift in stored.drifts]
    total = ImportSummary(new_revisions=1)
    for drift in drifts:
        total += _carry_over(drift, stored.revision, intake)
    held = {drift.anchor.first_line for drift in drifts if drift.holds}
    held |= {line for path, line in bundle.instead if path == page.path}
    lines = [line for line in page.specs if line.line not in held]
    if platform is not None and lines:
        at_once = intake.vouched or (intake.approves and is_new)
        total += _add_lines(lines, platform, stored, drifts, intake, at_once=at_once)
    return total


def _vouch(path: str, intake: Intake) -> ImportSummary:
    """Settle what an earlier import of this very text left for a person."""
    revision = Document.objects.get(path=path).latest
    waiting = Spec.objects.filter(state=SpecState.PROPOSED, proposed_by=None)
    added = [
        approve(spec, intake.by, "vouched for by a later import")
        for spec in waiting.filter(citations__revision=revision).select_related("replaces")
    ]
    flagged = Spec.objects.filter(flags__in=Flag.objects.open().filter(revision=revision))
    gone = [spec for spec in flagged if spec.state != SpecState.RETIRED]
    for spec in gone:
        _retire(spec, intake, "vouched for by a later import")
    return ImportSummary(specs_added=len(added), specs_retired=len(gone))


def _of_platform(drift: Drift, platform: Platform | None) -> Drift:
    """The same drift; changed where the document speaks of another product than before."""
    if not drift.holds or platform is None or drift.spec.platform_id == platform.pk:
        return drift
    now = drift.anchor
    note = f"the document speaks of {platform.slug} now"
    anchor = Anchor(CitationState.CHANGED, now.first_line, now.last_line, now.quote, note)
    return replace(drift, anchor=anchor)


def _carry_over(drift: Drift, revision: Revision, intake: Intake) -> ImportSummary:
    if drift.holds:
        settle(drift, revision, intake.by)
        return ImportSummary(specs_unchanged=1)
    if intake.vouched:
        _retire(drift.spec, intake, drift.anchor.note)
        return ImportSummary(specs_retired=1)
    settle(drift, revision, intake.by)
    return ImportSummary(flags_raised=1)


def _retire(spec: Spec, intake: Intake, why: str) -> None:
    enter(spec, SpecState.RETIRED)
    record(spec, Action.RETIRED, intake.by, why, before=spec.shown)
    close_flags(spec, Answer.REPLACED, intake.by, why)


def _add_lines(
    lines: list[SpecLine],
    platform: Platform,
    stored: Stored,
    drifts: list[Drift],
    intake: Intake,
    *,
    at_once: bool,
) -> ImportSummary:
    """Lines that no spec rests on yet: values at once, or proposals beside the flagged ones."""
    moved_on = {d.anchor.first_line: d.spec for d in drifts if not d.holds}
    for line in lines:
        before = moved_on.get(line.line)
        same = before is not None and before.metric == line.facts.metric
        if at_once:
            _refuse_second_preferred(stored.revision.document.path, platform, line)
        spec = Spec.objects.create(
            **fields_of(line.facts),
            platform=platform,
            rank=line.facts.rank,
            state=SpecState.APPROVED if at_once else SpecState.PROPOSED,
            proposed_by=intake.by,
            replaces=before if same else None,
        )
        cite(spec, Place(stored.revision, line.line, line.line), line.quote)
        shown = before.shown if before is not None and same else ""
        action = Action.APPROVED if at_once else Action.PROPOSED
        record(
            spec, action, intake.by, f"imported ({intake.origin})", before=shown, after=spec.shown
        )
    count = len(lines)
    return ImportSummary(specs_added=count) if at_once else ImportSummary(specs_proposed=count)


def _refuse_second_preferred(path: str, platform: Platform, line: SpecLine) -> None:
    facts = line.facts
    rivals = Spec.objects.preferred().filter(platform=platform, metric=facts.metric)
    qualifiers = dict(sorted(facts.qualifiers.items()))
    if facts.rank == Rank.PREFERRED and rivals.filter(qualifiers=qualifiers).exists():
        raise ImportRefused(
            f"{path}:L{line.line}: {facts.metric} of {platform.slug} has a preferred value in "
            "another document; accepted here: rank=normal, or rank=deprecated with a note"
        )


def _withdraw(paths: set[str], intake: Intake) -> ImportSummary:
    gone = Document.objects.filter(origin=intake.origin, withdrawn_at=None)
    total = ImportSummary()
    for document in gone.exclude(path__in=paths):
        drifts = withdraw(document, intake.by)
        flags = 0 if intake.vouched else len(drifts)
        for drift in drifts if intake.vouched else ():
            _retire(drift.spec, intake, "its document is gone")
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
