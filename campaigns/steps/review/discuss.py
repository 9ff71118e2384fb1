"""Campaigns and their rounds as what people comment on: where a remark belongs, and who is told."""

from __future__ import annotations

import re

from django.urls import reverse

from campaigns.models import Campaign, Round
from campaigns.models.event import record
from campaigns.records.decisions import author_of
from knowledge.curation.comment import CommentSubject, register
from knowledge.models import Comment, SubjectKind

COMMENTED = "commented"
KEY = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
LINE = re.compile(r"L[1-9][0-9]{0,6}")


def subject_of(kind: str, key: str, anchor: str) -> CommentSubject | None:
    """A campaign by its key, or "12/3": its round 3, a case of it, a line of its diff.

    None of a sample, which can be deleted while a remark is kept.
    """
    kept = Campaign.objects.measured_here()
    if kind == SubjectKind.CAMPAIGN:
        is_key = key.isascii() and key.isdigit() and len(key) < 10 and not anchor
        campaign = kept.filter(pk=int(key)).first() if is_key else None
        return _commented(campaign, None, "") if campaign else None
    match = KEY.fullmatch(key)
    rows = Round.objects.select_related("campaign", "submission")
    where = {"campaign": int(match[1]), "number": int(match[2])} if match else {"pk": None}
    round_ = rows.filter(campaign__in=kept, **where).first()
    if round_ is None:
        return None
    fits = {
        SubjectKind.ROUND: anchor == "",
        SubjectKind.CASE: anchor in round_.campaign.cases,
        SubjectKind.DIFF: LINE.fullmatch(anchor) is not None,
    }
    return _commented(round_.campaign, round_, anchor) if fits[SubjectKind(kind)] else None


def _commented(campaign: Campaign, round_: Round | None, anchor: str) -> CommentSubject:
    def note(made: Comment) -> None:
        place = f"round {round_.number}" if round_ else "the campaign"
        where = f"{place}, {anchor}" if anchor else place
        words = f"{made.by} comments on {where}"
        record(campaign, COMMENTED, words, round=round_, by=made.by, comment=made.pk)

    if round_ is None:
        owner = campaign.created_by_id
        authors: frozenset[int] = frozenset() if owner is None else frozenset({owner})
        url = reverse("campaign", args=[campaign.pk])
        return CommentSubject(f"campaign {campaign.pk}", url, authors, campaign.pk, note)
    url = reverse("round", args=[campaign.pk, round_.number])
    name = f"round {round_.number} of campaign {campaign.pk}"
    return CommentSubject(name, url, author_of(round_, campaign), campaign.pk, note)


PARTS = (SubjectKind.ROUND, SubjectKind.CASE, SubjectKind.DIFF, SubjectKind.CAMPAIGN)


def register_subjects() -> None:
    """Let people comment on campaigns and rounds."""
    register(PARTS, subject_of)
