"""A campaign in numbers: what the lists, pages, report and charts show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max

from campaigns.evaluator.contract.ceilings import BUSY_LIMIT
from campaigns.evaluator.contract.files import protocol_from
from campaigns.models import (
    Campaign,
    CampaignState,
    DeviceWait,
    Evaluation,
    EvaluationState,
    Round,
    RoundState,
)
from campaigns.models.transitions import WORKING
from campaigns.records.campaigns import goal_of, stop_policy_of, target_of
from campaigns.records.device_waits import SHOWN_AFTER, Queue, queue_for, shown_wait
from campaigns.records.findings import kinds_by_stance
from campaigns.records.stop_history import masked_rounds
from campaigns.records.submissions import AwaitedRepair, awaited_repair
from campaigns.records.time_spent import time_spent
from campaigns.records.verdicts import final_of
from campaigns.reports.progress import LEAST_ROUNDS, Eta, estimate
from campaigns.reports.rows import Headline, RoundRow, rounds_of, rows_of
from campaigns.rules.target.goal import Goal, GoalKind
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.verdict.finding_kinds import FindingKind
from knowledge.specs.cited import Cited, EvidenceClass

BASELINE = "v0 (round 1)"
# Verdicts on kernels that were correct on every call; an invalid one proves nothing.
PROVEN = (Word.ACCEPTED, Word.NO_CHANGE, Word.NEEDS_REVIEW)


@dataclass(frozen=True, slots=True)
class LowCeiling:
    """A measured ceiling below what a kernel with proven results reached: measure it again."""

    ceiling: Cited
    number: int
    case: str
    share: float


@dataclass(frozen=True, slots=True)
class WorkerHeartbeat:
    """The last heartbeat of the worker that measures. at, silent_s: None where there was none."""

    silent_s: float | None
    measuring: bool
    at: datetime | None = None

    @property
    def lost_after_s(self) -> float:
        return 3 * float(settings.KOPT_HEARTBEAT_S)

    @property
    def is_lost(self) -> bool:
        return self.silent_s is None or self.silent_s > self.lost_after_s

    @property
    def doing(self) -> str:
        return "measuring" if self.measuring else "worker alive"


@dataclass(frozen=True, slots=True)
class CampaignSheet(Headline):
    """Everything that the pages of a campaign show besides its events."""

    campaign: Campaign
    rows: tuple[RoundRow, ...]
    baseline: RoundRow | None
    phase: str
    heartbeat: WorkerHeartbeat | None
    eta: Eta | None
    wait: DeviceWait | None = None
    wait_is_late: bool = False
    queue: Queue | None = None
    awaited: AwaitedRepair | None = None

    @property
    def budget(self) -> int | None:
        return stop_policy_of(self.campaign).max_rounds if self.campaign.stop_policy else None

    @property
    def judged(self) -> int:
        """How many rounds count against the budget: those with a verdict."""
        return sum(row.verdict is not None for row in self.rows)

    @property
    def open_round(self) -> int | None:
        """The number of the round that is not closed yet."""
        return next((row.number for row in self.newest_first if not row.is_closed), None)

    @property
    def goal(self) -> Goal:
        """What was asked for."""
        return goal_of(self.campaign)

    @property
    def noise(self) -> RoundRow | None:
        """The newest round that was timed, whose noise floor is the one in use; None before it."""
        return next((row for row in self.newest_first if row.gain), None)

    @property
    def is_busy(self) -> bool:
        """Whether the ceilings may be too low because the host was busy with something else."""
        busy = self.target.busy
        return busy is not None and busy.value > BUSY_LIMIT

    @property
    def findings_policy(self) -> dict[str, list[FindingKind]]:
        """Stance → the kinds of findings that it is for."""
        return kinds_by_stance(self.campaign)

    @property
    def requires_sanitizers(self) -> bool:
        """Whether a sanitizer that cannot run blocks a gain."""
        return protocol_from(self.campaign.protocol.rules).require_sanitizers

    @property
    def goal_words(self) -> str:
        """The target in one line; for a share of the ceilings on one case with its arithmetic."""
        goal, cases = self.goal, self.campaign.cases
        only = self.target.cases.get(cases[0]) if len(cases) == 1 else None
        if goal.kind is GoalKind.CEILING and only and only.words:
            return only.words
        return goal.words(self.baseline.time_us if self.baseline else None, len(cases))

    @property
    def low_ceilings(self) -> tuple[LowCeiling, ...]:
        """Measured ceilings that a proven kernel exceeded, each with the largest excess."""
        found: dict[str, LowCeiling] = {}
        timed = ((row, r) for row in self.rows if row.word in PROVEN for r in row.results)
        for row, result in timed:
            known = self.target.cases.get(result.case)
            if known is None or known.limit is None or not known.floor_us or not result.time:
                continue
            share, other = known.floor_us / result.time.median, found.get(known.limit.citation)
            is_measured = known.limit.evidence == EvidenceClass.MEASURED
            if share > 1 and is_measured and (other is None or share > other.share):
                low = LowCeiling(known.limit, row.number, result.case, share)
                found[known.limit.citation] = low
        return tuple(found.values())

    @property
    def eta_basis(self) -> str:
        """What the time left rests on, or why there is none yet."""
        return eta_basis(self.campaign, self.eta, durations_of(self.rows))

    @property
    def tallies(self) -> list[tuple[str, str, int]]:
        """Rounds per verdict: stored word, displayed word, count."""
        return [(word, word.words, sum(row.word is word for row in self.rows)) for word in Word]

    @property
    def newest_first(self) -> tuple[RoundRow, ...]:
        return self.rows[::-1]


def campaign_sheet(campaign: Campaign, now: datetime) -> CampaignSheet:
    """Read a campaign with its rounds and verdicts. A few queries, however many rounds."""
    target = target_of(campaign)
    hidden = masked_rounds(campaign)
    rows = tuple(
        replace(row, masked=True) if row.number in hidden else row
        for row in rows_of(rounds_of(campaign), target)
    )
    accepted = [row for row in rows if row.is_kept]
    heartbeat = heartbeat_of(campaign, now)
    measuring = heartbeat is None or heartbeat.measuring
    wait = None if measuring else shown_wait(campaign)
    at_work = campaign.state in WORKING
    queue = queue_for(campaign, now) if at_work and not (measuring or wait) else None
    awaited = None if wait and at_work else awaited_repair(campaign)
    return CampaignSheet(
        campaign=campaign,
        target=target,
        rows=rows,
        baseline=accepted[0] if accepted and accepted[0].is_baseline else None,
        best=accepted[-1] if accepted else None,
        final=final_of(campaign),
        phase=phase_of(
            campaign,
            heartbeat,
            wait,
            awaited.round.number if awaited else None,
            rows[-1].round if rows else None,
        ),
        heartbeat=heartbeat,
        eta=eta_of(campaign, durations_of(rows), now),
        wait=wait,
        wait_is_late=wait is not None and now - wait.look_at > SHOWN_AFTER,
        queue=queue,
        awaited=awaited,
    )


def phase_of(
    campaign: Campaign,
    heartbeat: WorkerHeartbeat | None,
    wait: DeviceWait | None,
    awaited: int | None,
    last: Round | None,
) -> str:
    """What it does now, in words. awaited: the round that waits for a repair. last: the newest."""
    if heartbeat and heartbeat.measuring and heartbeat.is_lost:
        return "waiting for a worker, as the one that measured is silent"
    if wait and campaign.state in WORKING:
        return f"waiting for a {'quiet host' if wait.is_for_host else 'device'}"
    if awaited is not None:
        return f"waiting for a repair of round {awaited}"
    if last and last.state == RoundState.CLAIMED:
        return f"measuring round {last.number} again"
    if last and campaign.state in (CampaignState.VALIDATE, CampaignState.DECIDE):
        return f"{campaign.doing} round {last.number}"
    return campaign.doing


def heartbeat_of(campaign: Campaign, now: datetime) -> WorkerHeartbeat | None:
    """Heartbeat of the campaign's worker, else of one of its platform; two queries."""
    if campaign.is_finished:
        return None
    running = Evaluation.objects.filter(
        candidate__round__campaign=campaign, state=EvaluationState.RUNNING
    )
    at = running.aggregate(at=Max("heartbeat_at"))["at"]
    idle = campaign.platform.workers.aggregate(at=Max("heartbeat_at"))["at"] if not at else None
    return heartbeat_at(at, idle, now)


