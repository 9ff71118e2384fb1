"""Search a campaign's accepted rounds for the first slower one, measured anew on this host (R58).

It is a question and no round: nothing is recorded, and no verdict follows from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from campaigns.devices.discover import Device
from campaigns.devices.hold import hold
from campaigns.devices.passport import Measurer
from campaigns.devices.processes import tempdir
from campaigns.evaluator.contract import Case, Job, Outcome
from campaigns.evaluator.contract.files import protocol_from
from campaigns.lineage.records import accepted_rounds
from campaigns.models import Campaign, Candidate
from campaigns.records.judged_rounds import standard_of
from campaigns.rules.noise.bisect import BisectAnswer, BisectProbe, BisectResult, answer_of
from campaigns.rules.noise.bisect import bisect as first_slower
from campaigns.rules.verdict.one_session import compare
from campaigns.steps.problems import materialise
from campaigns.syntax.language import judging


class BisectRefused(ValueError):
    """A question without an answer; one line names the field and what is accepted."""


@dataclass(frozen=True, slots=True)
class BisectQuestion:
    """From which accepted round on is the kernel slower than the good one, by more than `limit`?

    bad: None is the last accepted round. cases: names; empty means all of the campaign's.
    """

    campaign: Campaign
    good: int = 1
    bad: int | None = None
    limit: float = 0.03
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BisectDevice:
    """Where it is measured. patience_s: how long to wait for a device that is held."""

    service: Measurer
    device: Device
    patience_s: float = 0.0


def bisect(
    question: BisectQuestion, place: BisectDevice, tell: Callable[[BisectProbe], None]
) -> BisectResult:
    """Measure and search; `tell` gets each round. Raises BisectRefused, DeviceBusy, OSError."""
    sources = _sources(question)
    good = sources[question.good]

    def measure(number: int) -> BisectProbe:
        probe = _probe(number, sources[number], good, question, place)
        tell(probe)
        return probe

    with hold(place.device, wait_s=place.patience_s):
        return first_slower(list(sources), measure)


def _sources(question: BisectQuestion) -> dict[int, Candidate]:
    """Round → its candidate, for the accepted rounds from the good to the bad one."""
    rows = accepted_rounds(question.campaign).select_related("chosen")
    found = {row.number: row.chosen for row in rows if row.chosen}
    listed = ", ".join(map(str, found)) or "none"
    bad = max(found, default=0) if question.bad is None else question.bad
    for name, number in (("good", question.good), ("bad", bad)):
        if number not in found:
            raise BisectRefused(f"{name}: {number}; accepted: an accepted round ({listed})")
    if question.good >= bad:
        raise BisectRefused(f"bad: {bad}; accepted: a round after the good one, {question.good}")
    for case in question.cases:
        if case not in question.campaign.cases:
            known = ", ".join(question.campaign.cases)
            raise BisectRefused(f"case: {case!r}; accepted: {known}")
    return {n: source for n, source in found.items() if question.good <= n <= bad}


def _probe(
    number: int,
    candidate: Candidate,
    good: Candidate,
    question: BisectQuestion,
    place: BisectDevice,
) -> BisectProbe:
    campaign = question.campaign
    rows = campaign.problem.cases.filter(name__in=question.cases or campaign.cases)
    with tempdir("bisect") as folder:
        job = Job(
            job_id=f"bisect-{campaign.pk}-{number}",
            problem=materialise(campaign.problem, folder),
            backend=judging(candidate.source, campaign.backend),
            device=place.device.device,
            target=place.device.target,
            cases=tuple(Case(name=row.name, params=row.params) for row in rows),
            candidate=candidate.source,
            incumbent=good.source,
            incumbent_backend=judging(good.source, campaign.backend),
            scratch=folder / "scratch",
            protocol=protocol_from(campaign.protocol.rules),
            own_kernels=tuple(campaign.own_kernels or ()),
        )
        report = place.service.evaluate(job)
    if report.outcome is not Outcome.PASSED:
        return BisectProbe(number, BisectAnswer.UNCLEAR, why=f"{report.outcome}: {report.reason}")
    try:
        compared = compare(report, standard_of(campaign, has_incumbent=True))
    except ValueError as error:
        return BisectProbe(number, BisectAnswer.UNCLEAR, why=str(error))
    gains = [found.gain for found in (compared, compared.clock) if found]
    return BisectProbe(number, answer_of(gains, question.limit), compared.gain)
