"""Store the documents of an import with the values that stand in their own spec lines.

What all of them need is read once, and what all of them add is stored at the end, so that an import
takes as long as it has files; the words of the search index are held by it only for that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from knowledge.curation.owners import own_measurements
from knowledge.curation.review import approve, put_out_of_use
from knowledge.curation.revise import CitationChange, settle, store_text
from knowledge.curation.store import NewSpec, store_specs
from knowledge.exchange.readers.bundle import Bundle
from knowledge.exchange.readers.files import ImportRefused
from knowledge.exchange.readers.foreign import LineFate, LineOutcome
from knowledge.lookup.needs import question_of
from knowledge.models import Batch, Document, Flag, FlagAnswer, Platform, Revision, Spec, SpecState
from knowledge.models.document import MEASURED_ORIGIN, SHIPPED_ORIGIN
from knowledge.search.index import index_documents, index_platforms
from knowledge.specs.facts import PlatformFacts, Rank
from knowledge.specs.reader import Page

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
    rows = Platform.objects.values("slug", *COLUMNS)
    return {row.pop("slug"): row for row in rows}


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
    index_platforms(Platform.objects.filter(slug__in=[*new, *changed]))
    found = [PlatformChange(slug, f"new: {now[slug]['name']}", True) for slug in new]
    for slug in changed:
        old, own = before[slug], now[slug]
        words = "; ".join(f"{c}: {old[c]} → {own[c]}" for c in COLUMNS if old[c] != own[c])
        found.append(PlatformChange(slug, words, False))
    return tuple(found)


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
        slug = page.platform_slug
        platform = self._platforms.get(slug) if slug is not None else None
        if slug is not None and platform is None:
            known = ", ".join(sorted(self._platforms)) or "none yet"
            raise ImportRefused(f"{path}: unknown platform '{slug}'; known: {known}")
        drifts = list(stored.drifts)
        total = ImportSummary(new_revisions=1) + _carry_over(drifts, stored.revision, intake)
        held = {drift.anchor.first_line for drift in drifts if drift.holds}
        held |= self._bundle.instead.get(path, frozenset())
        at_once = intake.vouched or (intake.by is None and path not in self._stored)
        state = SpecState.APPROVED if at_once else SpecState.PROPOSED
        moved_on = {d.anchor.first_line: d.spec for d in drifts if not d.holds}
        # Lines that no spec rests on yet: values at once, or proposals beside the flagged ones.
        for line in page.specs if platform is not None else ():
            if line.line in held or platform is None:
                continue
            before = moved_on.get(line.line)
            same = before is not None and before.platform_id == platform.pk
            same = same and before is not None and question_of(before) == line.facts.question
            cited = (stored.revision, line.line, line.line, line.quote)
            words, replaces = f"imported ({intake.origin})", before if same else None
            self._new.append(NewSpec(line.facts, platform, *cited, state, words, replaces=replaces))
        return total

    def finish(self) -> ImportSummary:
        """Store the values of all documents, and put the texts into the search index."""
        new = [each for each in self._new if each.state == SpecState.APPROVED]
        new = [each for each in new if each.facts.rank == Rank.PREFERRED]
        preferred = Spec.objects.preferred().filter(platform__in={each.platform for each in new})
        rows = preferred.only("platform", "metric", "qualifiers").iterator()
        taken = {(spec.platform_id, question_of(spec)) for spec in rows}
        for each in new:
            asked = each.platform.pk, each.facts.question
            if asked in taken:
                place = f"{each.revision.document.path}:L{each.first_line}"
                raise ImportRefused(
                    f"{place}: {each.facts.metric} of {each.platform.slug} has a preferred value "
                    "in another document; accepted here: rank=normal, or rank=deprecated with a "
                    "note"
                )
            taken.add(asked)
        store_specs(self._new, self._intake.by)
        index_documents(self._texts)
        at_once = sum(new.state == SpecState.APPROVED for new in self._new)
        return ImportSummary(specs_added=at_once, specs_proposed=len(self._new) - at_once)


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
