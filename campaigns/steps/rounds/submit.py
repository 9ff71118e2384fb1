"""Take a candidate that a person or an agent hands in; the flow tries it in a round of its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Q

from campaigns.evaluator.contract import Source
from campaigns.models import (
    Campaign,
    Candidate,
    Repair,
    Round,
    RoundState,
    Submission,
    Submitter,
)
from campaigns.models.event import record
from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.entries import adapted
from campaigns.proposers.base import Variant
from campaigns.proposers.handed_in import (
    LONGEST,
    HandedIn,
    SubmissionRefused,
    check_source,
    read_flags,
    read_hypothesis,
    squeezed,
)
from campaigns.proposers.situation import facts_about
from campaigns.records.findings import policy_of
from campaigns.records.rounds import tried_in
from campaigns.records.stop_history import masked_rounds
from campaigns.records.submissions import (
    awaited_repair,
    closed_to,
    no_round_left,
    not_now,
    waiting_in,
)
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.finding_kinds import Examined, Stance
from campaigns.steps.rounds.open_round import v0_source
from campaigns.steps.rounds.repair import answer
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
    _require_may_submit(by)
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
        _require_new(found, source, incumbent, hypothesis.change)
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


def _require_may_submit(by: Any) -> None:
    if by is not None and not by.has_perm(MAY_SUBMIT):
        raise Forbidden("handing in a candidate needs the role engineer or lead")


def mend(
    campaign: Campaign, handed: HandedIn | None, kind: str, name: str, by: Any = None
) -> Repair:
    """Store a repair of the wrong candidate that the open round waits for (R17).

    handed: of it only source, flags and file name count; the flags are else those of what failed.
    None: there is no repair, and the round is judged as it failed. kind, name, by, and what it
    raises: as in `submit`. An agent mends what it has handed in itself, a person everybody's.
    """
    _require_may_submit(by)
    awaited = awaited_repair(campaign)
    if awaited is None:
        raise SubmissionRefused("campaign", f"is {campaign.doing}; no round waits for a repair")
    round_, failed = awaited.round, awaited.failed
    owner = round_.submission
    if kind != Submitter.PERSON and owner and (kind, name) != (owner.kind, owner.name):
        raise SubmissionRefused("campaign", f"waits for {owner.name} to mend what it handed in")
    variant, who = None, f"{name} ({kind})"
    if handed is not None:
        source = _source(campaign, handed, failed.candidate)
        _require_new(campaign, source, failed.candidate)
        variant = Variant(f"repair {round_.repairs.count() + 1}", source, {})
        who = f"{failed.candidate.label}: {failed.outcome.replace('_', ' ')}; mended by {who}"
    if not answer(round_, failed, variant, who if variant else f"{who} has none").again:
        raise SubmissionRefused("campaign", "has an answer to this failure already")
    return failed.repair


def measure_again(
    campaign: Campaign, number: int, kind: str, name: str, by: Any = None
) -> Submission:
    """Hand the judged candidate of a closed round in once more, with its hypothesis.

    It is measured against the incumbent of today, in a round of its own: the verdict of then stays.
    Anybody that may hand in may ask for it, also where only the search proposes. kind, name, by,
    and what it raises: as in `submit`.
    """
    _require_may_submit(by)
    with transaction.atomic():
        found = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if closed := not_now(found) or no_round_left(found):
            raise SubmissionRefused("campaign", closed)
        closed_ones = found.rounds.filter(state=RoundState.CLOSED, number__gt=1)
        round_ = closed_ones.select_related("chosen").filter(number=number).first()
        if round_ is None or round_.chosen is None or found.incumbent is None:
            raise SubmissionRefused("round", f"{number}; accepted: a closed one after the baseline")
        before = round_.chosen
        if before == found.incumbent:
            raise SubmissionRefused(
                "round", f"{number} has the incumbent, which each round measures"
            )
        for one in found.rounds.exclude(state=RoundState.CLOSED):
            # A search tries again by itself what a broken host has spoilt.
            if tried_in(one) == tried_in(round_):
                raise SubmissionRefused("round", f"{number}: round {one.number} tries the same now")
        title = f"Again: {round_.title.removeprefix('Again: ')}"[: LONGEST["title"]]
        if waiting_in(found).filter(hypothesis__title=title).exists():
            raise SubmissionRefused("round", f"{number} waits already to be measured again")
        made = Submission.objects.create(
            campaign=found,
            kind=kind,
            name=name,
            by=by,
            hypothesis={**(round_.hypothesis or {}), "title": title},
            against=found.incumbent,
            file_name=before.file_name,
            text=before.text,
            flags=before.flags,
        )
        words = f"{name} ({kind}) asked to measure round {number} again"
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


def _source(campaign: Campaign, handed: HandedIn, before: Candidate) -> Source:
    """The source under the name of what it changes, unless the findings policy refuses it.

    In the form in which v0 was brought, it gets what that got.
    """
    check_source(handed, before.file_name)
    try:
        text = adapted(before.file_name, handed.text, v0_source(campaign).text)
    except DraftError as error:
        raise SubmissionRefused("source", error.message) from None
    source = Source(before.file_name, text, read_flags(handed, before.source))
    found = Examined(source.name, tuple(findings_of(source)), policy_of(campaign))
    for first in found.of(Stance.REFUSED):
        raise SubmissionRefused(
            "source",
            f"line {first.line}, {first.what}: this campaign refuses {first.kind.words}. "
            f"{first.kind.meaning}",
        )
    return source


def _require_new(campaign: Campaign, source: Source, before: Candidate, change: str = "") -> None:
    """Neither the same source nor, where it has one, the same idea as what was tried or waits.

    A round that a restart has masked does not count as tried (R40).
    """

    def same_source(row: Candidate | Submission) -> bool:
        return (squeezed(row.text), tuple(row.flags)) == (squeezed(source.text), source.flags)

    def same_change(row: Round | Submission) -> bool:
        """Two hypotheses are one idea when they say that they change the same."""
        tried = " ".join(str(row.hypothesis.get("change", "")).split())
        return bool(change) and tried.casefold() == " ".join(change.split()).casefold()

    if same_source(before):
        number, whose = before.round.number, "incumbent's" if change else "same as what failed"
        raise SubmissionRefused("source", f"is the {whose}, of round {number}", number)
    # What a broken host spoilt was not tried (law 8).
    spoilt = Q(state=RoundState.CLOSED, verdict__reason=Reason.BROKEN_HOST)
    tried = campaign.rounds.exclude(spoilt).exclude(number__in=masked_rounds(campaign))
    for round_ in tried.prefetch_related("candidates"):
        number = round_.number
        if any(map(same_source, round_.candidates.all())):
            raise SubmissionRefused("source", f"round {number} had the same one", number)
        if same_change(round_):
            raise SubmissionRefused("change", f"round {number} tried the same change", number)
    for other in waiting_in(campaign):
        for field, is_same in (("source", same_source(other)), ("change", same_change(other))):
            if is_same:
                raise SubmissionRefused(field, f"waits already, handed in by {other.name}")
