"""A judged round as one attempt of the team's experience."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from campaigns.models import Campaign, Candidate, Round, Verdict
from campaigns.proposers.evidence import Facts, bottleneck_of, read_facts
from campaigns.records.cases import shapes_of
from campaigns.records.evaluations import judged_candidate, measured_on
from campaigns.records.rounds import StoredHypothesis, hypothesis_of
from campaigns.records.stop_history import masked_rounds
from campaigns.records.verdicts import borne_of, classes_of, gain_of, noise_of
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.expectation import DOWN, TIMES, is_decided, taught
from knowledge.experience.attempts.record import NewExperience
from knowledge.experience.catalogue.names import catalogue_slug
from knowledge.experience.terms import AttemptLabel
from knowledge.models import ExperienceOrigin, Strategy


def attempt_of(round_: Round) -> NewExperience | None:
    """The attempt that a round was; None for the baseline and for a round that teaches nothing.

    A verdict that needs review is kept for people, masked from machines.
    """
    idea, verdict = hypothesis_of(round_), getattr(round_, "verdict", None)
    if idea is None or verdict is None or not round_.traits.is_attempt:
        return None
    reason, gain = Reason(verdict.reason), _gain(idea, verdict)
    label = taught(reason, gain, noise_of(verdict))
    if label is None:
        return None
    campaign, facts, handed = round_.campaign, _facts(round_), round_.submission
    place = measured_on(verdict.evaluation)
    borne = borne_of(round_, verdict)
    measured = gain if label is not AttemptLabel.INCORRECT else None
    return NewExperience(
        strategy=idea.strategy,
        label=label,
        origin=ExperienceOrigin.ROUND,
        op=campaign.problem.op,
        dtype=campaign.problem.dtype,
        backend=campaign.backend,
        platform=campaign.platform.slug,
        arch=campaign.platform.target,
        bottleneck=bottleneck_of(facts),
        shapes=shapes_of(campaign.case_rows),
        scope_class=idea.scope,
        params=_params(round_, idea, label),
        title=idea.title,
        change=idea.change,
        evidence=idea.evidence,
        precondition=_precondition(campaign, idea, facts),
        problem=campaign.problem.slug,
        proposer=handed.kind if handed else campaign.proposer,
        verdict=verdict.word,
        reason=verdict.reason,
        gain=measured.gain if measured else None,
        gain_low=measured.low if measured else None,
        gain_high=measured.high if measured else None,
        pairs=measured.pairs if measured else 0,
        baseline=_baseline(round_),
        expected_gain=_expected(idea),
        borne=borne.value if borne else "",
        compiler=place.compiler,
        driver=place.driver,
        notes=verdict.sentence,
        masked=round_.number in masked_rounds(campaign) or not is_decided(reason),
        campaign=campaign.pk,
        round=round_.number,
        happened_at=round_.closed_at,
    )


def _gain(idea: StoredHypothesis, verdict: Verdict) -> Gain | None:
    """Of its config class where it is about one."""
    own = (found.gain for found in classes_of(verdict) if found.name == idea.scope)
    return next(own, gain_of(verdict)) if idea.scope else gain_of(verdict)


def _facts(round_: Round) -> Facts:
    return read_facts(round_.evidence.facts if round_.evidence else {})


def _params(round_: Round, idea: StoredHypothesis, label: AttemptLabel) -> Mapping[str, Any]:
    """Of the candidate that was judged; of a failed repair those of what it should repair."""
    candidate = judged_candidate(round_)
    while label is AttemptLabel.INCORRECT and (repair := _repair(candidate)):
        candidate = repair.failed.candidate
    found: Mapping[str, Any] = candidate.params
    return found or idea.params


def _repair(candidate: Candidate) -> Any:
    return getattr(candidate, "repair", None)


def _precondition(campaign: Campaign, idea: StoredHypothesis, facts: Facts) -> str:
    """When the catalogue advises it, and what was measured here before."""
    slug = catalogue_slug(idea.strategy, campaign.backend)
    listed = Strategy.objects.filter(slug=slug).values_list("use_when", flat=True).first()
    measured = f"Measured before: {'; '.join(facts.sentences())}." if facts.cases else ""
    return "\n".join(filter(None, (listed, measured)))


def _baseline(round_: Round) -> str:
    against = round_.against
    return f"round {against.round.number}'s kernel, the incumbent" if against else ""


def _expected(idea: StoredHypothesis) -> float | None:
    """The predicted gain in speed: 0.2 of the time saved is 0.25."""
    share = idea.expected_amount
    timed = idea.expected_metric in TIMES and idea.expected_direction == DOWN
    return 1 / (1 - share) - 1 if timed and share is not None and 0 <= share < 1 else None
