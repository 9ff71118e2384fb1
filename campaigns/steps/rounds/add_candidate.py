"""Store one source as a candidate of a round."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from campaigns.evaluator.contract import Param, Source
from campaigns.models import Candidate, Round
from campaigns.records.findings import stored_findings
from campaigns.syntax.findings.find import findings_of


def add_candidate(
    round_: Round,
    ordinal: int,
    label: str,
    source: Source,
    params: Mapping[str, Param] | None = None,
) -> Candidate:
    """Store one source under a round, with what static reading finds in it.

    The digest is over name, text and flags.
    """
    digest = hashlib.sha256("\0".join((source.name, source.text, *source.flags)).encode())
    return Candidate.objects.create(
        round=round_,
        ordinal=ordinal,
        label=label,
        file_name=source.name,
        text=source.text,
        flags=list(source.flags),
        params=dict(params or {}),
        digest=digest.hexdigest(),
        findings=stored_findings(findings_of(source)),
    )
