"""What of a campaign's gain reaches real use, from its accepted rounds (R21)."""

from __future__ import annotations

from campaigns.records.rounds import declared_of
from campaigns.records.verdicts import result_of
from campaigns.reports.campaign.sheet import CampaignSheet
from campaigns.rules.verdict.buckets import Declared
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.verdict.transfer import AcceptedRound, Audit, audit


def audit_of(sheet: CampaignSheet) -> Audit | None:
    """None while nothing was accepted after the baseline."""
    kept = [
        AcceptedRound(row.number, row.gain.gain, declared_of(row.round) or Declared(None))
        for row in sheet.rows
        if row.word is Word.ACCEPTED and row.number > 1 and row.gain is not None
    ]
    if not kept:
        return None
    measured = result_of(sheet.campaign)
    return audit(kept, None if measured is None else 1 + measured.gain)
