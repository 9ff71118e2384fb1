"""A proposal as people write it, all of it text, read into facts and a place; then proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from knowledge.curation.errors import CurationError
from knowledge.curation.propose import Place, propose
from knowledge.models import Document, Platform, Spec
from knowledge.specs.citation import SHAPE, CitationError, parse_citation
from knowledge.specs.cited import Evidence
from knowledge.specs.facts import FactsError, Rank, SourceKind, SpecFacts
from knowledge.specs.metrics import MetricError, metric_named
from knowledge.specs.quantity import QuantityError

Word = TypeVar("Word", bound=StrEnum)

is_web_address = URLValidator(schemes=["http", "https"])


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
    _check_lengths(facts)
    _check_replaced(proposal, facts)
    place = _place(proposal, facts)
    return propose(proposal.platform, facts, place, by, proposal.why, proposal.replaces)


def _facts(proposal: Proposal) -> SpecFacts:
    with _named("metric", MetricError):
        metric_named(proposal.metric)
    if proposal.source_url:
        with _named("source_url", ValidationError):
            is_web_address(proposal.source_url)
    if not proposal.why.strip():
        raise CurationError("why", "a reason is needed; it stays in the history")
    with _named("value", MetricError, QuantityError), _named("facts", FactsError):
        return SpecFacts(
            metric=proposal.metric,
            shown=proposal.value,
            evidence=_one_of("evidence", proposal.evidence, Evidence),
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
    preferred = Spec.objects.preferred().filter(
        platform=proposal.platform,
        metric=proposal.metric,
        qualifiers=dict(sorted(proposal.qualifiers.items())),
    )
    if proposal.replaces is not None:
        preferred = preferred.exclude(pk=proposal.replaces.pk)
    return Rank.NORMAL if preferred.exists() else Rank.PREFERRED


def _check_lengths(facts: SpecFacts) -> None:
    """SQLite stores any length and PostgreSQL does not: the same is refused by both."""
    for name in ("shown", "source", "source_url"):
        most = getattr(Spec._meta.get_field(name), "max_length", None)
        text = getattr(facts, name)
        if most is not None and len(text) > most:
            label = "value" if name == "shown" else name
            raise CurationError(label, f"{len(text)} characters; accepted: at most {most}")


def _check_replaced(proposal: Proposal, facts: SpecFacts) -> None:
    old = proposal.replaces
    if old is None:
        return
    question = (proposal.platform.pk, facts.metric, dict(facts.qualifiers))
    if (old.platform_id, old.metric, dict(old.qualifiers)) != question:
        raise CurationError(
            "replaces", f"{old} answers another question; accepted: a value of the same one"
        )


def _place(proposal: Proposal, facts: SpecFacts) -> Place:
    with _named("cite", CitationError):
        line = parse_citation(f"{facts.metric}: {facts.shown} <- {proposal.cite}")
    document = Document.objects.filter(path=line.path).first()
    if document is None:
        raise CurationError("cite", f"no document '{line.path}'; accepted: {SHAPE}")
    return Place(document.latest, line.first_line, line.last_line)


@contextmanager
def _named(field_name: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn these refusals into one that names the field."""
    try:
        yield
    except kinds as error:
        words = error.messages[0] if isinstance(error, ValidationError) else str(error)
        raise CurationError(field_name, words) from error


def _one_of(field_name: str, value: str, kind: type[Word]) -> Word:
    if value not in list(kind):
        raise CurationError(field_name, f"'{value}'; accepted: {', '.join(kind)}")
    return kind(value)
