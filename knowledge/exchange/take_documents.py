"""Store the documents of an import with the values that stand in their own spec lines.

What all of them need is read once, and what all of them add is stored at the end, so that an import
takes as long as it has files; the words of the search index are held by it only for that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from knowledge.curation.owners import own_measurements
from knowledge.curation.review import approve, put_out_of_use
from knowledge.curation.revise import CitationChange, StoredRevision, settle, store_text
from knowledge.curation.store import NewSpec, store_specs
from knowledge.exchange.readers.bundle import Bundle
from knowledge.exchange.readers.files import ImportRefused
from knowledge.exchange.readers.foreign import LineFate, LineOutcome
from knowledge.lookup.needs import Question, question_of
from knowledge.models import Batch, Document, Flag, FlagAnswer, Platform, Revision, Spec, SpecState
from knowledge.models.document import MEASURED_ORIGIN, SHIPPED_ORIGIN
from knowledge.search.index import index_documents
from knowledge.specs.facts import PlatformFacts, Rank
from knowledge.specs.reader import Page, SpecLine

COLUMNS = ("name", "vendor", "arch", "kind", "target", "aliases")

Row = dict[str, Any]
TOLD_EACH = 500  # documents
UNMOVED = ("documents", "specs_unchanged", "told")


@dataclass(frozen=True, slots=True)
class PlatformChange:
    """A platform that an import introduced or described anew; change: in words, old and new."""

    slug: str
    change: str
    is_new: bool


def platform_columns() -> dict[str, Row]:
    """What is stored of each platform."""
    return {each.slug: _columns(each) for each in Platform.objects.all()}


def store_platforms(platforms: Iterable[PlatformFacts]) -> tuple[PlatformChange, ...]:
    """Store what documents say of platforms; what that changed. Run it in a turn.

    ImportRefused for the driver name of another platform.
    """
    before = platform_columns()
    now = dict(before)
    owners = {alias: slug for slug, row in before.items() for alias in row["aliases"]}
    for facts in platforms:
        taken = [alias for alias in facts.aliases if owners.get(alias, facts.slug) != facts.slug]
        if taken:
            raise ImportRefused(
                f"platform {facts.slug}: drivers report '{min(taken)}' of {owners[min(taken)]}; "
                "accepted: aliases that no other platform has"
            )
        for alias in now.get(facts.slug, {"aliases": []})["aliases"]:
            owners.pop(alias, None)
        owners |= dict.fromkeys(facts.aliases, facts.slug)
        now[facts.slug] = {column: asdict(facts)[column] for column in COLUMNS}
        now[facts.slug] |= {"kind": str(facts.kind), "aliases": list(facts.aliases)}
    new = [slug for slug in now if slug not in before]
    Platform.objects.bulk_create(Platform(slug=slug, **now[slug]) for slug in new)
    changed = [slug for slug in before if now[slug] != before[slug]]
    for slug in changed:
        Platform.objects.filter(slug=slug).update(**now[slug])
    introduced = (PlatformChange(slug, f"new: {now[slug]['name']}", True) for slug in new)
    return (*introduced, *(PlatformChange(s, _change(before[s], now[s]), False) for s in changed))


def _columns(platform: Platform) -> Row:
    return {column: getattr(platform, column) for column in COLUMNS}


def _change(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    return "; ".join(f"{c}: {before[c]} → {now[c]}" for c in COLUMNS if before[c] != now[c])


def untold(done: int, of: int) -> None:
    """Nobody is told."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Who brings documents in, and how far they are believed.

    by: the user, or None for a command. vouched: changed lines replace the old ones at once.
    whole: documents of this origin that are not among the files are withdrawn. tell: called now and
    then, with how many documents are stored and how many there are.
    """

    origin: str = SHIPPED_ORIGIN
    by: Any = None
    batch: Batch | None = None
    vouched: bool = False
    whole: bool = True
    tell: Callable[[int, int], None] = untold


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


def take_documents(bundle: Bundle, intake: ImportOptions, stored: set[str]) -> ImportSummary:
    """Store each document whose text is new, with its specs.

    stored: paths of documents that were there before. Raises ImportRefused. Run it in a turn.
    """
    taking = _DocumentIntake(bundle, intake, stored)
    total = ImportSummary()
    for number, page in enumerate(bundle.pages.values()):
        if number and number % TOLD_EACH == 0:
            intake.tell(number, len(bundle.pages))
        total += taking.take(page)
    return total + taking.finish()


class _DocumentIntake:
    """One import: what it looks at again and again, and what it adds at its end."""

    def __init__(self, bundle: Bundle, intake: ImportOptions, stored: set[str]) -> None:
        self._bundle = bundle
        self._intake = intake
        self._stored = stored
        measured = intake.origin == MEASURED_ORIGIN
        self._kept = set() if measured else own_measurements(bundle.texts)
        self._platforms = {platform.slug: platform for platform in Platform.objects.all()}
        self._texts: list[tuple[Document, str]] = []
        self._new: list[NewSpec] = []

    def take(self, page: Page) -> ImportSummary:
        """One document's new revision; nothing if the text is already the newest."""
        path, intake = page.path, self._intake
        if path in self._kept:
            why = "measured on this installation's own device; that measurement is kept"
            return ImportSummary(told=(LineOutcome(path, 1, page.title, LineFate.LEFT_OUT, why),))
        text = self._bundle.texts[path]
        stored = store_text(
            path, page.title, text, origin=intake.origin, by=intake.by, batch=intake.batch
        )
        if stored is None:
            unchanged = ImportSummary(specs_unchanged=len(page.specs))
            return unchanged + _vouch(path, intake) if intake.vouched else unchanged
        self._texts.append((stored.revision.document, text))
        platform = self._platform(page)
        drifts = list(stored.drifts)
        total = ImportSummary(new_revisions=1) + _carry_over(drifts, stored.revision, intake)
        held = {drift.anchor.first_line for drift in drifts if drift.holds}
        held |= self._bundle.instead.get(path, frozenset())
        lines = [line for line in page.specs if line.line not in held]
        if platform is not None:
            self._add(lines, platform, stored, drifts)
        return total

    def _add(
        self,
        lines: list[SpecLine],
        platform: Platform,
        stored: StoredRevision,
        drifts: list[CitationChange],
    ) -> None:
        """Lines that no spec rests on yet: values at once, or proposals beside the flagged ones."""
        intake, is_new = self._intake, stored.revision.document.path not in self._stored
        at_once = intake.vouched or (intake.by is None and is_new)
        moved_on = {d.anchor.first_line: d.spec for d in drifts if not d.holds}
        for line in lines:
            before = moved_on.get(line.line)
            same = before is not None and _asks(before, platform) == line.facts.question
            self._new.append(
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

    def finish(self) -> ImportSummary:
        """Store the values of all documents, and put the texts into the search index."""
        _refuse_second_preferred(self._new)
        store_specs(self._new, self._intake.by)
        index_documents(self._texts)
        at_once = sum(new.state == SpecState.APPROVED for new in self._new)
        return ImportSummary(specs_added=at_once, specs_proposed=len(self._new) - at_once)

    def _platform(self, page: Page) -> Platform | None:
        if page.platform_slug is None:
            return None
        found = self._platforms.get(page.platform_slug)
        if found is None:
            known = ", ".join(sorted(self._platforms)) or "none yet"
            message = f"{page.path}: unknown platform '{page.platform_slug}'; known: {known}"
            raise ImportRefused(message)
        return found


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


def _asks(spec: Spec, platform: Platform) -> Question | None:
    """The question that the spec answers; None for one of another product."""
    return question_of(spec) if spec.platform_id == platform.pk else None


def _refuse_second_preferred(every: Iterable[NewSpec]) -> None:
    new = [each for each in every if each.state == SpecState.APPROVED]
    new = [each for each in new if each.facts.rank == Rank.PREFERRED]
    preferred = Spec.objects.preferred().filter(platform__in={each.platform for each in new})
    rows = preferred.only("platform", "metric", "qualifiers").iterator()
    taken = {(spec.platform_id, question_of(spec)) for spec in rows}
    for each in new:
        asked = each.platform.pk, each.facts.question
        if asked in taken:
            path, facts = each.revision.document.path, each.facts
            raise ImportRefused(
                f"{path}:L{each.first_line}: {facts.metric} of {each.platform.slug} has a "
                "preferred value in another document; accepted here: rank=normal, or "
                "rank=deprecated with a note"
            )
        taken.add(asked)
