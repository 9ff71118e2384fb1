"""A campaign's closed rounds with all that each of them was judged by: what every format says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from campaigns.evaluator.contract import Report
from campaigns.models import (
    Campaign,
    Candidate,
    Commit,
    Evaluation,
    Event,
    Repair,
    RoundState,
    Verdict,
)
from campaigns.records.evaluations import report_of
from campaigns.records.rounds import StoredHypothesis, hypothesis_of
from campaigns.reports.rows import RoundRow
from campaigns.reports.sheet import CampaignSheet, campaign_sheet
from campaigns.rules.noise.gain import Gain, geomean
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.wording import share


@dataclass(frozen=True, slots=True)
class WorkRates:
    """What a round reached per second: the geometric mean over its cases, 0 where one has no work.

    flops in op/s, bytes in B/s, as the problem's own work model counts them.
    """

    flops: float
    bytes: float


@dataclass(frozen=True, slots=True)
class ExportedRound:
    """One closed round. stored: the report as it is kept.

    rates: None where it was not timed, and where its time can be none of the work (invalid).
    """

    row: RoundRow
    hypothesis: StoredHypothesis | None
    candidate: Candidate | None
    verdict: Verdict | None
    evaluation: Evaluation | None
    report: Report | None
    stored: dict[str, Any]
    rates: WorkRates | None
    commit: Commit | None
    repairs: tuple[Repair, ...] = ()

    @property
    def number(self) -> int:
        return self.row.number

    @property
    def version(self) -> str:
        """The name under which systems that count from the baseline know it."""
        return f"v{self.number - 1}"

    @property
    def title(self) -> str:
        return self.row.round.title

    @property
    def is_baseline(self) -> bool:
        return self.number == 1

    @property
    def is_kept(self) -> bool:
        return self.row.word is Word.ACCEPTED

    @property
    def time_us(self) -> float | None:
        """The unpaired median of its own session: a trail is raw data."""
        return self.row.median_us

    @property
    def file_name(self) -> str:
        """What its source is called in every folder; candidates are often called after v0."""
        return f"kernel.{self.candidate.file_name.rpartition('.')[2]}" if self.candidate else ""

    @property
    def folder(self) -> str:
        """Where the archive keeps what belongs to this round."""
        return f"rounds/round-{self.number}"

    @property
    def snapshot(self) -> str:
        """Where its source is, beside nothing else."""
        return f"{self.folder}/kernel_snapshot/{self.file_name}"

    @property
    def expected(self) -> str:
        """How far which metric should move; empty where nobody said so."""
        idea = self.hypothesis
        if idea is None or not idea.expected_metric:
            return ""
        amount = "" if idea.expected_amount is None else f" by {share(idea.expected_amount)}"
        return f"{idea.expected_metric} {idea.expected_direction}{amount}"

    @property
    def what(self) -> str:
        """What it changes, in a sentence or two."""
        idea = self.hypothesis
        if idea is None:
            return self.title
        same = idea.change.startswith(idea.title)
        return idea.change if same else f"{idea.title}. {idea.change}".strip()

    @property
    def gain(self) -> Gain | None:
        """Over the incumbent of its time."""
        return self.row.gain


@dataclass(frozen=True, slots=True)
class ExportedCampaign:
    """All that is told of a campaign. at: when the newest record of it was made."""

    campaign: Campaign
    sheet: CampaignSheet
    rounds: tuple[ExportedRound, ...]
    events: tuple[Event, ...]
    at: datetime

    @property
    def baseline(self) -> ExportedRound | None:
        return next((one for one in self.rounds if one.is_baseline), None)

    @property
    def kept(self) -> tuple[ExportedRound, ...]:
        """The baseline and what was accepted after it."""
        return tuple(one for one in self.rounds if one.is_kept)

    @property
    def best(self) -> ExportedRound | None:
        return self.kept[-1] if self.kept else None

    @property
    def environment(self) -> dict[str, str]:
        """Of the evaluation that the best round rests on."""
        return dict(self.best.stored.get("environment", {})) if self.best else {}

    def kept_before(self, one: ExportedRound) -> ExportedRound | None:
        """The last accepted round before it."""
        return next((each for each in self.kept[::-1] if each.number < one.number), None)


def trail_of(campaign: Campaign) -> ExportedCampaign:
    """Read a campaign whole. The same records make the same trail, whenever it is asked for."""
    events = tuple(Event.objects.filter(campaign=campaign).order_by("pk"))
    at = max((event.at for event in events), default=campaign.created_at)
    sheet = campaign_sheet(campaign, at)
    closed = [row for row in sheet.rows if row.round.state == RoundState.CLOSED]
    judged = _evaluations(row.round.pk for row in closed)
    mended = _repairs(campaign)
    rounds = tuple(
        _round(row, sheet, judged.get(row.round.pk), mended.get(row.round.pk, ())) for row in closed
    )
    return ExportedCampaign(campaign, sheet, rounds, events, at)


def _evaluations(rounds: Iterable[int]) -> dict[int, Evaluation]:
    """Round key → the evaluation that its verdict rests on; one query."""
    verdicts = Verdict.objects.filter(round__in=list(rounds))
    found = verdicts.select_related("evaluation__candidate", "evaluation__worker")
    return {verdict.round_id: verdict.evaluation for verdict in found}


def _repairs(campaign: Campaign) -> dict[int, tuple[Repair, ...]]:
    """Round key → its repairs in order; one query."""
    rows = Repair.objects.filter(round__campaign=campaign).order_by("round", "number")
    found = list(rows.select_related("candidate", "failed__candidate"))
    return {key: tuple(own) for key, own in groupby(found, key=lambda repair: repair.round_id)}


def _round(
    row: RoundRow, sheet: CampaignSheet, evaluation: Evaluation | None, repairs: tuple[Repair, ...]
) -> ExportedRound:
    return ExportedRound(
        row=row,
        hypothesis=hypothesis_of(row.round),
        candidate=row.round.chosen or (evaluation.candidate if evaluation else None),
        verdict=getattr(row.round, "verdict", None),
        evaluation=evaluation,
        report=report_of(evaluation) if evaluation else None,
        stored=dict(evaluation.report) if evaluation else {},
        commit=getattr(row.round, "commit", None),
        rates=_rates(row, sheet),
        repairs=repairs,
    )


def _rates(row: RoundRow, sheet: CampaignSheet) -> WorkRates | None:
    cases = sheet.target.cases
    if row.word is Word.INVALID:
        return None
    timed = [
        (cases[r.case], r.time.median / 1e6) for r in row.results if r.time and r.case in cases
    ]
    if not timed or len(timed) < len(row.results):
        return None
    flops = [case.flops / seconds for case, seconds in timed]
    moved = [case.bytes / seconds for case, seconds in timed]
    return WorkRates(
        flops=geomean(flops) if min(flops) > 0 else 0.0,
        bytes=geomean(moved) if min(moved) > 0 else 0.0,
    )
