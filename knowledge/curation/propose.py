"""Propose a value: facts, the lines they rest on, and why. It counts for nothing until approved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.history import record
from knowledge.curation.people import require_proposer
from knowledge.models import (
    Action,
    Citation,
    Flag,
    FlagKind,
    Platform,
    Revision,
    Spec,
    SpecState,
)
from knowledge.specs.beside import other_unit
from knowledge.specs.citation import contains, split_lines
from knowledge.specs.facts import SpecFacts
from knowledge.specs.hedges import hedged, hedged_number


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of one revision, counted from 1, both ends included."""

    revision: Revision
    first_line: int
    last_line: int

    def quote(self) -> str:
        """The text of the lines. CurationError where the document is shorter."""
        text = self.revision.quoted(self.first_line, self.last_line)
        if text is None:
            count = len(split_lines(self.revision.text))
            raise CurationError(
                "lines",
                f"L{self.first_line}-L{self.last_line} is not in {self.revision.document.path}; "
                f"accepted: L1 to L{count}, the first not after the last",
            )
        return text


@transaction.atomic
def propose(
    platform: Platform,
    facts: SpecFacts,
    place: Place,
    by: Any,
    why: str,
    replaces: Spec | None = None,
) -> Spec:
    """Store a proposed spec with its citation.

    by: the user, or None for a command. Raises CurationError for lines without the value, a hedged
    value or an old revision, Forbidden, and Conflict where `replaces` is no longer in use.
    """
    require_proposer(by)
    quote = proof(facts.shown, place, known=facts.known)
    if replaces is not None and replaces.state not in (SpecState.APPROVED, SpecState.RETURNED):
        raise Conflict(f"{replaces} is {replaces.state}; only a value in use can be replaced")
    spec = Spec.objects.create(
        **fields_of(facts),
        platform=platform,
        rank=facts.rank,
        state=SpecState.PROPOSED,
        proposed_by=by,
        replaces=replaces,
    )
    citation = cite(spec, place, quote)
    before = replaces.shown if replaces else ""
    record(spec, Action.PROPOSED, by, why, before=before, after=spec.shown)
    if replaces is not None and _kept_citation(replaces, spec, citation):
        flag_kept_citation(spec, replaces, citation, by)
    return spec


def fields_of(facts: SpecFacts) -> dict[str, Any]:
    """The columns of a spec that a line states, all but its rank."""
    return {
        "metric": facts.metric,
        "value": facts.value,
        "unit": facts.unit,
        "shown": facts.shown,
        "qualifiers": dict(sorted(facts.qualifiers.items())),
        "evidence": facts.evidence,
        "source_kind": facts.source_kind,
        "source": facts.source,
        "source_url": facts.source_url,
        "note": facts.note,
    }


def cite(spec: Spec, place: Place, quote: str) -> Citation:
    """Store the citation of these lines."""
    return Citation.objects.create(
        spec=spec,
        revision=place.revision,
        first_line=place.first_line,
        last_line=place.last_line,
        quote=quote,
    )


def flag_kept_citation(spec: Spec, replaced: Spec, citation: Citation, by: Any) -> Flag:
    """The value changed and its citation did not: somebody has to say how that can be."""
    note = f"{replaced.shown} and {spec.shown} rest on the same lines, {citation.line.locator}"
    flag = Flag.objects.create(
        spec=spec,
        kind=FlagKind.SAME_CITATION,
        revision=citation.revision,
        first_line=citation.first_line,
        last_line=citation.last_line,
        quote=citation.quote,
        note=note,
        raised_by=by,
    )
    record(spec, Action.FLAGGED, by, note)
    return flag


def proof(shown: str, place: Place, *, known: bool) -> str:
    """The quoted lines, which hold the value as it is written; CurationError where they do not."""
    document = place.revision.document
    if document.withdrawn_at is not None:
        raise CurationError("document", f"{document} was withdrawn; accepted: one that stands")
    if place.revision.number != document.latest.number:
        raise CurationError(
            "document", f"{place.revision} is not the newest text; accepted: the newest revision"
        )
    quote = place.quote()
    if not known:
        return quote
    _refuse_hedges(shown, quote)
    if not contains(quote, shown):
        raise CurationError(
            "lines", f"'{shown}' does not stand in the quoted lines; accepted: lines that hold it"
        )
    other = other_unit(quote, shown)
    if other is not None:
        number = shown.partition(" ")[0]
        raise CurationError("lines", f"they say '{number} {other}', not '{shown}'")
    return quote


def _refuse_hedges(shown: str, quote: str) -> None:
    """A guess is no value: neither as it is proposed nor as its only source writes it."""
    hedge = hedged(shown)
    if hedge is not None:
        raise CurationError("value", f"'{hedge}' makes it a guess; accepted: a plain value")
    hedge = hedged_number(quote, shown.partition(" ")[0])
    if hedge is not None:
        raise CurationError(
            "lines", f"'{hedge}' makes it a guess there; accepted: lines that state it plainly"
        )


def _kept_citation(old: Spec, new: Spec, citation: Citation) -> bool:
    before = old.citation
    return (
        before is not None
        and old.shown != new.shown
        and before.revision.document_id == citation.revision.document_id
        and before.quote == citation.quote
    )
