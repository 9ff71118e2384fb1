"""A proposal as people write it, all of it text, read into facts and a place; then proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from knowledge.curation.errors import CurationError
from knowledge.curation.propose import CitedLines, propose
from knowledge.models import Document, Platform, Spec
from knowledge.specs.citation import SHAPE, CitationError, parse_citation
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import FactsError, Rank, SourceKind, SpecFacts
from knowledge.specs.metrics import MetricError, metric_named
from knowledge.specs.quantity import QuantityError

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
    facts = _facts(proposal)
    _check_replaced(proposal, facts)
    place = _place(proposal, facts)
    return propose(proposal.platform, facts, place, by, proposal.why, proposal.replaces)


def _facts(proposal: Proposal) -> SpecFacts:
    with _named("metric", MetricError):
        metric_named(proposal.metric)
    if not proposal.why.strip():
        raise CurationError("why", "a reason is needed; it is kept in the history")
    with _named("value", MetricError, QuantityError), _of_facts():
        return SpecFacts(
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


def _rank(proposal: Proposal) -> Rank:
    if proposal.rank:
        return _one_of("rank", proposal.rank, Rank)
    asked = (proposal.platform, proposal.metric, proposal.qualifiers)
    preferred = Spec.objects.preferred().asking(*asked)
    if proposal.replaces is not None:
        preferred = preferred.exclude(pk=proposal.replaces.pk)
    return Rank.NORMAL if preferred.exists() else Rank.PREFERRED


def _check_replaced(proposal: Proposal, facts: SpecFacts) -> None:
    old = proposal.replaces
    if old is None:
        return
    question = (proposal.platform.pk, facts.metric, dict(facts.qualifiers))
    if (old.platform_id, old.metric, dict(old.qualifiers)) != question:
        raise CurationError(
            "replaces", f"{old} answers another question; accepted: a value of the same one"
        )


def _place(proposal: Proposal, facts: SpecFacts) -> CitedLines:
    with _named("cite", CitationError):
        line = parse_citation(f"{facts.metric}: {facts.shown} <- {proposal.cite}")
    document = Document.objects.filter(path=line.path).first()
    if document is None:
        raise CurationError("cite", f"no document '{line.path}'; accepted: {SHAPE}")
    return CitedLines(document.latest, line.first_line, line.last_line)


@contextmanager
def _named(field_name: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn these refusals into one that names the field."""
    try:
        yield
    except kinds as error:
        raise CurationError(field_name, str(error)) from error


@contextmanager
def _of_facts() -> Iterator[None]:
    """Turn refused facts into a refusal that names the field, where it is one field alone."""
    try:
        yield
    except FactsError as error:
        words = str(error).removeprefix(f"{error.field}: ")
        raise CurationError(error.field or "facts", words) from error


def _one_of(field_name: str, value: str, kind: type[Word]) -> Word:
    if value not in list(kind):
        raise CurationError(field_name, f"'{value}'; accepted: {', '.join(kind)}")
    return kind(value)
