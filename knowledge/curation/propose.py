"""Propose a value: read what people write, check its lines, store it for a second person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from knowledge.curation.errors import Conflict, CurationError, require_storable
from knowledge.curation.people import require_proposer
from knowledge.curation.store import NewSpec, record, store_specs
from knowledge.curation.turn import turn
from knowledge.models import (
    Action,
    Citation,
    Document,
    Flag,
    FlagKind,
    Platform,
    Revision,
    Spec,
    SpecState,
)
from knowledge.specs.citation import SHAPE, CitationError, contains, parse_citation, split_lines
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import FactsError, Rank, SourceKind, SpecFacts
from knowledge.specs.hedges import hedged_number
from knowledge.specs.metrics import MetricError, metric_named
from knowledge.specs.quantity import QuantityError, other_unit


@dataclass(frozen=True, slots=True)
class CitedLines:
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


def propose(
    platform: Platform,
    facts: SpecFacts,
    place: CitedLines,
    by: Any,
    why: str,
    replaces: Spec | None = None,
) -> Spec:
    """Store a proposed spec with its citation.

    by: the user, or None for a command. Raises CurationError for lines without the value, a hedged
    value or an old revision, Forbidden, and Conflict where `replaces` is no longer in use.
    """
    require_proposer(by)
    require_storable("why", why)
    with turn(replaces):
        quote = proof(facts.shown, place, known=facts.known)
        if replaces is not None and replaces.state not in (SpecState.APPROVED, SpecState.RETURNED):
            raise Conflict(f"{replaces} is {replaces.state}; only a value in use can be replaced")
        lines = (place.revision, place.first_line, place.last_line)
        new = NewSpec(facts, platform, *lines, quote, SpecState.PROPOSED, why, replaces=replaces)
        (spec,) = store_specs([new], by)
        citation = spec.citations.get()
        before = replaces.citation if replaces is not None else None
        if replaces is not None and before is not None and replaces.shown != spec.shown:
            same = before.revision.document_id == citation.revision.document_id
            if same and before.quote == citation.quote:
                _flag_kept_citation(spec, replaces, citation, by)
    return spec


def cite(spec: Spec, place: CitedLines, quote: str) -> Citation:
    """Store the citation of these lines."""
    return Citation.objects.create(
        spec=spec,
        revision=place.revision,
        first_line=place.first_line,
        last_line=place.last_line,
        quote=quote,
    )


def _flag_kept_citation(spec: Spec, replaced: Spec, citation: Citation, by: Any) -> Flag:
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


def proof(shown: str, place: CitedLines, *, known: bool) -> str:
    """The quoted lines, which hold the value as it is written; CurationError where they do not.

    For UNKNOWN and NONE: the lines that were searched, or that say that there is none.
    """
    document = Document.objects.get(pk=place.revision.document_id)  # as it is now
    if document.withdrawn_at is not None:
        raise CurationError("document", f"{document} was withdrawn; accepted: one that stands")
    if place.revision.number != document.latest.number:
        raise CurationError(
            "document", f"{place.revision} is not the newest text; accepted: the newest revision"
        )
    quote = place.quote()
    if not quote.strip():
        raise CurationError("lines", "they are blank; accepted: lines that a curator can judge")
    if not known:
        return quote
    hedge = hedged_number(quote, shown)
    if hedge is not None:
        raise CurationError(
            "lines", f"'{hedge}' makes it a guess there; accepted: lines that state it plainly"
        )
    if not contains(quote, shown):
        raise CurationError(
            "lines", f"'{shown}' does not stand in the quoted lines; accepted: lines that hold it"
        )
    other = other_unit(quote, shown)
    if other is not None:
        number = shown.partition(" ")[0]
        raise CurationError("lines", f"they say '{number} {other}', not '{shown}'")
    return quote


Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What somebody proposes. value: "4.8 TB/s"; cite: "<gpu-wiki>/docs/a.md:L23" (or :L23-L25).

    rank: empty for preferred where no value of the question is preferred or the preferred one is
    replaced, else normal.
    """

    platform: Platform
    metric: str
    value: str
    cite: str
    source: str
    source_kind: str
    evidence: str
    why: str
    source_url: str = ""
    rank: str = ""
    note: str = ""
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    replaces: Spec | None = None


def submit(proposal: Proposal, by: Any) -> Spec:
    """Store it as a proposed spec.

    Raises CurationError naming the field and what is accepted, Forbidden and Conflict.
    """
    with _naming("metric"):
        metric_named(proposal.metric)
    if not proposal.why.strip():
        raise CurationError("why", "a reason is needed; it is kept in the history")
    with _naming("value"):
        facts = SpecFacts(
            metric=proposal.metric,
            shown=proposal.value,
            evidence=_one_of("evidence", proposal.evidence, EvidenceClass),
            source_kind=_one_of("source_kind", proposal.source_kind, SourceKind),
            source=proposal.source,
            source_url=proposal.source_url,
            rank=_rank(proposal),
            qualifiers=proposal.qualifiers,
            note=proposal.note,
        )
    old, question = proposal.replaces, (proposal.platform.pk, facts.metric, dict(facts.qualifiers))
    if old is not None and (old.platform_id, old.metric, dict(old.qualifiers)) != question:
        raise CurationError(
            "replaces", f"{old} answers another question; accepted: a value of the same one"
        )
    with _naming("cite"):
        line = parse_citation(f"{facts.metric}: {facts.shown} <- {proposal.cite}")
    document = Document.objects.filter(path=line.path).first()
    if document is None:
        raise CurationError("cite", f"no document '{line.path}'; accepted: {SHAPE}")
    place = CitedLines(document.latest, line.first_line, line.last_line)
    return propose(proposal.platform, facts, place, by, proposal.why, proposal.replaces)


def _rank(proposal: Proposal) -> Rank:
    if proposal.rank:
        return _one_of("rank", proposal.rank, Rank)
    asked = (proposal.platform, proposal.metric, proposal.qualifiers)
    preferred = Spec.objects.preferred().asking(*asked)
    if proposal.replaces is not None:
        preferred = preferred.exclude(pk=proposal.replaces.pk)
    return Rank.NORMAL if preferred.exists() else Rank.PREFERRED


@contextmanager
def _naming(field_name: str) -> Iterator[None]:
    """Turn a refused name, number or fact into a refusal that names its field."""
    try:
        yield
    except FactsError as error:
        words = str(error).removeprefix(f"{error.field}: ")
        raise CurationError(error.field or "facts", words) from error
    except (MetricError, QuantityError, CitationError) as error:
        raise CurationError(field_name, str(error)) from error


def _one_of(field_name: str, value: str, kind: type[Word]) -> Word:
    if value not in list(kind):
        raise CurationError(field_name, f"'{value}'; accepted: {', '.join(kind)}")
    return kind(value)
