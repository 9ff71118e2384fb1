"""A person allows an assumed ceiling where nothing is cited, while the campaign is a draft (R3)."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from campaigns.models import Campaign, CampaignState, IllegalTransition, Placeholder
from campaigns.models.event import record
from campaigns.records.target.ceilings import ceilings_of
from campaigns.rules.target.ceilings import PLACEHOLDER, QUESTIONS
from knowledge.curation.errors import Forbidden
from knowledge.curation.people import may_review
from knowledge.specs.quantity import Quantity, QuantityError

LONGEST_SHOWN = 80
LONGEST_REASON = 500


class PlaceholderRefused(ValueError):
    """A placeholder that cannot be allowed: `field`, and what is accepted."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def allow_placeholder(
    campaign: Campaign, question: str, value: str, reason: str, by: Any
) -> Placeholder:
    """Store it with the person and the reason; it is in no headline.

    question: "bandwidth" or "compute"; value: "4 TB/s". Raises PlaceholderRefused, Forbidden for
    a person who is no curator or lead, and IllegalTransition once the campaign is confirmed, which
    freezes what it is judged by.
    """
    if by is None or not may_review(by):
        raise Forbidden("allowing a placeholder needs the role curator or lead")
    quantity = _quantity(question, value)
    if not 0 < len(reason.strip()) <= LONGEST_REASON or "\0" in reason:
        raise PlaceholderRefused(
            "reason",
            f"is needed, of at most {LONGEST_REASON} characters; it is shown with the value",
        )
    with transaction.atomic():
        # Held until the end, so that no confirmation comes between the look and the row.
        found = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if found.state != CampaignState.DRAFT:
            raise IllegalTransition(
                f"campaign: is {found.doing}; accepted for a placeholder: "
                f"{CampaignState.DRAFT}, as confirming freezes the goal"
            )
        _require_gap(found, question)
        placeholder = _store(found, question, value, quantity, reason.strip(), by)
        words = f"{question}: {value} is an {PLACEHOLDER}, allowed by {by.get_username()}: {reason}"
        record(found, "placeholder", words)
    return placeholder


def _quantity(question: str, value: str) -> Quantity:
    if question not in QUESTIONS:
        raise PlaceholderRefused("question", f"'{question}'; accepted: {', '.join(QUESTIONS)}")
    unit = QUESTIONS[question]
    if len(value) > LONGEST_SHOWN:
        raise PlaceholderRefused("value", f"{len(value)} characters; at most {LONGEST_SHOWN}")
    try:
        quantity = Quantity.parse(value).to(unit)
    except QuantityError as error:
        raise PlaceholderRefused("value", str(error)) from error
    if quantity.value <= 0:
        raise PlaceholderRefused("value", f"{value}; accepted: more than 0 {unit}")
    return quantity


def _require_gap(campaign: Campaign, question: str) -> None:
    ceilings = ceilings_of(campaign)
    if question not in ceilings.missing:
        known = ceilings.bandwidth if question == "bandwidth" else ceilings.compute
        cited = known.citation if known else ""
        raise PlaceholderRefused(
            "question",
            f"{question} is known: {cited}; a placeholder is only for a value without a citation",
        )


def _store(
    campaign: Campaign, question: str, shown: str, quantity: Quantity, reason: str, by: Any
) -> Placeholder:
    try:
        with transaction.atomic():
            return Placeholder.objects.create(
                campaign=campaign,
                question=question,
                value=quantity.value,
                unit=quantity.unit,
                shown=shown,
                reason=reason,
                allowed_by=by,
            )
    except IntegrityError:
        raise PlaceholderRefused(
            "question", f"{question} has a placeholder already; it is never rewritten"
        ) from None
