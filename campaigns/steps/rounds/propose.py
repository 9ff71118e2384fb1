"""The next draft: the machine's own dispatch split, or an idea of the built-in search.

A search over knobs gets its first generation here: what was best in stored searches of the same
kernel, and the tiles that libraries use. Where its space is small, all of it is screened.

A split is for classes that diverge: a kernel for those that gain, and the other (R19). The machine
proposes it before any proposer is asked, once for each pair of sources. It is a round like every
other: measured on all cases, and kept only if `campaigns.rules.dispatch.split` says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from campaigns.models import Campaign, Candidate, Event, Round, RoundKind, RoundState, Sweep
from campaigns.models.event import record
from campaigns.proposers.base import (
    Draft,
    Hypothesis,
    MetricDirection,
    SweepPlan,
    Variant,
    proposer,
)
from campaigns.proposers.dispatch.generate import dispatcher, given_integers
from campaigns.proposers.dispatch.parts import CannotSplit, DispatchPlan, Part
from campaigns.proposers.learned import advice_for, spent_for
from campaigns.proposers.situation import situation_of
from campaigns.records.cases import NO_SPLIT, classes_by_case, runs_of
from campaigns.records.submissions import open_proposers
from campaigns.records.target.device_limits import campaign_space, product_of
from campaigns.records.verdicts import classes_of, noise_of
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.rules.verdict.buckets import Bucket
from campaigns.rules.verdict.decision import UNJUDGED, Reason
from campaigns.rules.verdict.dispatch import STRATEGY, Call, call_for_split, expected_saving
from campaigns.rules.verdict.predicate import DispatchProblem, Inseparable, Predicate, predicate
from campaigns.spaces.matmul_model import library_grid
from campaigns.steps.rounds.first_kernel import first_kernel
from campaigns.steps.rounds.profile import LESSONS_READ
from campaigns.steps.rounds.screen import fastest
from knowledge.models.project import eyes_of_campaign
from knowledge.models.sight import seeing


def propose(campaign: Campaign) -> Draft | None:
    """Return the next hypothesis with its candidates, or None when no idea is left.

    None as well where the search is no proposer of this campaign, or has had its rounds. What it
    learns from is the team's, and its own project's.
    The same campaign at the same round gets the same answer, so that a repeat after a crash
    changes nothing. Raises ValueError where its scope is no config class of the campaign.
    """
    if not open_proposers(campaign).get(ProposerKind.SEARCH):
        return None
    with seeing(eyes_of_campaign(campaign.pk)):
        return _proposed(campaign)


def _proposed(campaign: Campaign) -> Draft | None:
    read = campaign.events.filter(kind=LESSONS_READ).first()
    situation = replace(
        situation_of(campaign),
        lessons=read.message if read else "",
        learned=advice_for(campaign),
        spent=spent_for(campaign),
    )
    if not situation.has_kernel:
        situation = replace(situation, first=first_kernel(campaign, situation.history))
    draft = proposer(campaign.proposer).propose(situation)
    if draft is not None and draft.hypothesis.scope not in ("", *situation.classes):
        accepted = ", ".join(situation.classes) or "none, without class columns"
        raise ValueError(f"scope: {draft.hypothesis.scope!r}; accepted: {accepted}")
    return replace(draft, sweep=_opened(campaign, draft)) if draft and draft.sweep else draft


# Of the library grid where a model ranks it, else at most this part of the budget.
GRID, SHARE = 24, 4
# The best of each of the last searches.
BEST, SEARCHES = 3, 4


def _opened(campaign: Campaign, draft: Draft) -> SweepPlan | None:
    """The draft's search with its first generation."""
    plan = draft.sweep
    if plan is None:
        return None
    space = campaign_space(campaign, draft.candidates[0].source)
    campaigns = Campaign.objects.filter(
        problem__op=campaign.problem.op, backend=campaign.backend, platform=campaign.platform
    )
    done = Sweep.objects.filter(
        round__campaign__in=campaigns, round__state__in=(RoundState.JUDGED, RoundState.CLOSED)
    )
    names = [name for name, _, _ in plan.knobs]
    last = done.order_by("-pk")[:SEARCHES]
    known = [
        point
        for sweep in last
        if [knob["name"] for knob in sweep.knobs] == names
        for point in fastest(sweep).values_list("params", flat=True)[:BEST]
    ]
    product = product_of(campaign)
    grid = library_grid(space, product)[: GRID if product else plan.most_points // SHARE]
    return replace(plan, seeds=(*plan.seeds[:1], *known, *grid, *plan.seeds[1:]))


@dataclass(frozen=True, slots=True)
class SplitDraft:
    """The round to open. stored: what `Round.split` keeps."""

    draft: Draft
    stored: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the last round calls for, with the two candidates and the classes of the cases."""

    call: Call
    round: Round
    incumbent: Candidate
    variant: Candidate
    classes: dict[str, str]

    @property
    def taken(self) -> list[str]:
        return [name for name, _ in self.call.taken]

    @property
    def pair(self) -> list[str]:
        return [self.incumbent.digest, self.variant.digest]


def split(campaign: Campaign) -> SplitDraft | None:
    """The split that the last verdict calls for; None where it calls for none, or none is possible.

    When the classes cannot be separated, or the sources cannot be joined, an event says why.
    The same campaign at the same round gets the same answer.
    """
    plan = _plan(campaign)
    if plan is None:
        return None
    v0 = Candidate.objects.get(round__campaign=campaign, round__number=1, ordinal=1).source
    both = (plan.incumbent, plan.variant)
    try:
        when = predicate(
            DispatchProblem(
                params={case.name: case.params for case in campaign.case_rows},
                classes=plan.classes,
                taken=frozenset(plan.taken),
                columns=tuple(campaign.problem.config_class),
                given=given_integers(campaign.backend, v0),
            )
        )
        own, other = (Part(f"round_{one.round.number}", one.source) for one in both)
        source = dispatcher(campaign.backend, DispatchPlan(own, other, v0, when))
    except (Inseparable, CannotSplit) as error:
        # Once per round, so that a repeat after a crash says nothing new.
        if not Event.objects.filter(round=plan.round, kind=NO_SPLIT).exists():
            message = f"round {plan.round.number}: its classes diverge, but there is no split: "
            record(campaign, NO_SPLIT, f"{message}{error}", round=plan.round)
        return None
    classes = list(dict.fromkeys(plan.classes.values()))
    runs, others = (runs_of(one.round, classes) for one in both)
    stored = {
        "when": when.words,
        "taken": plan.taken,
        "runs": {name: (others if name in plan.taken else runs)[name] for name in classes},
        "pair": plan.pair,
        "called_by": plan.round.number,
    }
    variant = Variant(f"split by {when.words}", source)
    return SplitDraft(Draft(_hypothesis(plan, when), (variant,)), stored)


def _plan(campaign: Campaign) -> _Plan | None:
    judged = campaign.rounds.filter(verdict__isnull=False)
    sound = judged.exclude(verdict__reason__in=UNJUDGED).select_related(
        "verdict", "chosen__round", "against__round"
    )
    last = sound.order_by("-number").first()
    if last is None or last.split or not (last.chosen and last.against):
        return None
    verdict = last.verdict
    gains = {found.name: found.gain for found in classes_of(verdict)}
    call = call_for_split(Reason(verdict.reason), gains, noise_of(verdict))
    if call is None:
        return None
    incumbent, variant = last.against, last.chosen
    if call.reversed:
        incumbent, variant = variant, incumbent
    plan = _Plan(call, last, incumbent, variant, classes_by_case(campaign.case_rows))
    tried = [(r.split or {}).get("pair") for r in sound.filter(kind=RoundKind.SPLIT)]
    known = plan.pair in tried or incumbent.pk != campaign.incumbent_id
    return None if known else plan


def _hypothesis(plan: _Plan, when: Predicate) -> Hypothesis:
    variant, incumbent, number = (
        one.number for one in (plan.variant.round, plan.incumbent.round, plan.round)
    )
    apart, own = plan.call.divergence, plan.incumbent.flags
    more = [flag for flag in plan.variant.flags if flag not in own]
    flags = f" All of it is built with {' '.join([*own, *more])}." if more else ""
    return Hypothesis(
        strategy=STRATEGY,
        title=f"Split by {when.words}: round {variant}'s kernel there, else round {incumbent}'s",
        change=f"One source calls the kernel of round {variant} where {when.words}, and the "
        f"incumbent, round {incumbent}, everywhere else.",
        rationale=f"Round {number}: {apart.words}",
        evidence=tuple(
            f"round {number}, {name}: {gain.brief}"
            for name, gain in (*apart.winners, *apart.losers)
        ),
        expected_metric="time_us",
        expected_direction=MetricDirection.DOWN,
        expected_amount=expected_saving(plan.call, Counter(plan.classes.values())),
        risks="Both kernels are in one source, and each call pays for the choice." + flags,
        params={"when": when.words, "variant_round": variant, "incumbent_round": incumbent},
        bucket=Bucket.K1,
    )
