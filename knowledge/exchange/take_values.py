"""Store the values of an import that do not come from a document's own spec lines.

A value from a file that others wrote is a proposal, whoever brings it. An export's specs.json is
believed as far as its documents are: as it says where a command brings them into a wiki that has
none of them, else as proposals. What was done there is told in the words of its history: a name in
a file is no user of this installation, and stands as done by nobody here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone

from knowledge.curation.revise import recheck, store_text
from knowledge.curation.store import NewSpec, fields_of, record, store_specs
from knowledge.exchange.readers.bundle import Bundle, title_of
from knowledge.exchange.readers.exported_specs import ExportedChange, ExportedFlag, ExportedSpec
from knowledge.exchange.readers.files import ImportRefused
from knowledge.exchange.readers.foreign import CitedValue, LineFate, LineOutcome
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
from knowledge.specs.facts import Rank, SpecFacts

LONGEST_REASON = 500  # characters; the column of a waiver's reason
# What says by itself that a value is in this state, where its history does not.
ENTERED = {
    "proposed": Action.PROPOSED,
    "approved": Action.APPROVED,
    "returned": Action.RETURNED,
    "retired": Action.RETIRED,
}


@dataclass(slots=True)
class StoredValues:
    """What became of some values; flagged: how many do not hold in the newest text."""

    approved: int = 0
    proposed: int = 0
    kept: int = 0  # values that are neither, and came back as they were
    flagged: int = 0
    told: list[LineOutcome] = field(default_factory=list)


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
) -> StoredValues:
    """Propose each value that does not stand yet, or bring it back; say what became of every one.

    stored: paths of documents that were there before. by: the user, or None for a command. Raises
    ImportRefused for a second preferred answer. Run it in a turn, after the documents.
    """
    taking = _Taking(stored, origin, by)
    for value in values:
        taking.take(value)
    taking.link()
    return taking.taken


class _Taking:
    """One import: what is stored by now, and what became of the values so far."""

    def __init__(self, stored: set[str], origin: str, by: Any) -> None:
        self.stored = stored
        self.origin = origin
        self.by = by
        self.taken = StoredValues()
        self.platforms = {platform.slug: platform for platform in Platform.objects.all()}
        self.by_number: dict[int, Spec] = {}  # of specs.json
        self.waiting: list[
            tuple[Spec, CitedValue, int]
        ] = []  # what replaces a value of that number
        self._texts: dict[tuple[str, str], tuple[Revision | None, list[str]]] = {}

    def take(self, value: CitedValue) -> None:
        told = self.taken.told
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
        standing = _standing(value, platform, revision)
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
                self.taken.told.append(value.told(LineFate.LEFT_OUT, why))
            else:
                Spec.objects.filter(pk=spec.pk).update(replaces=replaced)

    def _propose(self, value: CitedValue, platform: Platform, revision: Revision) -> None:
        cited = value.citation
        why = f"imported ({self.origin}, {value.file})"
        lines = (cited.first_line, cited.last_line, value.quote)
        rank = None if value.kept is not None else _free_rank(value, platform)
        new = NewSpec(value.facts, platform, revision, *lines, SpecState.PROPOSED, why, rank)
        (spec,) = store_specs([new], self.by)
        self._number(value.kept, spec)
        self.taken.proposed += 1
        self.taken.told.append(value.told(LineFate.RESOLVED, spec.state))
        self.taken.told += _not_believed(value)
        self._recheck(spec, value, revision)

    def _bring_back(
        self,
        value: CitedValue,
        kept: ExportedSpec[SpecFacts],
        platform: Platform,
        revision: Revision,
    ) -> None:
        if kept.state == SpecState.APPROVED and kept.facts.rank == Rank.PREFERRED:
            _refuse_second_preferred(value, platform)
        spec = bring_back(kept, platform, revision, self.origin)
        self._number(kept, spec)
        if kept.replaces:
            self.waiting.append((spec, value, kept.replaces))
        self.taken.approved += kept.state == SpecState.APPROVED
        self.taken.proposed += kept.state == SpecState.PROPOSED
        self.taken.kept += kept.state not in (SpecState.APPROVED, SpecState.PROPOSED)
        self.taken.told.append(value.told(LineFate.RESOLVED, kept.state))
        waive_again(spec, kept)
        if kept.state != SpecState.RETIRED:
            self._recheck(spec, value, revision)

    def _recheck(self, spec: Spec, value: CitedValue, revision: Revision) -> None:
        """A value on a text that is not the newest is flagged, unless it came with its flag."""
        newest = not value.revision and revision.document.withdrawn_at is None
        if not newest and not Flag.objects.open().filter(spec=spec).exists():
            self.taken.flagged += recheck(spec, self.by)

    def _number(self, kept: ExportedSpec[SpecFacts] | None, spec: Spec) -> None:
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


def _standing(value: CitedValue, platform: Platform, revision: Revision) -> Spec | None:
    """The spec that says the same on the same text already.

    A retired one counts as long as its document has not been stored again since: a text that comes
    back may propose its values again, as its own spec lines do.
    """
    facts = value.facts
    same = Spec.objects.filter(platform=platform, metric=facts.metric, shown=facts.shown)
    same = same.filter(
        qualifiers=dict(sorted(facts.qualifiers.items())),
        citations__quote=value.quote,
        citations__revision__document=revision.document_id,
    )
    return same.exclude(Q(state=SpecState.RETIRED) & ~Q(citations__revision=revision)).first()


def _free_rank(value: CitedValue, platform: Platform) -> Rank:
    """Preferred where no other value of the question is, or is proposed to be."""
    facts = value.facts
    asked = Spec.objects.filter(platform=platform, metric=facts.metric, rank=Rank.PREFERRED)
    asked = asked.filter(
        qualifiers=dict(sorted(facts.qualifiers.items())),
        state__in=[SpecState.APPROVED, SpecState.PROPOSED],
    )
    return Rank.NORMAL if not facts.known or asked.exists() else Rank.PREFERRED


def _refuse_second_preferred(value: CitedValue, platform: Platform) -> None:
    facts = value.facts
    rivals = Spec.objects.preferred().filter(platform=platform, metric=facts.metric)
    rival = rivals.filter(qualifiers=dict(sorted(facts.qualifiers.items()))).first()
    if rival is not None:
        raise ImportRefused(
            f"{value.file}:L{value.line}: {facts.metric} of {platform.slug} has the preferred "
            f"value {rival.shown} already; accepted here: rank normal, or deprecated with a note"
        )


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
        words = f"exception of '{waiver.constraint}' by {waiver.by}: {waiver.reason}"
        yield value.told(LineFate.LEFT_OUT, f"{words}; except it again here")


def bring_back(
    kept: ExportedSpec[SpecFacts], platform: Platform, revision: Revision, origin: str
) -> Spec:
    """Store the value on these lines of `revision`, all but what it replaces. Run it in a turn."""
    spec = Spec.objects.create(
        **fields_of(kept.facts),
        platform=platform,
        rank=kept.facts.rank,
        state=kept.state,
        elsewhere={"by": kept.by, "at": kept.at},
    )
    cited = kept.citation
    Citation.objects.create(
        spec=spec,
        revision=revision,
        first_line=cited.first_line,
        last_line=cited.last_line,
        quote=kept.quote,
    )
    SpecChange.objects.bulk_create(_entry(spec, step) for step in kept.history)
    last = kept.history[-1] if kept.history else None
    if last is None or (last.state, last.rank) != (kept.state, kept.facts.rank):
        why = f"imported ({origin}, {kept.file})"
        record(spec, ENTERED[kept.state], None, why, after=spec.shown)
    Flag.objects.bulk_create(_flag(spec, flag) for flag in kept.flags)
    if kept.state != SpecState.RETIRED:
        index_specs([spec])
    return spec


def waive_again(spec: Spec, kept: ExportedSpec[SpecFacts]) -> None:
    """Except the warnings here that were excepted there, each once."""
    for waiver in {each.constraint: each for each in kept.waivers}.values():
        known = {"by": waiver.by, "at": waiver.at}
        Waiver.objects.create(
            spec=spec,
            constraint=waiver.constraint,
            reason=said(waiver.by, waiver.at, waiver.reason)[:LONGEST_REASON],
            elsewhere=known | ({"reason": waiver.reason} if waiver.reason else {}),
        )


def said(by: str, at: str, why: str) -> str:
    """What somebody did elsewhere, as the history here tells it; at: ISO 8601."""
    when = f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M UTC}"
    return f"imported: {by or COMMAND} on {when}" + (f": {why}" if why else "")


def _entry(spec: Spec, step: ExportedChange) -> SpecChange:
    return SpecChange(
        spec=spec,
        action=step.action,
        state=step.state,
        rank=step.rank,
        before=step.before,
        after=step.after,
        why=said(step.by, step.at, step.why),
        elsewhere={"by": step.by, "at": step.at, "why": step.why},
    )


def _flag(spec: Spec, flag: ExportedFlag) -> Flag:
    known = {"by": flag.by, "at": flag.at}
    noticed = Revision.objects.filter(document__path=flag.path, sha256=flag.revision)
    first, last = flag.lines or (None, None)
    made = Flag(
        spec=spec,
        kind=flag.kind,
        revision=noticed.order_by("-number").first() if flag.path else None,
        first_line=first,
        last_line=last,
        quote=flag.quote,
        note=flag.note,
    )
    if flag.answer:
        known |= {"answered_by": flag.answered_by, "answered_at": flag.answered_at}
        known["why"] = flag.why
        made.answer = flag.answer
        made.answered_at = timezone.now()
        made.why = said(flag.answered_by, flag.answered_at, flag.why)
    made.elsewhere = known
    return made
