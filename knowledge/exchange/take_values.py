"""Store the values of an import that do not come from a document's own spec lines.

A value from a file that others wrote is a proposal, whoever brings it. An export's specs.json is
believed as far as its documents are: as it says where a command brings them into a wiki that has
none of them, else as proposals. What was done there is told in the words of its history: a name in
a file is no user of this installation, and stands as done by nobody here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from knowledge.curation.revise import recheck, store_text
from knowledge.curation.store import NewSpec, fields_of, record, store_specs
from knowledge.exchange.readers.bundle import Bundle, title_of
from knowledge.exchange.readers.exported_specs import ExportedSpec, Row
from knowledge.exchange.readers.files import ImportRefused
from knowledge.exchange.readers.foreign import CitedValue, LineFate, LineOutcome
from knowledge.exchange.take_documents import ImportSummary
from knowledge.models import (
    Action,
    Batch,
    Citation,
    Flag,
    Platform,
    Revision,
    Spec,
    SpecChange,
    SpecState,
    Waiver,
)
from knowledge.models.guarded import COMMAND
from knowledge.search.index import index_documents, index_specs
from knowledge.specs.citation import split_lines
from knowledge.specs.facts import Rank

LONGEST_REASON = 500  # characters; the column of a waiver's reason
# What says by itself that a value is in this state, where its history does not.
ENTERED = {
    "proposed": Action.PROPOSED,
    "approved": Action.APPROVED,
    "returned": Action.RETURNED,
    "retired": Action.RETIRED,
}


def take_earlier(
    bundle: Bundle, stored: set[str], origin: str, by: Any, batch: Batch | None
) -> tuple[LineOutcome, ...]:
    """Store the earlier texts of documents that are new here, for what still rests on them.

    Only a command does: whose they are and what they held nobody can check. Those that a person
    brings are told as left out.
    """
    if by is not None:
        why = "an earlier text: only a command of this installation stores it"
        left = bundle.kept.earlier
        return tuple(LineOutcome(*each.at, each.path, LineFate.LEFT_OUT, why) for each in left)
    for earlier in bundle.kept.earlier:
        if earlier.path not in stored:
            page = bundle.pages.get(earlier.path)
            title = page.title if page is not None else title_of(earlier.path, earlier.text)
            made = store_text(earlier.path, title, earlier.text, origin=origin, by=by, batch=batch)
            if made is not None:
                index_documents([(made.revision.document, earlier.text)])
    return ()


def take_values(
    values: Iterable[CitedValue], stored: set[str], origin: str, by: Any
) -> ImportSummary:
    """Propose each value that does not stand yet, or bring it back; say what became of every one.

    stored: paths of documents that were there before. by: the user, or None for a command. Raises
    ImportRefused for a second preferred answer. Run it in a turn, after the documents.
    """
    taking = _Taking(stored, origin, by)
    for value in values:
        taking.take(value)
    taking.link()
    counts: dict[str, Any] = dict(taking.counts)
    return ImportSummary(**counts, told=tuple(taking.told))


class _Taking:
    """One import: what is stored by now, and what became of the values so far."""

    def __init__(self, stored: set[str], origin: str, by: Any) -> None:
        self.stored = stored
        self.origin = origin
        self.by = by
        self.counts: Counter[str] = Counter()  # by the fields of a summary
        self.told: list[LineOutcome] = []
        self.platforms = {platform.slug: platform for platform in Platform.objects.all()}
        self.by_number: dict[int, Spec] = {}  # of specs.json
        # What replaces a value of that number.
        self.waiting: list[tuple[Spec, CitedValue, int]] = []
        self._texts: dict[tuple[str, str], tuple[Revision | None, list[str]]] = {}

    def take(self, value: CitedValue) -> None:
        told = self.told
        platform = self.platforms.get(value.platform)
        revision = self._revision(value)
        if platform is None or revision is None:
            lacking = "platform" if platform is None else "text it rests on"
            told.append(value.told(LineFate.UNRESOLVED, f"the {lacking} is not stored here"))
            return
        kept = value.kept
        if kept is not None and self.by is None and value.citation.path not in self.stored:
            self._bring_back(value, kept, platform, revision)
            return
        # The spec that says the same on the same text already. A retired one counts as long as its
        # document has not been stored again since: a text that comes back may propose its values
        # again, as its own spec lines do.
        same = _asking(value, platform).filter(
            shown=value.facts.shown,
            citations__quote=value.quote,
            citations__revision__document=revision.document_id,
        )
        gone = Q(state=SpecState.RETIRED) & ~Q(citations__revision=revision)
        standing = same.exclude(gone).first()
        if standing is not None:
            self._number(kept, standing)
            told.append(value.told(LineFate.STANDS, f"{standing.state}, {standing.rank}"))
        elif kept is not None and kept.state == SpecState.RETIRED:
            why = "retired where it comes from: no value is made of it"
            told.append(value.told(LineFate.LEFT_OUT, why))
        else:
            self._propose(value, platform, revision)

    def link(self) -> None:
        """Say what the values replace that came back, once all of them are there."""
        for spec, value, number in self.waiting:
            replaced = self.by_number.get(number)
            if replaced is None:
                why = f"what it replaces, id {number} of the file, is not stored here"
                self.told.append(value.told(LineFate.LEFT_OUT, why))
            else:
                Spec.objects.filter(pk=spec.pk).update(replaces=replaced)

    def _propose(self, value: CitedValue, platform: Platform, revision: Revision) -> None:
        cited = value.citation
        why = f"imported ({self.origin}, {value.file})"
        lines = (cited.first_line, cited.last_line, value.quote)
        rank = None
        if value.kept is None:  # preferred where no other value of the question is, or may be
            taken = _asking(value, platform).filter(rank=Rank.PREFERRED)
            taken = taken.filter(state__in=[SpecState.APPROVED, SpecState.PROPOSED])
            is_free = value.facts.known and not taken.exists()
            rank = Rank.PREFERRED if is_free else Rank.NORMAL
        new = NewSpec(value.facts, platform, revision, *lines, SpecState.PROPOSED, why, rank)
        (spec,) = store_specs([new], self.by)
        self._number(value.kept, spec)
        self.counts["specs_proposed"] += 1
        self.told.append(value.told(LineFate.RESOLVED, spec.state))
        self.told += _not_believed(value)
        self._recheck(spec, value, revision)

    def _bring_back(
        self, value: CitedValue, kept: ExportedSpec, platform: Platform, revision: Revision
    ) -> None:
        if kept.state == SpecState.APPROVED and kept.facts.rank == Rank.PREFERRED:
            rival = _asking(value, platform, Spec.objects.preferred()).first()
            if rival is not None:
                has = f"{rival.metric} of {platform.slug} has the preferred value {rival.shown}"
                accepted = "accepted here: rank normal, or deprecated with a note"
                raise ImportRefused(f"{value.file}:L{value.line}: {has} already; {accepted}")
        spec = bring_back(kept, platform, revision, self.origin)
        self._number(kept, spec)
        if kept.replaces:
            self.waiting.append((spec, value, kept.replaces))
        counted = {SpecState.APPROVED: "specs_added", SpecState.PROPOSED: "specs_proposed"}
        self.counts[counted.get(SpecState(kept.state), "specs_brought_back")] += 1
        self.told.append(value.told(LineFate.RESOLVED, kept.state))
        if kept.state != SpecState.RETIRED:
            self._recheck(spec, value, revision)

    def _recheck(self, spec: Spec, value: CitedValue, revision: Revision) -> None:
        """A value on a text that is not the newest is flagged, unless it came with its flag."""
        newest = not value.revision and revision.document.withdrawn_at is None
        if not newest and not Flag.objects.open().filter(spec=spec).exists():
            self.counts["flags_raised"] += recheck(spec, self.by)

    def _number(self, kept: ExportedSpec | None, spec: Spec) -> None:
        if kept is not None:
            self.by_number[kept.number] = spec

    def _revision(self, value: CitedValue) -> Revision | None:
        """The text that a value rests on: the newest of its document, or the one it names."""
        cited = value.citation
        key = (cited.path, value.revision)
        if key not in self._texts:
            texts = Revision.objects.filter(document__path=cited.path).select_related("document")
            if value.revision:
                texts = texts.filter(sha256=value.revision)
            found = texts.order_by("-number").first()
            self._texts[key] = (found, split_lines(found.text) if found is not None else [])
        revision, lines = self._texts[key]
        quote = "\n".join(lines[cited.first_line - 1 : cited.last_line])
        return revision if cited.last_line <= len(lines) and quote == value.quote else None


def _asking(
    value: CitedValue, platform: Platform, among: QuerySet[Spec] | None = None
) -> QuerySet[Spec]:
    """The specs that answer the same question."""
    qualifiers = dict(sorted(value.facts.qualifiers.items()))
    rows = Spec.objects.all() if among is None else among
    return rows.filter(platform=platform, metric=value.facts.metric, qualifiers=qualifiers)


def _not_believed(value: CitedValue) -> Iterator[LineOutcome]:
    """What a file says of a value beyond its lines, and that nobody here has seen."""
    kept = value.kept
    if kept is None:
        return
    counts = {"steps of history": len(kept.history), "flags": len(kept.flags)}
    said = [f"{count} {name}" for name, count in counts.items() if count]
    said += [f"the state {kept.state}"] if kept.state != SpecState.PROPOSED else []
    said += [f"that it replaces id {kept.replaces}"] if kept.replaces else []
    if said:
        yield value.told(
            LineFate.LEFT_OUT, f"said where it comes from, not believed: {', '.join(said)}"
        )
    for waiver in kept.waivers:
        words = f"exception of '{waiver['constraint']}' by {waiver['by']}: {waiver['reason']}"
        yield value.told(LineFate.LEFT_OUT, f"{words}; except it again here")


def bring_back(kept: ExportedSpec, platform: Platform, revision: Revision, origin: str) -> Spec:
    """Store the value on these lines of `revision`, all but what it replaces. Run it in a turn."""
    spec = Spec.objects.create(
        **fields_of(kept.facts),
        platform=platform,
        rank=kept.facts.rank,
        state=kept.state,
        elsewhere={"by": kept.by, "at": kept.at},
    )
    cited = kept.citation
    lines = {"first_line": cited.first_line, "last_line": cited.last_line}
    Citation.objects.create(spec=spec, revision=revision, quote=kept.quote, **lines)
    SpecChange.objects.bulk_create(
        SpecChange(
            spec=spec,
            why=said(step["by"], step["at"], step["why"]),
            elsewhere={name: step[name] for name in ("by", "at", "why")},
            **{name: step[name] for name in ("action", "state", "rank", "before", "after")},
        )
        for step in kept.history
    )
    last = kept.history[-1] if kept.history else None
    if last is None or (last["state"], last["rank"]) != (kept.state, kept.facts.rank):
        why = f"imported ({origin}, {kept.file})"
        record(spec, ENTERED[kept.state], None, why, after=spec.shown)
    Flag.objects.bulk_create(_flag(spec, flag) for flag in kept.flags)
    # Warnings that were excepted there are excepted here, each once.
    for waiver in {each["constraint"]: each for each in kept.waivers}.values():
        told = ("by", "at", "reason") if waiver["reason"] else ("by", "at")
        Waiver.objects.create(
            spec=spec,
            constraint=waiver["constraint"],
            reason=said(waiver["by"], waiver["at"], waiver["reason"])[:LONGEST_REASON],
            elsewhere={name: waiver[name] for name in told},
        )
    if kept.state != SpecState.RETIRED:
        index_specs([spec])
    return spec


def said(by: str, at: str, why: str) -> str:
    """What somebody did elsewhere, as the history here tells it; at: ISO 8601."""
    when = f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M UTC}"
    return f"imported: {by or COMMAND} on {when}" + (f": {why}" if why else "")


def _flag(spec: Spec, flag: Row) -> Flag:
    noticed = Revision.objects.filter(document__path=flag["path"], sha256=flag["revision"])
    first, last = flag["lines"] or (None, None)
    known = ("by", "at", *(("answered_by", "answered_at", "why") if flag["answer"] else ()))
    made = Flag(
        spec=spec,
        revision=noticed.order_by("-number").first() if flag["path"] else None,
        first_line=first,
        last_line=last,
        elsewhere={name: flag[name] for name in known},
        **{name: flag[name] for name in ("kind", "quote", "note", "answer")},
    )
    if flag["answer"]:
        made.answered_at = timezone.now()
        made.why = said(flag["answered_by"], flag["answered_at"], flag["why"])
    return made
