"""What comes next for a campaign: one step a call, chosen by its state alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from campaigns.models import (
    AbortReason,
    Campaign,
    CampaignState,
    EvaluationState,
    Round,
    RoundKind,
    RoundState,
)
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, WORKING, move
from campaigns.proposers.drafts import draft_of
from campaigns.records.device_waits import awaited_by, is_held, is_served
from campaigns.records.submissions import waiting_in
from campaigns.rules.stop.policy import BY_A_PERSON
from campaigns.steps.lifecycle.abort import abort
from campaigns.steps.lifecycle.await_submission import await_submission, wait_or_end
from campaigns.steps.lifecycle.call_off import call_off
from campaigns.steps.lifecycle.end_search import end_search
from campaigns.steps.lifecycle.finish import finish
from campaigns.steps.lifecycle.restart import restart
from campaigns.steps.lifecycle.set_target import set_target
from campaigns.steps.recovery.limit_phase import limit_phase
from campaigns.steps.rounds.close_round import close_round
from campaigns.steps.rounds.implement import implement
from campaigns.steps.rounds.judge import judge
from campaigns.steps.rounds.open_baseline import open_baseline
from campaigns.steps.rounds.open_round import open_round
from campaigns.steps.rounds.profile import profile
from campaigns.steps.rounds.propose import propose
from campaigns.steps.rounds.repair import repair
from campaigns.steps.rounds.review import review
from campaigns.steps.rounds.screen import screen
from campaigns.steps.rounds.split import split
from campaigns.workers.notify import AGAIN, NOTHING, Next


def advance(campaign: Campaign) -> Next:
    """Take one step and say what is needed next. Safe to call at any time, any number of times."""
    limit_phase(campaign)
    stopped = campaign.stop_requested and campaign.state in WORKING
    if stopped and not is_served(campaign):
        call_off(campaign)
    if campaign.pause_requested and campaign.state in PAUSABLE:
        return _hold(campaign)
    step = _STEPS.get(CampaignState(campaign.state))
    return step(campaign) if step else NOTHING


def _hold(campaign: Campaign) -> Next:
    """Pause between two evaluations; a running one is finished first and notifies again."""
    if is_held(campaign):
        return NOTHING
    before = campaign.state
    with transaction.atomic():
        if move(campaign, CampaignState.PAUSED, paused_from=before, pause_requested=False):
            record(campaign, "paused", f"paused in {before}")
    return NOTHING


def _prepare(campaign: Campaign) -> Next:
    if campaign.stop_requested:
        return abort(campaign, AbortReason.USER, "Stopped by a person before the baseline.")
    if campaign.state == CampaignState.CONFIRMED:
        return AGAIN if move(campaign, CampaignState.PREPARE) else NOTHING
    return open_baseline(campaign) if campaign.target else set_target(campaign)


def _analyze(campaign: Campaign) -> Next:
    """The machine's own split first, then what was handed in, then what the search thinks of."""
    if campaign.stop_requested:
        return end_search(campaign, BY_A_PERSON)
    after = campaign.rounds.count()
    found = split(campaign)
    if found is not None:
        return open_round(campaign, found.draft, after, found.stored)
    handed = waiting_in(campaign).first()
    if handed is not None:
        return open_round(campaign, draft_of(handed), after, submission=handed)
    draft = propose(campaign)
    return wait_or_end(campaign) if draft is None else open_round(campaign, draft, after)


def _implement(campaign: Campaign) -> Next:
    round_ = _open_round(campaign)
    return implement(round_) if round_ else NOTHING


def _measure(campaign: Campaign) -> Next:
    """Wait for the open round's evaluations, then screen a sweep, then decide."""
    waiting = awaited_by(campaign).exclude(state=EvaluationState.DONE)
    states = dict(waiting.values_list("pk", "state"))
    if states:
        queued = (key for key, state in states.items() if state == EvaluationState.QUEUED)
        return Next(measure=tuple(sorted(queued)))
    round_ = _open_round(campaign)
    if round_ is None:
        return NOTHING
    if round_.kind == RoundKind.SWEEP and round_.state == RoundState.OPEN:
        return screen(round_)
    # Another worker may have taken a step since the queries above, so their answers are read again.
    awaited = awaited_by(OuterRef("pk"))
    unfinished = awaited.exclude(state=EvaluationState.DONE)
    return AGAIN if move(campaign, CampaignState.DECIDE, ~Q(Exists(unfinished))) else NOTHING


def _decide(campaign: Campaign) -> Next:
    round_ = _open_round(campaign)
    if round_ is None:
        return NOTHING
    return close_round(round_) if round_.state == RoundState.JUDGED else judge(round_)


def _repair(campaign: Campaign) -> Next:
    round_ = _open_round(campaign)
    return repair(round_) if round_ else NOTHING


def _open_round(campaign: Campaign) -> Round | None:
    """The one open round; None when another worker has closed it meanwhile.

    Its campaign is the one that the step was chosen for: read again, it may be in the state that
    another worker has brought it to, which the step does not go on from.
    """
    return campaign.rounds.exclude(state=RoundState.CLOSED).first()


_STEPS: Mapping[CampaignState, Callable[[Campaign], Next]] = {
    CampaignState.CONFIRMED: _prepare,
    CampaignState.PREPARE: _prepare,
    CampaignState.BASELINE: _measure,
    CampaignState.PROFILE: profile,
    CampaignState.ANALYZE: _analyze,
    CampaignState.AWAITING: await_submission,
    CampaignState.IMPLEMENT: _implement,
    CampaignState.VALIDATE: _measure,
    CampaignState.REPAIR: _repair,
    CampaignState.DECIDE: _decide,
    CampaignState.STAGNATION: review,
    CampaignState.RESTART: restart,
    CampaignState.REPORT: finish,
}