def heartbeat_at(
    measuring: datetime | None, idle: datetime | None, now: datetime
) -> WorkerHeartbeat:
    """Time of the heartbeat of the worker that measures, else of the platform's newest one."""
    at = measuring or idle
    silent_s = max(0.0, (now - at) / timedelta(seconds=1)) if at else None
    return WorkerHeartbeat(silent_s, measuring is not None, at)


def durations_of(rows: Sequence[RoundRow]) -> list[float]:
    """Seconds of each round that is closed."""
    return [row.duration_s for row in rows if row.duration_s is not None]


def eta_of(campaign: Campaign, durations: Sequence[float], now: datetime) -> Eta | None:
    """The time left, from how long its rounds took; two queries where its hours are limited."""
    ended = campaign.is_finished or campaign.state == CampaignState.AWAITING
    if ended or not campaign.stop_policy:
        return None
    policy = stop_policy_of(campaign)
    hours = policy.max_wall_h
    left_s = (hours - time_spent(campaign, now).wall_h) * 3600 if hours else math.inf
    return estimate(durations, max(0, policy.max_rounds - len(durations)), max(0.0, left_s))


def eta_basis(campaign: Campaign, eta: Eta | None, durations: Sequence[float]) -> str:
    """What the time left rests on, or why there is none yet."""
    if campaign.state == CampaignState.AWAITING:
        return "it depends on when a candidate is handed in"
    if eta is None:
        return f"{len(durations)} of the {LEAST_ROUNDS} measured rounds that an estimate needs"
    policy = stop_policy_of(campaign)
    ends = f"stops at {policy.max_rounds} rounds"
    if eta.is_capped:
        ends += f" or {policy.max_wall_h:g} h, which come first"
    return f"from the last {eta.rounds} rounds; {ends}"
