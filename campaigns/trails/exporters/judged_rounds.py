"""A campaign's closed rounds with all that each of them was judged by: what every format says."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from campaigns.evaluator.contract import Report
from campaigns.models import Campaign, Candidate, Commit, Evaluation, Event, Repair, Round, Verdict
from campaigns.profiles.isa import IsaTarget
from campaigns.profiles.reading import Profiled
from campaigns.records.evaluations import report_of
from campaigns.records.explained.profiles import Explained, explained, targets_in
from campaigns.reports.rows import RoundRow
from campaigns.reports.sheet import CampaignSheet, campaign_sheet
from campaigns.rules.wording import share


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRound(RoundRow):
    """One closed round, with the evaluation that its verdict rests on.

    What a trail calls a round's time is that of the pages: as its own session measured it.
    explained: what was read of its candidate. rival: the same of the incumbent before it.
    """

    candidate: Candidate | None
    evaluation: Evaluation | None
    report: Report | None
    repairs: tuple[Repair, ...]
    explained: Explained
    rival: Explained

    @property
    def stored(self) -> dict[str, Any]:
        """The report as it is kept."""
        return dict(self.evaluation.report) if self.evaluation else {}

    @property
    def rests_on(self) -> Profiled | None:
        """The profile that its hypothesis could rest on: of the incumbent; of v0 its own (R27)."""
        return (self.rival if self.hypothesis else self.explained).profiled

    @property
    def isa_targets(self) -> tuple[IsaTarget, ...]:
        """What its machine code should be like, and is (R31); empty where it was not read."""
        return targets_in(self.explained.code, self.round.campaign)

    @property
    def commit(self) -> Commit | None:
        return getattr(self.round, "commit", None)

    @property
    def closed(self) -> str:
        """When it was closed, in UTC; "" where that is not known."""
        return f"{self.round.closed_at:%Y-%m-%d %H:%M}" if self.round.closed_at else ""

    @property
    def version(self) -> str:
        """The name under which systems that count from the baseline know it."""
        return f"v{self.number - 1}"

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

    def kept_before(self, one: ExportedRound) -> ExportedRound | None:
        """The last accepted round before it."""
        return next((each for each in self.kept[::-1] if each.number < one.number), None)


def trail_of(campaign: Campaign) -> ExportedCampaign:
    """Read a campaign whole. The same records make the same trail, whenever it is asked for."""
    events = tuple(Event.objects.filter(campaign=campaign).order_by("pk"))
    at = max((event.at for event in events), default=campaign.created_at)
    sheet = campaign_sheet(campaign, at)
    closed = [row for row in sheet.rows if row.is_closed]
    verdicts = Verdict.objects.filter(round__in=[row.round.pk for row in closed])
    loaded = verdicts.select_related("evaluation__candidate", "evaluation__worker")
    judged = {verdict.round_id: verdict.evaluation for verdict in loaded}
    repairs: dict[int, list[Repair]] = defaultdict(list)
    rows = Repair.objects.filter(round__campaign=campaign).order_by("round", "number")
    for repair in rows.select_related("candidate", "failed__candidate"):
        repairs[repair.round_id].append(repair)
    tried = {row.round.pk: _candidate(row.round, judged.get(row.round.pk)) for row in closed}
    keys = [one.pk for one in tried.values() if one]
    keys += [row.round.against_id for row in closed if row.round.against_id]
    read, nothing = explained(campaign, keys), Explained()
    rounds = []
    for row in closed:
        evaluation, candidate = judged.get(row.round.pk), tried[row.round.pk]
        rounds.append(
            ExportedRound(
                **{field.name: getattr(row, field.name) for field in fields(RoundRow)},
                candidate=candidate,
                evaluation=evaluation,
                report=report_of(evaluation) if evaluation else None,
                repairs=tuple(repairs[row.round.pk]),
                explained=read.get(candidate.pk, nothing) if candidate else nothing,
                rival=read.get(row.round.against_id or 0, nothing),
            )
        )
    return ExportedCampaign(campaign, sheet, tuple(rounds), events, at)


def _candidate(round_: Round, evaluation: Evaluation | None) -> Candidate | None:
    return round_.chosen or (evaluation.candidate if evaluation else None)
