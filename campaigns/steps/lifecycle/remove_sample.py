"""Delete the sample with all of its rows: it is nobody's record, and nothing rests on it.

The database refuses the same for every campaign that was measured here.
"""

from __future__ import annotations

from typing import Any

from django.db import router, transaction

from campaigns.models import (
    ArchivedCampaign,
    Campaign,
    Candidate,
    Evaluation,
    Event,
    Evidence,
    Phase,
    Round,
    Standing,
    Verdict,
)
from campaigns.steps.lifecycle.load_sample import SampleRefused
from knowledge.curation.errors import Forbidden
from knowledge.curation.people import is_lead

# Each with the way to its campaign, and before what that way leads through.
ROWS = (
    (Standing, "round__campaign"),
    (Verdict, "round__campaign"),
    (Evaluation, "candidate__round__campaign"),
    (Evidence, "campaign"),
    (Candidate, "round__campaign"),
    (Event, "campaign"),
    (Round, "campaign"),
    (Phase, "campaign"),
    (ArchivedCampaign, "campaign"),
    (Campaign, "pk"),
)


def may_remove(campaign: Campaign, person: Any) -> bool:
    """Whether the user may remove the sample: who loaded it, and leads; None is a command."""
    return person is None or campaign.created_by_id == person.pk or is_lead(person)


def remove_sample(campaign: Campaign, by: Any = None) -> None:
    """Raises SampleRefused for any other campaign, and Forbidden."""
    if not campaign.is_sample:
        raise SampleRefused(f"campaign {campaign.pk}: is a record; accepted: the sample")
    if not may_remove(campaign, by):
        raise Forbidden("only the person who loaded the sample, or a lead, can remove it")
    key = campaign.pk
    with transaction.atomic():
        for model, path in ROWS:
            # Round the guard of the models, as rows of these refer to each other both ways; the
            # triggers look again, and the foreign keys when the transaction ends.
            rows = model._base_manager.filter(**{path: key})
            rows._raw_delete(router.db_for_write(model))
