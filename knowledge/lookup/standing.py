"""How citations stand now: against the newest text of their documents, for many specs at once.

An import follows or flags every citation of a value in use or in review. What stands neither in the
newest text nor under a flag, as rows of an earlier version may, is judged as an import would.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Exists, OuterRef

from knowledge.models import (
    DRIFT,
    Action,
    Citation,
    Flag,
    FlagAnswer,
    Revision,
    Spec,
    SpecChange,
    SpecState,
)
from knowledge.specs.citation import CitationError, CitationState, resolve
from knowledge.specs.tracking.anchoring import Reanchor

BLANK_ENDS = re.compile(r"[^\S\n]+$", re.MULTILINE)


def newest_revisions(documents: Iterable[int]) -> dict[int, Revision]:
    """Document key → its newest revision, with its text; one query."""
    newer = Revision.objects.filter(document=OuterRef("document"), number__gt=OuterRef("number"))
    found = Revision.objects.filter(document__in=set(documents)).filter(~Exists(newer))
    return {revision.document_id: revision for revision in found}


def standings(specs: Sequence[Spec]) -> dict[int, CitationState]:
    """Spec key → state of its newest citation; specs without a citation are left out.

    An open flag says it where there is one; else the newest text does. Two queries for specs that
    come `for_sheet`, one more where a text was moved in, and one for texts that are behind.
    """
    open_flags = Flag.objects.open().filter(spec__in=specs, kind__in=DRIFT)
    found = {key: CitationState(kind) for key, kind in open_flags.values_list("spec_id", "kind")}
    cited = {spec.pk: spec.citation for spec in specs}
    newest = newest_revisions(c.revision.document_id for c in cited.values() if c is not None)
    behind: dict[int, list[Citation]] = defaultdict(list)  # by the key of their text
    for spec in specs:
        citation = cited[spec.pk]
        if citation is None or spec.pk in found:
            continue
        revision = newest[citation.revision.document_id]
        if citation.revision.document.withdrawn_at is not None:
            found[spec.pk] = CitationState.SOURCE_MISSING
        elif citation.revision_id == revision.pk or spec.state == SpecState.RETIRED:
            found[spec.pk] = resolve(citation.line, citation.quote, revision.text)
        else:
            behind[citation.revision_id].append(citation)
    for revision in Revision.objects.filter(pk__in=behind) if behind else ():
        # What an import of the newest text would make of a citation into an earlier one.
        search = Reanchor(revision.text, newest[revision.document_id].text)
        for citation in behind[revision.pk]:
            found[citation.spec_id] = _anchored(search, citation)
    moved = {s.pk for s in specs if found.get(s.pk) is CitationState.OK and _moved(s)}
    answers = Flag.objects.filter(spec__in=moved, answer=FlagAnswer.RECITED)
    chosen = Citation.objects.newest().filter(
        Exists(answers.filter(spec=OuterRef("spec"), revision=OuterRef("revision"))), spec__in=moved
    )
    recited = set(chosen.values_list("spec_id", flat=True)) if moved else set()
    return found | dict.fromkeys(moved - recited, CitationState.MOVED)


def current(specs: Sequence[Spec]) -> list[Spec]:
    """The specs whose citation holds: no other is an answer (law 1)."""
    states = standings(specs)
    return [spec for spec in specs if states.get(spec.pk, CitationState.OK).holds]


def _anchored(search: Reanchor, citation: Citation) -> CitationState:
    try:
        slug = citation.spec.platform.slug
        return search.anchor(citation.line, citation.quote, slug).state
    except CitationError:  # it never stood where it says
        return CitationState.CHANGED


def _moved(spec: Spec) -> bool:
    """Whether the same text stands on other lines than in the citation before the newest."""
    newest, *earlier = spec.cited
    if not earlier:
        return False
    before = earlier[0]
    return (
        before.revision.document_id == newest.revision.document_id
        and BLANK_ENDS.sub("", before.quote) == BLANK_ENDS.sub("", newest.quote)
        and before.first_line != newest.first_line
    )


def notes_of(standings: Mapping[int, CitationState]) -> dict[int, str]:
    """Spec key → the note, for those whose citation moved or drifted. At most two queries."""
    found: dict[int, str] = {}
    moved = [key for key, state in standings.items() if state is CitationState.MOVED]
    followed = SpecChange.objects.filter(spec__in=moved, action=Action.CITED).order_by("pk")
    if moved:
        found |= dict(followed.values_list("spec_id", "why"))
    drifts = {kind.value for kind in DRIFT}
    drifted = [key for key, state in standings.items() if state.value in drifts]
    flags = Flag.objects.open().filter(spec__in=drifted, kind__in=DRIFT).order_by("pk")
    if drifted:
        found |= dict(flags.values_list("spec_id", "note"))
    return {key: note for key, note in found.items() if note}
