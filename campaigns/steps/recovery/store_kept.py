"""Store what was measured while the database could not be reached, or its worker was killed."""

from __future__ import annotations

import logging
import time

from django.db import transaction

from campaigns.models import Campaign, Evaluation
from campaigns.steps.measuring.end_wait import end_wait
from campaigns.steps.measuring.record_report import record_report
from campaigns.workers.claim_holder import is_gone
from campaigns.workers.kept_results import KeptResult, kept_results
from campaigns.workers.notify import AGAIN, Next

log = logging.getLogger(__name__)

# By then whoever has measured it has stored it, or has failed to.
LEFT_S = 10.0


def store_kept() -> list[tuple[Campaign, Next]]:
    """Store each result that was left, unless it was measured again; whom to notify.

    Run with every heartbeat. Raises DatabaseError, and what is not stored stays kept.
    """
    found = (_store(kept) for kept in kept_results() if _is_left(kept))
    return [(campaign, AGAIN) for campaign in found if campaign]


def _is_left(kept: KeptResult) -> bool:
    if is_gone(kept.holder):
        return True
    try:
        return time.time() - kept.path.stat().st_mtime > LEFT_S
    except FileNotFoundError:
        return False


def _store(kept: KeptResult) -> Campaign | None:
    rows = Evaluation.objects.select_related("candidate__round__campaign", "worker")
    evaluation, campaign = rows.filter(pk=kept.evaluation).first(), None
    if evaluation is not None:
        # As it was when it was measured; record_report looks at what has become of it.
        evaluation.holder, evaluation.claims = kept.holder, kept.claims
        with transaction.atomic():
            campaign = record_report(evaluation, kept.report)
            if campaign and evaluation.worker:
                end_wait(evaluation, evaluation.worker)
        log.warning("%s: %s", evaluation, "stored late" if campaign else "measured again, dropped")
    kept.forget()
    return campaign
