"""How citations stand now: against the newest text of their documents, for many specs at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, Prefetch

from knowledge.models import DRIFT, Citation, Flag, Revision, Spec
from knowledge.models.spec import SpecQuerySet
from knowledge.specs.citation import CitationState, resolve


def with_citations(specs: SpecQuerySet) -> SpecQuerySet:
    """With platform, author and citations, newest first; not with the texts that they lie in."""
    newest_first = Citation.objects.select_related("revision__document").order_by("-pk")
    prefetch = Prefetch("citations", newest_first.defer("revision__text"))
    return specs.select_related("platform", "proposed_by").prefetch_related(prefetch)


def newest_revisions(documents: Iterable[int]) -> dict[int, Revision]:
    """Document key → its newest revision, with its text; one query."""
    newer = Revision.objects.filter(document=OuterRef("document"), number__gt=OuterRef("number"))
    found = Revision.objects.filter(document__in=set(documents)).filter(~Exists(newer))
    return {revision.document_id: revision for revision in found}


def standings(specs: Sequence[Spec]) -> dict[int, CitationState]:
    """Spec key → state of its newest citation; specs without a citation are left out.

    An open flag says it where there is one; else the newest text does. Two queries for specs that
    come `with_citations`.
    """
    open_flags = Flag.objects.open().filter(spec__in=specs, kind__in=DRIFT)
    flagged = dict(open_flags.values_list("spec_id", "kind"))
    cited = {spec.pk: spec.citation for spec in specs}
    newest = newest_revisions(c.revision.document_id for c in cited.values() if c is not None)
    found = {}
    for spec in specs:
        citation = cited[spec.pk]
        if spec.pk in flagged:
            found[spec.pk] = CitationState(flagged[spec.pk])
        elif citation is not None:
            text = newest[citation.revision.document_id].text
            found[spec.pk] = _unflagged(spec, citation, text)
    return found


def _unflagged(spec: Spec, citation: Citation, text: str) -> CitationState:
    if citation.revision.document.withdrawn_at is not None:
        return CitationState.SOURCE_MISSING
    state = resolve(citation.line, citation.quote, text)
    return CitationState.MOVED if state is CitationState.OK and _moved(spec, citation) else state


def _moved(spec: Spec, citation: Citation) -> bool:
    """Whether the same text was found again on other lines when its document last changed."""
    earlier = [other for other in spec.citations.all() if other.pk < citation.pk]
    if not earlier:
        return False
    before = max(earlier, key=lambda other: other.pk)
    return (
        before.revision.document_id == citation.revision.document_id
        and _bare(before.quote) == _bare(citation.quote)
        and before.first_line != citation.first_line
    )


def _bare(quote: str) -> list[str]:
    return [line.rstrip() for line in quote.split("\n")]
