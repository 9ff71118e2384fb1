"""Findings in the records: a candidate's own, and what its campaign makes of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from campaigns.models import Campaign, Candidate
from campaigns.rules.verdict.finding_kinds import LENIENT, Examined, Finding, FindingKind, Stance


def policy_of(campaign: Campaign) -> dict[FindingKind, Stance]:
    """What the campaign makes of each kind; one of before there was a policy refuses nothing."""
    stored: Mapping[str, str] = campaign.findings_policy or {}
    return {kind: Stance(stored.get(kind, usual)) for kind, usual in LENIENT.items()}


def stored_policy(policy: Mapping[FindingKind, Stance]) -> dict[str, str]:
    """A policy as its campaign keeps it."""
    return {kind.value: policy[kind].value for kind in FindingKind}


class FoundLine(msgspec.Struct, frozen=True):
    """A finding as its candidate keeps it, with the words that its kind had then.

    stance: what the campaign makes of its kind; not stored.
    """

    kind: str
    line: int
    what: str
    text: str
    meaning: str
    stance: str = ""


def stored_findings(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings as their candidate keeps them."""
    rows = (
        FoundLine(found.kind.value, found.line, found.what, found.quote, found.kind.meaning)
        for found in findings
    )
    return [{name: getattr(row, name) for name in FoundLine.__struct_fields__[:-1]} for row in rows]


def examined(candidate: Candidate, campaign: Campaign) -> Examined | None:
    """The candidate's findings under its campaign's policy; None where it was not examined."""
    if candidate.findings is None:
        return None
    findings = tuple(
        Finding(FindingKind(row["kind"]), row["line"], row["what"], row["text"])
        for row in candidate.findings
    )
    return Examined(candidate.file_name, findings, policy_of(campaign))


def found_lines(candidate: Candidate, campaign: Campaign) -> list[FoundLine] | None:
    """Each finding with what the campaign makes of it; None where it was not examined."""
    if candidate.findings is None:
        return None
    policy = policy_of(campaign)
    rows = msgspec.convert(candidate.findings, list[FoundLine])
    return [replace(row, stance=policy[FindingKind(row.kind)].value) for row in rows]


def kinds_by_stance(campaign: Campaign) -> dict[str, list[FindingKind]]:
    """The campaign's policy as people read it: what is refused, what is flagged, the rest."""
    policy = policy_of(campaign)
    order = reversed(Stance)
    return {s.value: [kind for kind in FindingKind if policy[kind] is s] for s in order}


def finding_counts(candidate: Candidate, campaign: Campaign) -> str:
    """Such as "1 refused, 2 flagged"; empty where all findings are allowed."""
    found = examined(candidate, campaign)
    shown = {Stance.REFUSED: "refused", Stance.REVIEW: "for review", Stance.FLAGGED: "flagged"}
    counts = {words: len(found.of(s)) if found else 0 for s, words in shown.items()}
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count)
