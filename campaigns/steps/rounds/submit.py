"""Take a candidate that a person or an agent hands in; the flow tries it in a round of its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Q

from campaigns.evaluator.contract import Source
from campaigns.models import Campaign, Candidate, Round, RoundState, Submission, Submitter
from campaigns.models.event import record
from campaigns.proposers.base import Hypothesis
from campaigns.proposers.handed_in import (
    HandedIn,
    SubmissionRefused,
    check_source,
    read_flags,
    read_hypothesis,
    squeezed,
)
from campaigns.proposers.situation import facts_about
from campaigns.records.findings import policy_of
from campaigns.records.submissions import closed_to, waiting_in
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.finding_kinds import Examined, Stance
from campaigns.syntax.findings.find import findings_of
from knowledge.curation.errors import Forbidden

MAY_SUBMIT = "campaigns.change_campaign"
LONGEST_NAME = 150


def submit(
    campaign: Campaign, handed: HandedIn, kind: str, name: str, by: Any = None
) -> Submission:
    """Store a hypothesis with its source; it is the next round, or waits for the open one (R51).

    kind: "person" or "agent"; name: whose it is. by: the account that hands it in, None for a
    command on this host. Whoever calls it notifies the campaign with `AGAIN`.
    Raises SubmissionRefused, which names the field, and Forbidden for an account that may not run
    campaigns. Nothing is stored then.
    """
    if by is not None and not by.has_perm(MAY_SUBMIT):
        raise Forbidden("handing in a candidate needs the role engineer or lead")
    if kind not in Submitter.values:
        raise SubmissionRefused("kind", f"{kind!r:.40}; accepted: {', '.join(Submitter.values)}")
    if not 0 < len(name.strip()) <= LONGEST_NAME or "\0" in name:
        raise SubmissionRefused("name", f"is needed, of at most {LONGEST_NAME} characters")
    with transaction.atomic():
        # Held until the end: neither the campaign's end nor another submission comes in between.
        found = Campaign.objects.select_for_update().get(pk=campaign.pk)
        incumbent = _require_open(found, ProposerKind(kind))
        hypothesis = read_hypothesis(handed, facts_about(found))
        source = _source(found, handed, incumbent)
        _require_new(found, hypothesis, source, incumbent)
        made = Submission.objects.create(
            campaign=found,
            kind=kind,
            name=name.strip(),
            by=by,
            hypothesis=asdict(hypothesis),
            against=incumbent,
            file_name=source.name,
            text=source.text,
            flags=list(source.flags),
        )
        words = f"{made.name} ({kind}) handed in: {made.title}"
        record(found, "submitted", words, submission=made.pk)
    return made


def _require_open(campaign: Campaign, kind: ProposerKind) -> Candidate:
    """The incumbent of a campaign that takes a candidate of this kind now."""
    if closed := closed_to(campaign, kind):
        raise SubmissionRefused("campaign", closed)
    incumbent = campaign.incumbent
    if incumbent is None or not facts_about(campaign):
        raise SubmissionRefused(
            "evidence", "the facts about a new incumbent are being gathered; try again in a moment"
        )
    return incumbent


def _source(campaign: Campaign, handed: HandedIn, incumbent: Candidate) -> Source:
    """The source under the incumbent's name, unless the findings policy refuses it."""
    check_source(handed, incumbent.file_name)
    source = Source(incumbent.file_name, handed.text, read_flags(handed, incumbent.source))
    found = Examined(source.name, tuple(findings_of(source)), policy_of(campaign))
    for first in found.of(Stance.REFUSED):
        raise SubmissionRefused(
            "source",
            f"line {first.line}, {first.what}: this campaign refuses {first.kind.words}. "
            f"{first.kind.meaning}",
        )
    return source


def _require_new(
    campaign: Campaign, hypothesis: Hypothesis, source: Source, incumbent: Candidate
) -> None:
    """Neither the same source nor the same idea as what was tried or waits."""

    def same_source(row: Candidate | Submission) -> bool:
        return (squeezed(row.text), tuple(row.flags)) == (squeezed(source.text), source.flags)

    def same_change(row: Round | Submission) -> bool:
        """Two hypotheses are one idea when they say that they change the same."""
        tried = " ".join(str(row.hypothesis.get("change", "")).split())
        return tried.casefold() == " ".join(hypothesis.change.split()).casefold()

    if same_source(incumbent):
        number = incumbent.round.number
        raise SubmissionRefused("source", f"is the incumbent's, of round {number}", number)
    # What a broken host spoilt was not tried (law 8).
    spoilt = Q(state=RoundState.CLOSED, verdict__reason=Reason.BROKEN_HOST)
    for round_ in campaign.rounds.exclude(spoilt).prefetch_related("candidates"):
        number = round_.number
        if any(map(same_source, round_.candidates.all())):
            raise SubmissionRefused("source", f"round {number} had the same one", number)
        if same_change(round_):
            raise SubmissionRefused("change", f"round {number} tried the same change", number)
    for other in waiting_in(campaign):
        for field, is_same in (("source", same_source(other)), ("change", same_change(other))):
            if is_same:
                raise SubmissionRefused(field, f"waits already, handed in by {other.name}")
