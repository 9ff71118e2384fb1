"""A campaign's closed rounds with all that each of them was judged by: what every format says.

What nobody counted is "not profiled": a roofline knows no bottleneck (R25). Tips are what a few
rounds showed, from records alone (R41): a lesson is written by a person, and these are its raw
material. Rounds that failed for the host's sake tell nothing of a kernel and are no tips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import prefetch_related_objects

from campaigns.evaluator.contract import CaseReport, Report
from campaigns.models import Campaign, Candidate, Commit, Evaluation, Event, Round, Verdict
from campaigns.profiles.isa import IsaTarget
from campaigns.profiles.reading import Profiled
from campaigns.records.evaluations import report_of
from campaigns.records.explained.profiles import Explained, explained, targets_in
from campaigns.reports.course import KINDS
from campaigns.reports.rows import RoundRow
from campaigns.reports.sheet import CampaignSheet, campaign_sheet
from campaigns.rules.search_log import SearchSource
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.wording import change, duration, share

NOT_PROFILED = "not profiled"
# What atrex calls a source; others keep their word.
SOURCES: Mapping[str, str] = {
    SearchSource.WIKI: "gpu-wiki",
    SearchSource.REFERENCE: "ref-project",
    SearchSource.WEB: "public-web",
}
MOST_TIPS = 5
TELLING = (Word.ACCEPTED, Word.REJECTED, Word.NO_CHANGE)


def limit_words(found: Profiled | None, note: str = "") -> str:
    """The class by counters (R25) with its numbers and whose it is. note: why there is none."""
    if found is None:
        return f"{NOT_PROFILED}: {note}" if note else NOT_PROFILED
    whose = f"{found.main.kernel:.200} on {found.case}, by {found.tool}"
    return f"{found.limit.words}: {found.limit.why} ({whose})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRound(RoundRow):
    """One closed round, with the evaluation that its verdict rests on.

    What a trail calls a round's time is that of the pages: as its own session measured it.
    explained: what was read of its candidate. rival: the same of the incumbent before it. back_to:
    the last accepted round before it.
    """

    candidate: Candidate | None
    evaluation: Evaluation | None
    report: Report | None
    explained: Explained
    rival: Explained
    back_to: ExportedRound | None

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
    def searched(self) -> list[dict[str, str]]:
        """search_log of atrex (R35)."""
        return [
            {
                "source": SOURCES.get(step.source, step.source.value),
                "query": step.query,
                "finding": step.found,
                "actionability": "",
            }
            for step in (self.hypothesis.searched if self.hypothesis else ())
        ]

    @property
    def commit(self) -> Commit | None:
        return getattr(self.round, "commit", None)

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

    @property
    def name(self) -> str:
        return f"round {self.number}: {self.title}"

    @property
    def beside(self) -> str:
        """The name of what it was measured beside."""
        return f"round {self.against}"

    @property
    def status(self) -> str:
        """Status in the words of the trend table of kernel-optimize."""
        return "BASELINE" if self.is_baseline else "ACCEPTED" if self.is_kept else "ROLLBACK"

    @property
    def cases(self) -> tuple[CaseReport, ...]:
        """What its report says of each case."""
        return tuple(self.report.cases) if self.report else ()

    @property
    def correct(self) -> set[str]:
        """The cases on which it was."""
        return {case.case for case in self.cases if case.correct}

    @property
    def launched(self) -> list[CaseReport]:
        """The cases of which a tracer of the driver told something."""
        known = [case for case in self.cases if case.candidate]
        return [
            case
            for case in known
            if case.candidate and (case.candidate.launch or case.candidate.device_us is not None)
        ]

    @property
    def device_times(self) -> str:
        known = [case.candidate.device_us for case in self.cases if case.candidate]
        return ", ".join(duration(device_us) for device_us in known if device_us)


@dataclass(frozen=True, slots=True)
class ExportedCampaign:
    """All that is told of a campaign. stalls: what was done about rounds without a gain."""

    campaign: Campaign
    sheet: CampaignSheet
    rounds: tuple[ExportedRound, ...]
    stalls: tuple[Event, ...]

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
    def lost(self) -> tuple[ExportedRound, ...]:
        return tuple(one for one in self.rounds if not one.is_kept)

    @property
    def tips(self) -> list[ExportedRound]:
        """The rounds to tell of, at most five: the largest measured changes, in their order."""
        telling = [one for one in self.rounds if one.hypothesis and one.word in TELLING]
        sizes = {one.number: abs(one.gain.gain) for one in telling if one.gain}
        clearest = sorted(sizes, key=lambda number: -sizes[number])[:MOST_TIPS]
        return [one for one in telling if one.number in clearest]

    @property
    def ending(self) -> str:
        return self.campaign.stop_sentence or f"not ended: {self.sheet.phase}"

    @property
    def strategies(self) -> list[str]:
        """Each once, in the order in which they were tried."""
        ideas = [one.hypothesis for one in self.rounds]
        return list(dict.fromkeys(idea.strategy for idea in ideas if idea))

    @property
    def left(self) -> str:
        """How far the best is from its floor."""
        reached = self.sheet.share
        if not reached:
            return "N/A — the floor is UNKNOWN"
        if reached >= 1:
            return "nothing: it is at the ceilings that are known"
        limit = self.sheet.target.roof_words
        return f"{change(1 / reached - 1)} of speed ({share(reached)} of {limit})"


def trail_of(campaign: Campaign) -> ExportedCampaign:
    """Read a campaign whole. The same records make the same trail, whenever it is asked for."""
    events = tuple(Event.objects.filter(campaign=campaign).order_by("pk"))
    at = max((event.at for event in events), default=campaign.created_at)
    sheet = campaign_sheet(campaign, at)
    closed = [row for row in sheet.rows if row.is_closed]
    own = [row.round for row in closed]
    verdicts = Verdict.objects.filter(round__in=own)
    loaded = verdicts.select_related("evaluation__candidate")
    judged = {verdict.round_id: verdict.evaluation for verdict in loaded}
    prefetch_related_objects(own, "repairs__candidate", "repairs__failed__candidate")
    tried = {row.round.pk: _candidate(row.round, judged.get(row.round.pk)) for row in closed}
    keys = [one.pk for one in tried.values() if one]
    keys += [row.round.against_id for row in closed if row.round.against_id]
    read, nothing = explained(campaign, keys), Explained()
    rounds: list[ExportedRound] = []
    for row in closed:
        evaluation, candidate = judged.get(row.round.pk), tried[row.round.pk]
        rounds.append(
            ExportedRound(
                **{field.name: getattr(row, field.name) for field in fields(RoundRow)},
                candidate=candidate,
                evaluation=evaluation,
                report=report_of(evaluation) if evaluation else None,
                explained=read.get(candidate.pk, nothing) if candidate else nothing,
                rival=read.get(row.round.against_id or 0, nothing),
                back_to=next((each for each in rounds[::-1] if each.is_kept), None),
            )
        )
    stalls = tuple(event for event in events if event.kind in KINDS)
    return ExportedCampaign(campaign, sheet, tuple(rounds), stalls)


def _candidate(round_: Round, evaluation: Evaluation | None) -> Candidate | None:
    return round_.chosen or (evaluation.candidate if evaluation else None)
