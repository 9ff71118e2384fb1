"""What comes next for a campaign: one step a call, chosen by its state alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from campaigns.models import (
    AbortReason,
    Campaign,
    CampaignState,
    EvaluationState,
    RestartAnswer,
    Round,
    RoundState,
)
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, WORKING, move
from campaigns.proposers.situation import draft_of
from campaigns.records.campaigns import stop_policy_of
from campaigns.records.device_waits import awaited_by, is_held, is_served
from campaigns.records.stop_history import history_of
from campaigns.records.submissions import budgets_of, open_proposers, rounds_used, waiting_in
from campaigns.records.time_spent import clock_of
from campaigns.rules.stop.phases import Overrun, overrun
from campaigns.rules.stop.policy import (
    BY_A_PERSON,
    NO_IDEAS,
    RestartPolicy,
    Stop,
    StopReason,
    should_stop,
)
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.steps.lifecycle.finish import abort, call_off, end_search, finish
from campaigns.steps.lifecycle.restart import answer_restart
from campaigns.steps.lifecycle.set_target import set_target
from campaigns.steps.measuring.waits import limit_phase
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.rounds.close_round import close_round
from campaigns.steps.rounds.judge import judge
from campaigns.steps.rounds.ladder import review
from campaigns.steps.rounds.open_round import implement, open_baseline, open_round
from campaigns.steps.rounds.profile import profile
from campaigns.steps.rounds.propose import propose, split
from campaigns.steps.rounds.repair import repair
from campaigns.steps.rounds.screen import screen


def restart(campaign: Campaign) -> Next:
    """Answer by the policy; one that asks waits for a person while the phase may last (R16)."""
    policy = stop_policy_of(campaign).restart
    if campaign.stop_requested:
        return answer_restart(campaign, RestartAnswer.DECLINED, "the campaign is being stopped")
    if policy is not RestartPolicy.ASK:
        taken = policy is RestartPolicy.TAKE
        answer = RestartAnswer.TAKEN if taken else RestartAnswer.DECLINED
        return answer_restart(campaign, answer, "by the campaign's policy")
    clock = clock_of(campaign, timezone.now())
    if clock is None or overrun(clock) is not Overrun.DECLINE:
        return NOTHING
    return answer_restart(campaign, RestartAnswer.DECLINED, "no answer within an hour")


def wait_or_end(campaign: Campaign) -> Next:
    """After the search was asked: wait for what is handed in, or end with the reason (law 10).

    A search that has tried what it knew ends the campaign. One that is not among the proposers, has
    used its rounds, or never had an idea here leaves it to the others, as long as one of them has
    rounds left.
    """
    left = open_proposers(campaign)
    others = [kind for kind, more in left.items() if more and kind is not ProposerKind.SEARCH]
    with transaction.atomic():
        # Held until the end, so that what is handed in just now is not left behind.
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        if waiting_in(campaign).exists():
            return AGAIN
        at_its_end = left.get(ProposerKind.SEARCH) and rounds_used(campaign)[ProposerKind.SEARCH]
        if at_its_end or not others:
            stop = NO_IDEAS
            if not any(left.values()):
                used = (f"{kind.words} {most}" for kind, most in budgets_of(campaign).items())
                sentence = f"Every proposer has used its rounds: {', '.join(used)}."
                stop = Stop(StopReason.MAX_ROUNDS, sentence, False)
            return end_search(campaign, stop)
        if not move(campaign, CampaignState.AWAITING):
            return NOTHING
        whose = " or ".join(kind.several for kind in others)
        why = "the search has no idea for this kernel; " if left.get(ProposerKind.SEARCH) else ""
        record(campaign, "awaiting", f"{why}waiting for {whose} to hand in a candidate")
    return NOTHING


def await_submission(campaign: Campaign) -> Next:
    """Go on once something is handed in or a person stops it; end at a limit of hours."""
    if campaign.stop_requested or waiting_in(campaign).exists():
        return AGAIN if move(campaign, CampaignState.ANALYZE) else NOTHING
    stop = should_stop(stop_policy_of(campaign), history_of(campaign))
    return end_search(campaign, stop) if stop else NOTHING


def advance(campaign: Campaign) -> Next:
    """Take one step and say what is needed next. Safe to call at any time, any number of times."""
    limit_phase(campaign)
    stopped = campaign.stop_requested and campaign.state in WORKING
    if stopped and not is_served(campaign):
        call_off(campaign)
    if not (campaign.pause_requested and campaign.state in PAUSABLE):
        step = _STEPS.get(CampaignState(campaign.state))
        return step(campaign) if step else NOTHING
    # The pause is between two evaluations; a running one is finished first and notifies again.
    if not is_held(campaign):
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
    if found := split(campaign):
        return open_round(campaign, found.draft, after, found.stored)
    if handed := waiting_in(campaign).first():
        return open_round(campaign, draft_of(handed), after, submission=handed)
    draft = propose(campaign)
    return wait_or_end(campaign) if draft is None else open_round(campaign, draft, after)


def _measure(campaign: Campaign) -> Next:
    """Wait for the open round's evaluations, then screen a sweep, then decide."""
    waiting = awaited_by(campaign).exclude(state=EvaluationState.DONE)
    if states := waiting.values_list("pk", "state"):
        queued = (key for key, state in states if state == EvaluationState.QUEUED)
        return Next(measure=tuple(sorted(queued)))
    return _of_open_round(_screen_or_decide)(campaign)


def _screen_or_decide(round_: Round) -> Next:
    if round_.traits.is_screened and round_.state == RoundState.OPEN:
        return screen(round_)
    # Another worker may have taken a step since the queries above, so their answers are read again.
    unfinished = awaited_by(OuterRef("pk")).exclude(state=EvaluationState.DONE)
    decides = move(round_.campaign, CampaignState.DECIDE, ~Q(Exists(unfinished)))
    return AGAIN if decides else NOTHING


def _decide(round_: Round) -> Next:
    return close_round(round_) if round_.state == RoundState.JUDGED else judge(round_)


def _of_open_round(step: Callable[[Round], Next]) -> Callable[[Campaign], Next]:
    """A step on the one open round; nothing when another worker has closed it meanwhile.

    Its campaign is the one that the step was chosen for: read again, it may be in the state that
    another worker has brought it to, which the step does not go on from.
    """

    def take(campaign: Campaign) -> Next:
        round_ = campaign.rounds.exclude(state=RoundState.CLOSED).first()
        return step(round_) if round_ else NOTHING

    return take


_STEPS: Mapping[CampaignState, Callable[[Campaign], Next]] = {
    CampaignState.CONFIRMED: _prepare,
    CampaignState.PREPARE: _prepare,
    CampaignState.BASELINE: _measure,
    CampaignState.PROFILE: profile,
    CampaignState.ANALYZE: _analyze,
    CampaignState.AWAITING: await_submission,
    CampaignState.IMPLEMENT: _of_open_round(implement),
    CampaignState.VALIDATE: _measure,
    CampaignState.REPAIR: _of_open_round(repair),
    CampaignState.DECIDE: _of_open_round(_decide),
    CampaignState.STAGNATION: review,
    CampaignState.RESTART: restart,
    CampaignState.REPORT: finish,
}
