"""Hold the citation of a value that comes back against the newest text of its document."""

from __future__ import annotations

from typing import Any

from knowledge.curation.revise import CitationChange, settle
from knowledge.models import Spec
from knowledge.specs.citation import CitationState
from knowledge.specs.tracking.anchoring import Reanchor


def recheck(spec: Spec, by: Any) -> bool:
    """Follow a citation whose text has moved, and flag one that does not hold; whether it did that.

    by: who brings the value back, and may therefore not answer the flag. Run it in a turn.
    """
    citation = spec.citation
    if citation is None:
        return False
    document = citation.revision.document
    newest = None if document.withdrawn_at is not None else document.latest
    found = Reanchor(citation.revision.text, None if newest is None else newest.text)
    anchor = found.anchor(citation.line, citation.quote, spec.platform.slug)
    drift = CitationChange(spec, citation, anchor)
    if drift.anchor.state is CitationState.OK and drift.anchor.quote == citation.quote:
        return False
    settle([drift], newest, by)
    return not drift.holds
